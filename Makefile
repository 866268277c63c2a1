# Every target sets itself up: .venv is made with a stock `python3 -m venv`, and nothing outside
# this folder is touched. `make help` lists the targets.
#
#   make test PYTEST_ARGS="-k moments -x"     other arguments for pytest
#   make demo PYTHON=python3.13               another Python for .venv (after `make clean`)

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?= -n 2 --dist worksteal
BENCH ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/*)

# The requirements that pyproject.toml lists under a key, as arguments for pip.
requirements = $$($(BIN)/python -c "import tomllib; \
  t = tomllib.load(open('pyproject.toml', 'rb')); print(*(r.replace(' ', '') for r in t$(1)))")
extra = $(call requirements,['project']['optional-dependencies']['$(1)'])

.PHONY: help demo test coverage fuzz laws soak lint format stubs warnings pure bench peers benchmarks-page docs reproductions measurements quality changelog promises picture dist wheels clean
.DELETE_ON_ERROR:

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

demo: $(VENV)/.package ## report on the Palmer penguins: models compared, one chosen, a page to open
	@mkdir -p build/demo
	@$(BIN)/python -c "from palmerpenguins import load_penguins; \
	  load_penguins().to_csv('build/demo/penguins.csv', index=False)"
	@$(BIN)/posterior report build/demo/penguins.csv --target species --out build/demo/report

test: $(VENV)/.test ## run the whole suite on the compiled kernels, then again on the NumPy ones
	@echo "== tests on the compiled kernels"
	@$(BIN)/python -m pytest $(PYTEST_ARGS)
	@echo "== on the reference kernels (NumPy): all tests that may tell them apart"
	@POSTERIOR_KERNELS=reference HYPOTHESIS_PROFILE=short \
	  $(BIN)/python -m pytest -m "not slow and not once" $(PYTEST_ARGS)

coverage: $(VENV)/.test ## which lines the suite runs; slower than test
	@$(BIN)/python -m pytest --cov --cov-report=term $(PYTEST_ARGS)

# The address sanitizer must come first in the process, and with it the C++ library whose exceptions
# it watches. Leaks are Python's own business. -S: see pure.
# Goes on where the last run stopped, and writes docs/results/fuzz.md.
FUZZ_SECONDS ?= 600
preloaded = $$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so.6)
fuzz: $(VENV)/.test ## attack files, requests, SQL and kernels under ASan and UBSan, for FUZZ_SECONDS (GCC)
	@mkdir -p build/fuzz
	@PATH="$(abspath $(BIN)):$$PATH" && \
	  cmake -S . -B build/fuzz/cmake -G Ninja -DPOSTERIOR_SANITIZE=ON \
	    -DPython_EXECUTABLE="$(abspath $(BIN))/python" \
	    -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" >build/fuzz/cmake.log && \
	  cmake --build build/fuzz/cmake >>build/fuzz/cmake.log && \
	  rm -rf build/fuzz/package && mkdir build/fuzz/package && \
	  cp -r src/posterior build/fuzz/package && \
	  cmake --install build/fuzz/cmake --prefix build/fuzz/package >>build/fuzz/cmake.log
	@site=$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))"); \
	  PYTHONPATH="build/fuzz/package:$$site" POSTERIOR_KERNELS=compiled OMP_NUM_THREADS=1 \
	  LD_PRELOAD="$(preloaded)" UBSAN_OPTIONS=print_stacktrace=1 \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024 \
	  $(BIN)/python -S tests/fuzz $(FUZZ_SECONDS) $(FUZZ_PARTS)

# Goes on where the last run stopped, and writes docs/results/laws.md after each round.
LAWS_TRIALS ?= 1000000
laws: $(VENV)/.test ## new trials of the laws, until there were LAWS_TRIALS in all: an hour
	@$(BIN)/python -u tests/laws $(LAWS_TRIALS)

# What was found so far is in build/soak; one that was interrupted goes on from there.
SOAK_SECONDS ?= 3600
soak: $(VENV)/.package ## a server for SOAK_SECONDS: 50 clients, a model that learns, workers killed
	@$(BIN)/python -m benchmarks.serve_soak --seconds $(SOAK_SECONDS) --page docs/results/soak.md

lint: $(VENV)/.lint ## check style (ruff) and types (mypy)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

stubs: $(VENV)/.package ## types of the compiled kernels, for mypy and editors, as nanobind tells them
	@$(BIN)/python -m nanobind.stubgen -q -m posterior.kernels._compiled \
	  -o src/posterior/kernels/_compiled.pyi

warnings: $(VENV)/.package ## compile the C++ with warnings as errors
	@cmake=$$(PATH="$(abspath $(BIN)):$$PATH" command -v cmake) && \
	  PATH="$(abspath $(BIN)):$$PATH" $$cmake -S . -B build/warnings -G Ninja \
	    -DPOSTERIOR_WERROR=ON -DPython_EXECUTABLE="$(abspath $(BIN))/python" \
	    -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" >build/warnings.log && \
	  $$cmake --build build/warnings

pure: $(VENV)/.package ## install with a compiler that fails, and run the demo on that
	@rm -rf build/pure && mkdir -p build/pure
	@CC=/bin/false CXX=/bin/false POSTERIOR_REQUIRE_COMPILED=0 $(BIN)/python -m pip \
	  --disable-pip-version-check --quiet wheel --no-build-isolation --no-deps \
	  --config-settings=build-dir=build/pure/failed -w build/pure .
	@ls build/pure/posterior-*-py3-none-any.whl
	@$(PIP) --no-deps --target build/pure/packages build/pure/posterior-*.whl
	@# -S: without the site module, the editable install of .venv cannot come first.
	@site=$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))"); \
	  PYTHONPATH="build/pure/packages:$$site" $(BIN)/python -S examples/penguins.py >build/pure/demo.txt
	@echo "the wheel without compiled code installs and runs"

bench: $(VENV)/.bench ## time ours against the peers, and keep the figures; BENCH="names" picks some
	@$(BIN)/python -m benchmarks --json benchmarks/results.json $(BENCH)

# Peers that must not share a process with others: glum sets the threads of all, pomegranate needs
# torch. Name a CPU build, or pip brings gigabytes for graphics cards: TORCH="torch==2.13.0+cpu".
TORCH ?= torch
peers: ## a Python of their own for the peers pomegranate and glum, in build/peers
	@$(PYTHON) -m venv build/peers
	@build/peers/bin/python -m pip --disable-pip-version-check install --quiet \
	  "$(TORCH)" pomegranate glum

benchmarks-page: $(VENV)/.bench ## docs/benchmarks.md from the saved figures
	@$(BIN)/python -m benchmarks --saved benchmarks/results.json --page docs/benchmarks.md

docs: $(VENV)/.docs ## the manual, as build/docs/index.html; a warning is an error
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -j auto -d build/docs-cache docs build/docs
	@echo "the manual: build/docs/index.html"

LECTURES := fish documents gradient_ascent em_and_kmeans classification names signals exclusive_or
REPRODUCTIONS := $(LECTURES) faithful hidden_labels documents_accuracy learning_curves \
  news_semi_supervised complement_news nb_weighted_logistic dependence_smoothing
reproductions: $(VENV)/.test ## run lectures and papers again, and keep what the manual shows
	@mkdir -p build; for name in $(REPRODUCTIONS); do echo "== $$name"; \
	  file=$$([ $$name = learning_curves ] && echo docs/results/learning_curves.json); \
	  $(BIN)/python examples/$$name.py $$file >build/$$name.txt && \
	  mv build/$$name.txt docs/results/$$name.txt || exit 1; done

MEASUREMENTS := push_down clusters cluster_simulation out_of_memory
# and reading.md, javascript.md, quick.md, serving.md, families_of_columns.md of docs/results
measurements: $(VENV)/.test ## time databases, clusters and a file of 10 GB; wants a quiet machine
	@mkdir -p build; for name in $(MEASUREMENTS); do echo "== $$name"; \
	  option=$$([ $$name = push_down ] && echo --postgres); \
	  $(BIN)/python -W ignore -m benchmarks.$$name $$option >build/$$name.md && \
	  mv build/$$name.md docs/results/$$name.md || exit 1; done
	@$(BIN)/python -W ignore -m benchmarks.reading
	@$(BIN)/python -W ignore -m benchmarks.javascript
	@$(BIN)/python -W ignore -m benchmarks.quick
	@$(BIN)/python -W ignore -m benchmarks.serve_load --page
	@$(BIN)/python examples/families_of_columns.py >build/families_of_columns.md
	@mv build/families_of_columns.md docs/results/families_of_columns.md

# LightGBM, CatBoost and EBM live in a Python of their own, if QUALITY_PEERS names one that has them;
# QUALITY_KEEL names a folder with raw tables of KEEL. What build/quality holds is not run again,
# nor peers whose losses docs/results/quality holds.
# Writes quality.json, quality.md, additive_cost.md, classifier_cost.md and calibration.txt of
# docs/results.
QUALITY_PEERS ?=
QUALITY_KEEL ?=
quality: $(VENV)/.bench ## probabilities of ours and the peers on 20 tables and 6 sets of documents: hours
	@$(BIN)/python -W ignore -m benchmarks.quality $(if $(QUALITY_PEERS),--peers $(QUALITY_PEERS)) \
	  $(if $(QUALITY_KEEL),--keel $(QUALITY_KEEL))
	@$(BIN)/python -W ignore -m benchmarks.additive $(if $(QUALITY_PEERS),--peers $(QUALITY_PEERS))
	@$(BIN)/python -W ignore -m benchmarks.classifier
	@$(BIN)/python -W ignore examples/calibration_gain.py >build/calibration.txt
	@mv build/calibration.txt docs/results/calibration.txt

promises: $(VENV)/.package ## record what was added for users to rely on; a removal must be announced
	@$(BIN)/python tests/promises.py

picture: $(VENV)/.test demo ## docs/static/report.png, the picture of the README, from the demo's report
	@$(BIN)/python docs/picture.py build/demo/report/report.html docs/static/report.png

changelog: $(VENV)/.made ## what is not released yet; VERSION=... puts it into CHANGELOG.md
	@$(BIN)/python changelog.d/gather.py $(VERSION)

dist: $(VENV)/.package ## sdist and wheel, compiled without a warning, tried in a clean environment
	@rm -rf dist build/unpacked build/clean && mkdir -p dist build/unpacked
	@$(BIN)/python -c "from scikit_build_core.build import build_sdist; build_sdist('dist')" >build/dist.log
	@tar xzf dist/posterior-*.tar.gz -C build/unpacked --strip-components=1
	@# The backend itself: pip would compile twice, once for the metadata.
	@cd build/unpacked && PATH="$(abspath $(BIN)):$$PATH" $(abspath $(BIN))/python -c \
	  "from scikit_build_core.build import build_wheel; \
	  build_wheel('../../dist', {'cmake.define.POSTERIOR_WERROR': 'ON'})" >>../dist.log
	@$(BIN)/python -m venv build/clean
	@build/clean/bin/python -m pip --disable-pip-version-check --quiet install dist/posterior-*.whl
	@cd build/clean && bin/python ../../examples/first_fit.py
	@ls -l dist | awk 'NR > 1 {print $$5, $$9}'

# A wheel for Python 3.11 and one of the stable ABI, from WHEEL_PYTHONS, the first of which is a 3.11
# and the second a later one. Each is tried by all of them that it fits, in an environment that has
# neither our source nor a compiler to fall back on, and must give the bits of this folder's build.
WHEEL_PYTHONS ?= $(PYTHON)
wheels: $(VENV)/.package ## wheels that need no compiler, each tried in clean environments
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python packaging/wheels.py $(WHEEL_PYTHONS)

clean: ## remove .venv and everything built
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# --- set-up: each stamp lies in .venv and is remade when what it was made from changes -----------

$(VENV)/.made:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and \
	  'posterior needs Python 3.11 or newer: make PYTHON=... names another one')"
	@echo "== making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The package is editable: Python files are used from src, so only C++ needs a new install. Where
# this machine can compile an extension, code that does not compile is an error here, not a reason
# to install without it.
can_compile = echo '\#include <Python.h>' | $${CXX:-c++} -std=c++20 -x c++ -fsyntax-only \
  -I"$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('include'))")" - 2>/dev/null

$(VENV)/.package: $(VENV)/.made $(SOURCES)
	@echo "== building posterior into $(VENV) (a minute or two the first time)"
	@mkdir -p build
	@$(PIP) $(call requirements,['build-system']['requires'])
	@command -v cmake >/dev/null || $(PIP) cmake
	@command -v ninja >/dev/null || $(PIP) ninja
	@if $(can_compile); then compiled=1; else compiled=0; \
	    echo "   no C++20 compiler with Python.h: installing the slower NumPy kernels"; fi; \
	  PATH="$(abspath $(BIN)):$$PATH" \
	  POSTERIOR_REQUIRE_COMPILED=$${POSTERIOR_REQUIRE_COMPILED:-$$compiled} \
	  $(PIP) --no-build-isolation --config-settings=build-dir=build/editable --editable ".[serve,demo]"
	@touch $@

$(VENV)/.test: $(VENV)/.package
	@echo "== installing what the tests need"
	@$(PIP) $(call extra,test)
	@touch $@

$(VENV)/.lint: $(VENV)/.package
	@$(PIP) $(call extra,lint)
	@touch $@

$(VENV)/.docs: $(VENV)/.package
	@$(PIP) $(call extra,docs)
	@touch $@

$(VENV)/.bench: $(VENV)/.package
	@$(PIP) $(call extra,bench)
	@touch $@
