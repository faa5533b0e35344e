# make demo, make test: each is complete on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 1

.PHONY: env demo test lint thorough bench figures wheel-test mutants clean

env: .venv/installed

# pip, not a resolver of its own: the constraints pin torch to the build that CI uses.
.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,lint]"
	touch $@

test: env
	$(BIN)/python -m pytest -q -n 2

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

thorough: env
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -q -n 2

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist mutants demo out *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
