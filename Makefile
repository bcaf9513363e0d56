# The one entry a person needs. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON    ?= $(shell command -v python3.11 || command -v python3)
VENV      := .venv
BIN       := $(VENV)/bin
READY     := $(VENV)/ready
PACKAGES  := jobs replay schemas expectations sources cluster
CHECKED   := $(PACKAGES) pages tests $(wildcard bench)
VERSION   := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' jobs/__init__.py)
DIST      ?= dist
ZIP       := $(DIST)/tidegauge-$(VERSION).zip

CAPTURE   ?= examples/captures/failover
WAREHOUSE ?= build/warehouse
SIZE      ?= medium
HOT_SHARE ?= 0
MB        ?= 200
SCENARIO_FILE ?= bench/scenario.yaml
SCENARIO  ?= unclean_election
LONG      ?= tests
MINUTES   ?=
OUT       ?= build/live/$(SCENARIO)

export GX_ANALYTICS_ENABLED := false

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY) ## make .venv with everything in it (once; the other targets do it themselves)

$(READY): requirements-dev.txt pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one: make PYTHON=…"; exit 3; }
	@command -v java >/dev/null || [ -n "$${JAVA_HOME:-}" ] || { echo "Java 17 is needed for Spark"; exit 3; }
	@echo "setup 1/3: virtual environment in $(VENV)"
	@"$(PYTHON)" -m venv $(VENV)
	@echo "setup 2/3: packages of requirements-dev.txt (1.9 GB on disk; a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@echo "setup 3/3: tidegauge itself, as $(BIN)/tidegauge"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: demo
demo: $(READY) ## replay the bundled failover and print what was found
	@rm -rf build/demo
	@$(BIN)/tidegauge pipeline examples/captures/failover --warehouse build/demo || [ $$? -le 2 ]
	@$(BIN)/tidegauge sql --warehouse build/demo -e "SELECT kind, severity, topic, partition, replica_id, from_offset, to_offset, evidence FROM incidents WHERE severity <> 'info' ORDER BY started_at, topic, partition"

.PHONY: test
test: lint $(READY) ## lint, types, tests
	@echo "mypy"
	@$(BIN)/mypy
	@echo "pytest"
	@$(BIN)/pytest

.PHONY: test-long
test-long: $(READY) ## the tests that take minutes, two hours in all: LONG="tests/test_bench.py …" for some, MINUTES=30 for what fits
	@$(BIN)/pytest -m long $(if $(MINUTES),--minutes $(MINUTES)) $(LONG)

.PHONY: lint
lint: $(READY) ## style and format, changing nothing
	@echo "ruff"
	@$(BIN)/ruff check $(CHECKED)
	@$(BIN)/ruff format --check $(CHECKED)

.PHONY: format
format: $(READY) ## put the code in shape
	@$(BIN)/ruff check --fix-only --quiet $(CHECKED)
	@$(BIN)/ruff format $(CHECKED)

.PHONY: docs
docs: $(READY) ## the pages of docs/ that are made of the code: tables, views, rules, protocol, scenarios
	@$(BIN)/python -m pages

.PHONY: pipeline
pipeline: $(READY) ## a capture into a warehouse: CAPTURE=… WAREHOUSE=…
	@$(BIN)/tidegauge pipeline "$(CAPTURE)" --warehouse "$(WAREHOUSE)"

.PHONY: capture
capture: $(READY) ## a real Kafka on loopback, broken in a named way: SCENARIO=… OUT=…
	@$(BIN)/tidegauge capture "$(SCENARIO)" --out "$(OUT)"

.PHONY: bench-going-on
bench-going-on: $(READY) ## what a replay of the last 1 % of the time costs beside one of everything: SIZE=small|medium|large
	@$(BIN)/python -m bench.going_on --size "$(SIZE)" --work build/bench/going-on

.PHONY: bench
bench: $(READY) ## what a replay costs beside what Spark itself does: SIZE=small|medium|large HOT_SHARE=0.9
	@$(BIN)/python -m bench.run --size "$(SIZE)" --hot-share "$(HOT_SHARE)" --scenario "$(SCENARIO_FILE)" --work build/bench

.PHONY: bench-ingest
bench-ingest: $(READY) ## what the ingest of a request log costs beside spark.read.json: MB=200
	@$(BIN)/python -m bench.ingest_cost --megabytes "$(MB)" --work build/bench

.PHONY: sql
sql: $(READY) ## a SQL prompt over a warehouse: WAREHOUSE=…
	@$(BIN)/tidegauge sql --warehouse "$(WAREHOUSE)"

.PHONY: zip
zip: ## the archive for spark-submit --py-files, in DIST=dist
	@mkdir -p $(DIST) && rm -f $(ZIP)
	@find $(PACKAGES) -name __pycache__ -prune -exec rm -rf {} +
	@"$(PYTHON)" -m zipfile -c $(ZIP) $(PACKAGES)
	@echo $(ZIP)

.PHONY: lock
lock: ## freeze requirements*.in into requirements*.txt
	@for name in requirements requirements-dev; do \
		echo "lock: $$name.txt"; \
		"$(PYTHON)" -m venv --clear build/lock; \
		build/lock/bin/pip install --quiet --disable-pip-version-check -r $$name.in; \
		{ echo "# Frozen by 'make lock' from $$name.in: edit that file, not this one."; \
		  build/lock/bin/pip freeze $$([ $$name = requirements ] || echo --all) | grep -v '^pip=='; } > $$name.txt; \
	done; rm -rf build/lock

.PHONY: clean
clean: ## remove what the targets made, but not .venv
	@rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find $(PACKAGES) tests -name __pycache__ -prune -exec rm -rf {} +
