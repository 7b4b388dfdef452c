#!/usr/bin/env bash
# Builds the peers' own environments beside ours (never dependencies of mahrem) and runs the comparisons with them.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=.venv/peers
build() {
    local name="$1"
    shift
    [ -x "$peers/$name/bin/python" ] || "${PYTHON:-python3}" -m venv "$peers/$name"
    "$peers/$name/bin/python" -m pip install --quiet "$@"
}
build sklearn scikit-learn==1.9.1
build anonypy anonypy==0.2.1 pandas==2.3.3
build pycanon pycanon==1.3.6
# pyARC names a package that is no more; without its list of needs it works (pyfim is built with a C compiler).
build pyarc numpy==2.4.6 pandas==2.3.3 scikit-learn==1.9.1 pyfim==6.28
build pyarc --no-deps pyarc==1.1.4
export MAHREM_PEER_PYARC="$PWD/$peers/pyarc/bin/python"
export MAHREM_PEER_SKLEARN="$PWD/$peers/sklearn/bin/python" MAHREM_PEER_ANONYPY="$PWD/$peers/anonypy/bin/python"
export MAHREM_PEER_PYCANON="$PWD/$peers/pycanon/bin/python"
mkdir -p benchmarks/results
.venv/bin/python benchmarks/bench_methods.py --json | tee benchmarks/results/bench_peers.json
.venv/bin/python benchmarks/bench_audit.py --json --large 0 | tee benchmarks/results/bench_peers_audit.json
.venv/bin/python benchmarks/bench_cba.py --json | tee benchmarks/results/bench_cba.json
