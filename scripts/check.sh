#!/usr/bin/env bash
# Static checks: style, types, what is declared, the layers of the house.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
$bin/ruff check --cache-dir .venv/ruff-cache .
$bin/ruff format --check --cache-dir .venv/ruff-cache .
$bin/mypy
$bin/deptry src
$bin/lint-imports --cache-dir .venv/import-linter-cache
