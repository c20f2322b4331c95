# Every target works in a fresh clone: it makes .venv itself and needs only Python >= 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH := torch==2.13.0

# Each worker takes one stretch of the files, and what a module shares is made once; who ends first steals from the other.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: venv demo test test-all test-slow test-sample lint docs bench oracles lock clean

venv: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q --require-hashes -r requirements.lock
	$(PIP) install -q --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed
	$(PIP) install -q --require-hashes -r requirements-dev.lock
	touch $@

# torch has a step of its own: any looser request pulls gigabytes of CUDA packages.
$(VENV)/.installed-torch: $(VENV)/.installed-dev
	$(PIP) install -q $(TORCH)
	touch $@

.venv-peers/.installed: benchmarks/requirements-peers.txt benchmarks/requirements-peers-torch.txt
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install -q --disable-pip-version-check -r benchmarks/requirements-peers.txt
	.venv-peers/bin/python -m pip install -q --disable-pip-version-check -r benchmarks/requirements-peers-torch.txt
	.venv-peers/bin/python -m pip install -q --disable-pip-version-check -e .
	touch $@

demo: $(VENV)/.installed
	$(BIN)/unseen assess breast-cancer --model rbf-svm --n 80 --seed 0 --report demo-report.html

test: $(VENV)/.installed-torch
	$(PYTEST)

test-all: $(VENV)/.installed-torch
	$(PYTEST) -m ''

test-slow: $(VENV)/.installed-torch
	$(PYTEST) -m slow

test-sample: $(VENV)/.installed-torch
	$(PYTEST) -m sample

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-torch
	$(BIN)/python docs/make_images.py --check
	$(BIN)/python docs/make_pairs.py
	$(BIN)/python docs/run_examples.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: .venv-peers/.installed
	.venv-peers/bin/python -m benchmarks

oracles: .venv-peers/.installed
	.venv-peers/bin/python tests/reference/make_oracles.py

lock: $(VENV)/.installed-dev
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  -c requirements.lock pyproject.toml --group build --group dev -o requirements-dev.lock

clean:
	rm -rf $(VENV) .venv-peers docs/_build dist
