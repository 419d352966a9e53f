# make app · make test · make check. Needs Python 3.11 or newer and make; everything else goes into .venv/.

PYTHON ?= python3
PORT ?= 8501
JOBS ?= 2

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input
RUN_PINS := requirements.txt constraints.txt
DEV_PINS := requirements-dev.txt $(RUN_PINS)

.PHONY: app install demo test test-fast check check-style check-types check-imports check-rules viewer check-viewer format screenshots benchmarks benchmark-viewer soak browser constraints clean help
.DEFAULT_GOAL := help

help:
	@echo "make app          the app on http://localhost:$(PORT), with a demo workspace where there is none yet"
	@echo "make install      .venv/ with what app and commands need"
	@echo "make test         every test, the browser's too"
	@echo "make test-fast    every test but the browser's"
	@echo "make check        ruff, mypy, import contracts, own lints"
	@echo "make viewer       the viewer's bundle from viewer/frontend/ (needs Node 20); make check-viewer compares it"
	@echo "make format       put the code into ruff's form"
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
	@touch $@ $(VENV)/app.stamp

# --------------------------------------------------------------------------------------------- the app
app: $(VENV)/app.stamp demo
	@echo "Overread is on http://localhost:$(PORT) (stop it with Ctrl+C)"
	@exec $(VENV)/bin/streamlit run app.py --server.port $(PORT)

install: $(VENV)/app.stamp

# The workspace is OVERREAD_HOME, by default workspace/ beside the code. One that is there is never touched.
demo: $(VENV)/app.stamp
	@$(PY) cli.py demo --if-missing

# --------------------------------------------------------------------------------------- tests and checks
# The browser tests come last and one at a time: they measure races, and a busy machine blurs them. Tests of the
# running app that open no browser come before, several at once.
# What needs nginx runs where it is installed; where it is not, the rest runs and the gap is said.
# What takes long is in `make soak`, with the same tests in their long form (marked soak).
NGINX := $(shell PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v nginx)

test: test-fast browser
	$(PY) -m pytest tests/e2e -m "not soak and not browser" --numprocesses $(JOBS) --dist loadfile
	$(PY) -m pytest tests/e2e -m "not soak and browser$(if $(NGINX),, and not nginx)"
	$(if $(NGINX),,@echo "nginx is not installed here: two processes were tested directly, not behind it.")

test-fast: $(VENV)/dev.stamp
	$(PY) -m pytest tests --ignore tests/e2e --numprocesses $(JOBS) --dist loadfile

# The system's Chromium where there is one, else Playwright's own.
browser: $(VENV)/dev.stamp
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || $(PY) -m playwright install chromium

# `make -k check` goes on after the first that finds something.
check: check-style check-types check-imports check-rules

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

# ------------------------------------------------------------------------- the viewer's browser part (Node 20)
# Its bundle is committed: this is only for those who change viewer/frontend/.
VIEWER := viewer/frontend

viewer: $(VIEWER)/node_modules/.package-lock.json
	cd $(VIEWER) && npm run --silent types && npm run --silent test && npm run --silent build

check-viewer: $(VIEWER)/node_modules/.package-lock.json
	cd $(VIEWER) && npm run --silent types && npm run --silent test && npm run --silent check

$(VIEWER)/node_modules/.package-lock.json: $(VIEWER)/package-lock.json
	cd $(VIEWER) && npm ci --silent

# -------------------------------------------------------------------------------------- figures and pictures
screenshots: $(VENV)/dev.stamp browser
	$(PY) docs/take_screenshots.py

benchmarks: $(VENV)/dev.stamp browser
	$(PY) -m benchmarks.import
	$(PY) -m benchmarks.sampling
	$(PY) -m benchmarks.next_question
	$(PY) -m benchmarks.render
	$(PY) -m benchmarks.measures
	$(PY) -m benchmarks.viewer

benchmark-viewer: $(VENV)/dev.stamp browser
	$(PY) -m benchmarks.viewer

# Hours, not minutes: what must hold with many at once, under kill -9, for every role. Short forms are tests.
soak: $(VENV)/dev.stamp browser
	$(PY) -m pytest tests -m soak
	$(PY) -m benchmarks.claims
	$(PY) -m benchmarks.soak_readers
	$(PY) -m benchmarks.soak_readers --postgres
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

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './workspace/*' -prune -exec rm -rf {} +
