# On a machine with Python >= 3.11, pip and make, `make demo` and `make test` do all their set-up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo demo-all test campaigns campaigns-long laws lint spark bench bench-large versions load load-postgres package attacks docs widths decisions lock clean

# One story on one screen, and demo-output/demo.png.
demo: $(STAMP)
	@$(BIN)/python -m examples.demo

# And the rest: docs/demo.md.
demo-all: $(STAMP)
	@$(BIN)/python -m examples.demo --all

# What is compiled is kept, whatever the shell says: it takes a minute.
test: $(STAMP)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto

# What takes long and has a fast sister among the tests: more kills, questions, widths of a screen.
campaigns: $(STAMP)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto -m campaign

# Ten thousand kills, power cuts and corruptions, and the rest of docs/reliability.md.
campaigns-long: $(STAMP)
	$(BIN)/python -m benchmarks.campaigns --write

# The laws of every theorem, on thousands of examples each.
laws: $(STAMP)
	$(BIN)/python -m pytest -n auto --hypothesis-profile=laws tests/theory tests/mechanisms tests/statistics

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Spark is large and needs Java 17; tests of tables in Spark are skipped without it.
spark: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-spark.lock

# Writes docs/benchmarks.md, a section at a time, and docs/capacity.md from what was measured.
bench: $(STAMP)
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.capacity

# A hundred million rows: some 10 GB of the disk, and an hour.
bench-large: $(STAMP)
	$(BIN)/python -m benchmarks.run --large

# Pythons and versions of engines on one ledger, which must write the same bits.
versions: $(STAMP)
	$(BIN)/python -m benchmarks.versions

# A service under load, with workers killed: what it spent, what it told, and its audit.
load: $(STAMP)
	$(BIN)/python -m benchmarks.load

# Two services on one PostgreSQL ledger, killed in a loop for ten minutes.
load-postgres: $(STAMP)
	$(BIN)/python -m benchmarks.load_postgres

# Both distributions, and the wheel alone in a new environment of each Python found; WITH=--extras or --source for more.
package: $(STAMP)
	$(BIN)/python -m release.trial $(WITH)

# Everything of the laboratory: it fails if a promise is broken, and writes attack-report/.
attacks: $(STAMP)
	$(BIN)/holdfast attack --all --jobs -1

docs: $(STAMP)
	$(BIN)/python docs/generate.py
	$(BIN)/python -m benchmarks.pictures
	$(BIN)/holdfast demo --chart docs/reuse.svg > /dev/null
	$(BIN)/zensical build

# Half-widths of described answers beside those of one look: the table of docs/statistics.md.
widths: $(STAMP)
	$(BIN)/python -m benchmarks.widths

# Of what explorers want to know, how much is decided: the tables of docs/decisions.md.
decisions: $(STAMP)
	$(BIN)/python -m benchmarks.decisions --write

# The locks name versions and hashes, and no registry.
EXTRAS := charts cluster data docs duckdb evals lab mcp mlflow optuna plots postgres serve sign sklearn dev
COMPILE := $(VENV)-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
  --no-annotate --no-header
lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet uv
	$(COMPILE) $(foreach extra,$(EXTRAS),--extra $(extra)) --output-file requirements.lock pyproject.toml
	$(COMPILE) --extra spark --constraint requirements.lock --output-file requirements-spark.lock pyproject.toml

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Holdfast needs Python 3.11 or later; this is %d.%d. Try: make PYTHON=python3.12 ..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

clean:
	rm -rf $(VENV) $(VENV)-* .mypy_cache .ruff_cache .hypothesis demo-output attack-report site dist .cache
