# Everything a newcomer needs: `make demo` and `make test`. Both set up what they use; a second run costs seconds.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

# Compiled kernels are cached inside .venv, so that parallel tests and later runs find them. Numba looks at one
# source file at a time, so the folder is named after all kernels together: no edit meets a stale one.
KERNELS := $(shell cat src/mahrem/arrays/*.py | cksum | cut -d ' ' -f 1)
export NUMBA_CACHE_DIR := $(CURDIR)/$(VENV)/numba-cache/$(KERNELS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help:  ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt scripts/set_up.sh
	PYTHON=$(PYTHON) bash scripts/set_up.sh

.PHONY: setup
setup: $(STAMP)  ## Make the virtual environment (done by the others when needed)

.PHONY: demo
demo: $(STAMP)  ## Anonymise fictional patients and write a release folder
	$(BIN)/mahrem demo -o demo-release --force

.PHONY: test
test: $(STAMP)  ## Run every check and every test
	bash scripts/test.sh

.PHONY: check
check: $(STAMP)  ## Only the static checks: ruff, mypy, import-linter
	bash scripts/check.sh

.PHONY: bench
bench: $(STAMP)  ## Run the benchmarks; rows go to benchmarks/results/
	bash scripts/bench.sh

.PHONY: bench-peers
bench-peers: $(STAMP)  ## The same against peers, each in an environment of its own
	bash scripts/bench_peers.sh

.PHONY: clean
clean:  ## Remove what was made
	rm -rf $(VENV) demo-release build dist
