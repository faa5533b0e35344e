# make demo and make test: each is complete on a fresh machine with Python 3.11+ and make, and quick when nothing changed.
PYTHON ?= python3
BIN := .venv/bin
# On two cores one thread per process is faster than two that wait for each other; set it to the cores you have to spare.
export OMP_NUM_THREADS ?= 1

.PHONY: env demo test lint thorough bench bench-tensorflow figures fuzz wheel-test browser-test proofs mutants docs docs-test readme release clean

env: .venv/installed

# pip, so that the constraints pin torch to the build that CI uses.
.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,lint]"
	touch $@

# On data that ships with scikit-learn: AdaNet with a tenth of the points held out, a linear network trained for its
# certificate, then AdaNet by picking, and what can be said of its risk.
demo: env
	mkdir -p demo
	$(BIN)/adanet-train digits:3-8 --holdout 0.1 -o demo/split.pt
	$(BIN)/adanet-train digits:3-8 --objective vote --rounds 1 -o demo/linear.pt
	$(BIN)/adanet-train digits:3-8 --objective certificate --start 0.25 --picks 24 -o demo/model.pt
	$(BIN)/verify-bounds demo/model.pt --no-estimates
	@$(BIN)/verify-bounds demo/split.pt demo/linear.pt demo/model.pt --no-estimates --no-replay

test: env
	$(BIN)/python -m pytest -q -n 2

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The property suite with many more examples and fresh randomness, about forty minutes; prints how tight each bound came.
thorough: env
	HYPOTHESIS_PROFILE=thorough TIGHTNESS=paper_notes/results/tightness.json $(BIN)/python -m pytest -q -n 2 verify

# Side-by-side timings, recorded in paper_notes/results/benchmarks.json.
bench: env
	$(BIN)/python -m tests.benchmarks

# Against the TensorFlow package, which needs older versions of everything: in its own environment, jax left out.
bench-tensorflow: env .venv-tensorflow/installed
	TENSORFLOW_PYTHON=.venv-tensorflow/bin/python $(BIN)/python -m tests.benchmarks tensorflow

.venv-tensorflow/installed:
	test -x .venv-tensorflow/bin/python || $(PYTHON) -m venv .venv-tensorflow
	.venv-tensorflow/bin/python -m pip install --quiet --no-deps \
		tensorflow-cpu==2.12.0 keras==2.12.0 tensorflow-estimator==2.12.0 adanet==0.9.0 gast==0.4.0
	.venv-tensorflow/bin/python -m pip install --quiet absl-py astunparse flatbuffers google-pasta grpcio h5py libclang \
		numpy==1.23.5 opt-einsum packaging "protobuf<4.24" setuptools six tensorboard==2.12.3 termcolor typing-extensions \
		"wrapt<1.15"
	touch $@

# Every figure into out/figures, from the theory and from a quick training run.
figures: env
	mkdir -p demo
	$(BIN)/adanet-train digits:3-8 -o demo/adanet.pt
	$(BIN)/python -m figures --model demo/adanet.pt --format pdf,png

# The documentation site in out/docs, with the tutorials run and every figure drawn; no warning is let pass.
docs: .venv/docs-installed
	$(BIN)/python -m figures.documents --out out/site
	@echo "building the pages: a minute or two"
	IPYTHONDIR=$(CURDIR)/out/site/_ipython $(BIN)/python -m sphinx -W --keep-going -q -b html -d out/docs-cache out/site out/docs
	@echo "open out/docs/index.html"

.venv/docs-installed: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

# The findings of README.md, paper_notes/claims.md and the tables of paper_notes/site/results, from the ledger and the results.
RESULTS := paper_notes/results
PAGES := paper_notes/site/results
readme: env
	$(BIN)/verify-claims --quick --markdown paper_notes/claims.md --readme README.md
	$(BIN)/python -m verify.experiments.tables $(RESULTS)/certificates.json --into $(PAGES)/certificates.md
	$(BIN)/python -m verify.experiments.tables $(RESULTS)/picking.json --into $(PAGES)/certificates.md
	$(BIN)/python -m verify.experiments.tables $(RESULTS)/picking.json --into README.md
	$(BIN)/python -m verify.experiments.tables $(RESULTS)/classes.json --into $(PAGES)/classes.md
	$(BIN)/python -m verify.experiments.tables $(RESULTS)/tables.json --into $(PAGES)/learner.md

# Every command and code block that README.md and the site show, run as a reader would, some minutes.
docs-test: env
	$(BIN)/python -m tests.shown

# sdist and wheel in dist, checked, and the wheel alone in a clean environment, its commands run from another folder.
release: env
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[release]"
	rm -rf build dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/wheel.py dist

# 10,000 mutations of the bytes of a good model file: never a traceback.
fuzz: env
	$(BIN)/python -m tests.fuzz_model_file

# Builds the wheel, installs it in a clean environment and runs the commands from another folder.
wheel-test: env
	$(BIN)/python tests/wheel.py

# The explorer in a real browser; installs Debian's chromium where there is none.
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
browser-test: env
	command -v chromium || command -v chromium-browser || command -v google-chrome || \
		{ $(SUDO) apt-get update -qq && $(SUDO) apt-get install --quiet --yes chromium; }
	BROWSER_TEST=1 $(BIN)/python -m pytest -q tests/test_explorer_browser.py

# The machine-checked proofs, about three minutes; installs Debian's Coq and MathComp where there is none.
proofs:
	command -v coqc || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install --quiet --yes coq libcoq-mathcomp-ssreflect \
		libcoq-mathcomp-algebra libcoq-mathcomp-analysis libcoq-mathcomp-algebra-tactics libcoq-mathcomp-zify; }
	$(PYTHON) paper_notes/proofs/build.py

# Mutation testing of the numeric modules; mutmut wants an older pytest, so it has an environment of its own.
mutants: .venv-mutants/installed
	HYPOTHESIS_PROFILE=mutants .venv-mutants/bin/mutmut run --max-children 2
	.venv-mutants/bin/python tests/mutants.py

.venv-mutants/installed: pyproject.toml constraints.txt
	test -x .venv-mutants/bin/python || $(PYTHON) -m venv .venv-mutants
	grep -v '^pytest' constraints.txt > .venv-mutants/constraints.txt
	.venv-mutants/bin/python -m pip install --quiet --constraint .venv-mutants/constraints.txt \
		numpy scipy sympy python-flint hypothesis mpmath "pytest<9" "mutmut==3.8.0"
	touch $@

clean:
	rm -rf .venv .venv-mutants .venv-tensorflow .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist mutants demo out *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
