# `make demo` and `make test` do all their own set-up; everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
DEV := $(VENV)/.installed-dev
USER := $(VENV)/.installed

.PHONY: demo test lint types docs bench clean

demo: $(USER)
	$(BIN)/proponent demo --out demo

test: $(DEV)
	# One thread a process: two of them share two cores.
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

bench: $(DEV)
	# Those about a GPU need one; run them by hand.
	for script in benchmarks/*_cpu.py; do $(BIN)/python $$script || exit 1; done

docs: $(DEV)
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"

# constraints.txt keeps every other package from replacing torch.
$(USER): $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e ".[figures,review]"
	touch $@

$(DEV): $(USER)
	$(PIP) install --quiet -c constraints.txt -e ".[figures,polars,review]" --group test --group lint --group docs
	touch $@
