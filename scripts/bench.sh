#!/usr/bin/env bash
# Runs every benchmark and keeps its rows as JSON under benchmarks/results/ (not committed).
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p benchmarks/results
for script in benchmarks/bench_*.py; do
    name="$(basename "$script" .py)"
    echo "== $name"
    .venv/bin/python "$script" --json | tee "benchmarks/results/$name.json"
done
