# The whole life of a checkout, for people and for CI: each target does what it needs first,
# from installing packages (scripts/setup) on.
#
#   make            build; leaves blackout, blackout-clang and blackout-clang++ in build/bin
#   make test       all quick tests
#   make test-full  the long ones; SHARD=2/5 runs the second fifth of them
#   make truth      what is found of the corpus's seeded bugs, missed and false, by kind
#   make honest     every way of reading, writing and ending: no wrong verdict, nothing unseen is called clean
#   make demo       a bundled program with a bug, checked, fixed, and checked again
#   make bench      the figures of docs/benchmarks.md
#   make install    PREFIX=/usr/local; DESTDIR as usual
#   make deb        a Debian package, build/blackout_VERSION_amd64.deb
#   make format     rewrites the sources with clang-format; make format-check only says what it would change
#   make tidy       clang-tidy; SHARD=2/7 takes a seventh of the sources and what the last commits changed, SECONDS=150 bounds it

BUILD := build
PREFIX ?= /usr/local
SHARD ?= 1/1
JOBS ?= $(shell nproc)
DEMO := blackout blackout-clang blackout-clang++ BlackoutPass blackout_rt

.PHONY: all setup build test test-full truth honest demo install deb bench format format-check tidy clean
.NOTPARALLEL:
.DEFAULT_GOAL := all

all: build

setup:
	@scripts/setup

# Configured once; Ninja configures again by itself when a CMake file changes.
$(BUILD)/build.ninja: | setup
	cmake --preset default

build: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) -LE full

test-full: build
	@scripts/test-full $(BUILD) $(SHARD)

truth: build
	@corpus/run.py --truth --jobs $(JOBS) --blackout $(BUILD)/bin/blackout

honest: build
	@tests/honest/run.py --jobs $(JOBS) --blackout $(BUILD)/bin/blackout

# Nothing but what the demo runs: no tests, no benchmarks, no man pages.
demo: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target $(DEMO)
	@examples/demo $(BUILD)/bin

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

deb: build
	@cd $(BUILD) && cpack -G DEB | grep generated

bench: build
	@cmake --build $(BUILD) -j $(JOBS) --target index_bench runs_bench
	@bench/run $(BUILD)/bin

SOURCES = $(shell git ls-files -co --exclude-standard '*.h' '*.hpp' '*.c' '*.cpp')
format: setup
	@clang-format-19 -i $(SOURCES)

format-check: setup
	@clang-format-19 --dry-run -Werror $(SOURCES)

tidy: setup
	@JOBS=$(JOBS) scripts/tidy $(SHARD) $(SECONDS)

clean:
	rm -rf $(BUILD) build-asan build-tsan build-tidy
