# Everything runs in .venv of the checkout. Needs python3 (3.11 to 3.13, venv module), make and git.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-browser check lock clean

demo: $(STAMP)
	@$(BIN)/python -P examples/demo.py

test: $(STAMP) check
	$(BIN)/python -P -m pytest -q --numprocesses=2 --dist=worksteal

test-browser: $(STAMP)
	@echo "This release has no pages yet: nothing to test in a browser."

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(STAMP): requirements-dev.lock pyproject.toml
	@$(PYTHON) -I tools/platform_check.py
	@echo "Installing into $(VENV): a few minutes the first time."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Needs uv. Both files are universal (3.11 to 3.13, Linux and macOS), hashed, and name no index.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet --upgrade \
	  pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet \
	  pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf $(VENV) .demo build dist
