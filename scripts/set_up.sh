#!/usr/bin/env bash
# Makes .venv with exactly the versions of constraints.txt. Run by make; safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
"$python" - <<'PY' || { echo "mahrem needs Python 3.11 or newer (set PYTHON=...)" >&2; exit 6; }
import sys
sys.exit(sys.version_info < (3, 11))
PY
bash scripts/system_packages.sh
[ -x .venv/bin/python ] || "$python" -m venv .venv
# Modules are compiled when they are first imported: most never are, and all of them take minutes.
install() { .venv/bin/python -m pip install --quiet --no-compile --constraint constraints.txt "$@"; }
# What kernels are built with comes first: they are built while the rest arrives. If that fails, make says why.
install numba numpy setuptools
.venv/bin/python native/build_kernels.py >/dev/null 2>&1 & kernels=$!
# dbt asks for other versions than the house does: the package for it is tried from an environment of its own.
{ "$python" -m venv .venv/dbt && .venv/dbt/bin/python -m pip install --quiet --no-compile --requirement dbt/requirements.txt; } & dbt=$!
install --requirement requirements-dev.txt
wait "$dbt" || echo "no environment for dbt (only its tests need it)" >&2
wait "$kernels" || true  # the next step would build them once more
.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
.venv/bin/python -m pip check --quiet
touch .venv/.ready
