#!/usr/bin/env bash
# Everything CI runs: static checks, all tests and doctests in parallel, then the wheel in clean environments.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
# Private run records of the tests stay out of the home directory.
MAHREM_STATE="$(mktemp -d)"
export MAHREM_STATE
trap 'rm -rf "$MAHREM_STATE"' EXIT
if [ -z "${MAHREM_DATA:-}" ] && [ -d ../shared/data ]; then export MAHREM_DATA="$PWD/../shared/data"; fi
# Test processes share the cores: threads of one that spin for each other while another works cost minutes.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
bash scripts/check.sh
$bin/python -m pytest -n "${TEST_PROCESSES:-2}" --dist worksteal "$@"
# With arguments only the tests they name are wanted.
[ "$#" -gt 0 ] || $bin/python scripts/wheels.py
