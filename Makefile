# Two commands for everybody: `make demo` and `make test`. Each sets up its own .venv first.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
WORKERS ?= auto

.PHONY: demo test lint docs attack bench bench-quick paper paper-quick clean
.DEFAULT_GOAL := demo

# A stamp a set of extras: reinstalled when the project's declared dependencies or the pins change.
$(VENV)/stamp-%: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$*]"
	@touch $@

demo: $(VENV)/stamp-plot
	$(BIN)/python -m pldc demo

test: $(VENV)/stamp-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/stamp-docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# Machines that look for failures: 15 to 40 minutes on two cores, and it goes on where it was stopped. PARTS="fuzz faults" runs some.
attack: $(VENV)/stamp-attack
	$(BIN)/python -m attack $(PARTS)

# AUTHORS=PATH to a checkout of the paper's authors' code times it in the same run (it needs torch).
bench: $(VENV)/stamp-bench
	$(BIN)/python -m benchmarks.exact_against_clarabel
	$(BIN)/python -m benchmarks.hard_cases
	$(BIN)/python -m benchmarks.engines $(if $(AUTHORS),--authors $(AUTHORS))
	$(BIN)/python -m benchmarks.line
	$(BIN)/python -m benchmarks.throughput
	$(if $(PLDC_DATA),$(BIN)/python -m benchmarks.tuned_fit $(if $(AUTHORS),--authors $(AUTHORS)))
	$(if $(PLDC_DATA),$(BIN)/python -m benchmarks.whole_tables)
	$(if $(PLDC_DATA),$(BIN)/python -m benchmarks.compact)
	$(if $(PLDC_DATA),$(BIN)/python -m benchmarks.columns)
	$(if $(PLDC_DATA),$(BIN)/python -m benchmarks.exports)
	$(if $(PLDC_DATA),OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes)
	$(BIN)/python -m benchmarks.million
	$(BIN)/python -m benchmarks.beyond_memory --dask
	$(BIN)/python -m benchmarks.classes_time
	$(BIN)/python -m benchmarks.milp $(if $(PLDC_DATA),--refit)
	$(BIN)/python -m benchmarks.report

# A short form, in a copy: it shows that the benchmarks run, and leaves the committed results alone.
bench-quick: $(VENV)/stamp-bench
	rm -rf .bench-quick && mkdir .bench-quick && cp -r benchmarks experiments .bench-quick/
	cd .bench-quick && ../$(BIN)/python -m benchmarks.engines --quick
	cd .bench-quick && ../$(BIN)/python -m benchmarks.throughput
	cd .bench-quick && ../$(BIN)/python -m benchmarks.million --sizes 3000 --repeats 1
	cd .bench-quick && ../$(BIN)/python -m benchmarks.beyond_memory --rows 30000 --no-flights --again
	cd .bench-quick && ../$(BIN)/python -m benchmarks.classes_time --sizes 300x2
	cd .bench-quick && ../$(BIN)/python -m benchmarks.interrupt --sizes 2000 --moments 1
	rm -rf .bench-quick

# The paper's experiments: PLDC_DATA is the folder of the data sets. A run that was stopped goes on where it was.
paper: $(VENV)/stamp-study
	$(BIN)/python -m experiments.paper

paper-quick: $(VENV)/stamp-study
	$(BIN)/python -m experiments.paper --quick

clean:
	rm -rf $(VENV) docs/_build docs/auto_examples docs/api demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
