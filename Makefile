# On a machine with Python 3.11 or newer and pip, every target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-long lint bench clean

demo: $(VENV)/installed  ## answer a question plainly and with drafts; colour or brackets show what was drafted
	$(BIN)/dflash-mlx demo

PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal

test: $(VENV)/ready
	$(PYTEST) -m "not long"

test-long: $(VENV)/ready  ## what takes its time: many answers, many draws, every combination
	$(PYTEST) -m long

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy dflash_mlx cli convert bench

bench: $(VENV)/ready  ## how near the engine comes to what the machine allows: some minutes, 1.3 GB in build/bench
	$(BIN)/python -m dflash_mlx.bench.loop.efficiency --folder build/bench

clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/ready: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

# Where Python comes without ensurepip (Debian), the machine's pip fills the environment.
$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$$($(PYTHON) --version 2>&1) is too old or missing: try  make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install pip; }
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@
