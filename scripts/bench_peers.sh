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
export MAHREM_PEER_SKLEARN="$PWD/$peers/sklearn/bin/python" MAHREM_PEER_ANONYPY="$PWD/$peers/anonypy/bin/python"
mkdir -p benchmarks/results
.venv/bin/python benchmarks/bench_methods.py --json | tee benchmarks/results/bench_peers.json
