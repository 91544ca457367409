# Millpond: everything a person or a machine runs here. On a fresh machine Python 3.11 or newer and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
SOURCES := pyproject.toml constraints.txt
# Tests wait more than they work: three processes for two cores; what one file's tests share is made once.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min(8, 3 * (os.cpu_count() or 1) // 2))')
PARALLEL := -n $(WORKERS) --dist loadfile
# Long tests of faults run many processes each: one of them for each core.
PARALLEL_LONG := -n auto --maxprocesses 4 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup run test test-servers test-clocks test-qmd check bench chaos format clean

help:  ## What can be made here
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Millpond needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.12 ..." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(SOURCES) | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(SOURCES) | $(BIN)/python
	$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/.run

$(VENV)/.servers: $(SOURCES) | $(BIN)/python
	$(PIP) --editable '.[servers]'
	@touch $@ $(VENV)/.run $(VENV)/.test

$(VENV)/.check: $(SOURCES) | $(BIN)/python
	$(PIP) --editable '.[check]'
	@touch $@ $(VENV)/.run $(VENV)/.test

setup: $(VENV)/.run  ## Make a virtual environment with all that a bot needs

run: $(VENV)/.run  ## Start everything: embedded server, all roles, the API, a chat on a terminal
	@exec $(BIN)/millpond run

test: $(VENV)/.test  ## Every test that needs no more than Python
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow and not servers and not faketime and not qmd'

test-servers: $(VENV)/.servers  ## What other servers may do otherwise: Redis 6.2, and a cluster of three nodes
	$(BIN)/python -m pytest -m servers tests/integration
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow' --server=redis62 tests/integration
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow' --server=cluster tests/integration

test-clocks: $(VENV)/.test  ## Clocks that step by an hour while messages flow; needs libfaketime (Debian: apt-get install faketime)
	$(BIN)/python -m pytest -m faketime tests/faults

test-qmd: $(VENV)/.test  ## Search by the real QMD; needs Node.js 22 or newer and `npm install -g @tobilu/qmd`
	$(BIN)/python -m pytest -m qmd tests/integration

check: $(VENV)/.check  ## Format, lint, types, imports, module lengths, unit tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/loq check .
	$(BIN)/python -m pytest -q tests/unit

format: $(VENV)/.check  ## Put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test  ## Measure against the floor: a table, and JSON in benchmarks/results
	$(BIN)/python -m benchmarks

chaos: $(VENV)/.test  ## Kill real processes while messages flow, then count the answers; LONG=1: a release's numbers
ifdef LONG
	$(BIN)/python -m tests.chaos --long
	$(BIN)/python -m tests.canary
else
	$(BIN)/python -m pytest $(PARALLEL_LONG) -m 'slow and not alone' tests/faults
	$(BIN)/python -m pytest -m 'slow and alone' tests/faults
endif

clean:  ## Remove the virtual environment and what tools left behind
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
