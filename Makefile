# Everything a newcomer needs: `make demo` and `make test`. Both set up what they use; a second run costs seconds.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help:  ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt dbt/requirements.txt scripts/set_up.sh
	PYTHON=$(PYTHON) bash scripts/set_up.sh

.PHONY: setup
setup: $(STAMP)  ## Make the virtual environment (done by the others when needed)

.PHONY: kernels
kernels: $(STAMP)  ## Build the kernels again if their sources changed
	$(BIN)/python native/build_kernels.py

.PHONY: demo
demo: kernels  ## Anonymise fictional patients and write a release folder
	$(BIN)/mahrem demo -o demo-release --force

.PHONY: test
test: kernels  ## Run every check and every test
	bash scripts/test.sh

.PHONY: check
check: $(STAMP)  ## Only the static checks: ruff, mypy, import-linter
	bash scripts/check.sh

.PHONY: docs
docs: $(STAMP)  ## Build the site into build/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "$$(find build/site -name '*.html' | wc -l) pages in build/site; begin with build/site/index.html"

.PHONY: bench
bench: kernels  ## Run the benchmarks; rows go to benchmarks/results/
	bash scripts/bench.sh

.PHONY: bench-peers
bench-peers: kernels  ## The same against peers, each in an environment of its own
	bash scripts/bench_peers.sh

.PHONY: clean
clean:  ## Remove what was made
	rm -rf $(VENV) demo-release build dist src/mahrem/arrays/_built*
