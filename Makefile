# SPDX-License-Identifier: MIT OR Apache-2.0
# A thin front for Meson and Ninja. `make help` lists what there is.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=

# `make BOOTSTRAP=: check` installs nothing.
BOOTSTRAP ?= scripts/bootstrap

# CC and CXX count when they are given; make's own defaults do not.
ifneq ($(origin CC),default)
export CC
endif
ifneq ($(origin CXX),default)
export CXX
endif

.PHONY: all configure install demo check check-hard check-distros bench fuzz format clean help

all: configure
	@ninja -C $(BUILD)

configure:
	@scripts/configure $(BUILD) $(MESONFLAGS)

install: all
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@meson install -C $(BUILD) $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

# Installs what the build needs, builds, records an example, reports on it.
demo:
	@$(BOOTSTRAP) build
	@$(MAKE) --no-print-directory all
	$(BUILD)/heapwake record -o $(BUILD)/demo.wake $(BUILD)/examples/kitchen
	$(BUILD)/heapwake report $(BUILD)/demo.wake

# Installs what the tests need, builds, runs everything.
# TESTS="names" picks some; other options of the runner: tests/run --help.
check:
	@$(BOOTSTRAP) check
	@BUILD=$(BUILD) tests/run $(TESTS)

# The long run of what `make check` does in small: the hard cases REPEAT times each, kills,
# forks and full disks by the hundred, every system call and every allocation failing, every bit
# flipped, loads of every kind. Hours.
REPEAT ?= 1000
HARD ?= hostile.py hard_ faults.py sweep.py damage.py oracle.py scarce_memory.py loads.py
check-hard:
	@$(BOOTSTRAP) check
	@BUILD=$(BUILD) REPEAT=$(REPEAT) KILLS=1000 FORKS=10000 DISKS=100 SWEEP=all DAMAGE=all SCARCE=all LOADS=full tests/run --patience 50 $(HARD)

# `make demo` and `make check` on fresh machines: roots that debootstrap makes, as root.
# DISTROS="names" picks some of the releases in scripts/distros.
check-distros:
	@$(BOOTSTRAP) distros
	@TESTS="$(TESTS)" scripts/distros $(DISTROS)

# Installs what the benchmarks need, builds, prints the table; 1 when a goal is missed.
bench:
	@$(BOOTSTRAP) bench
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) bench/run $(BENCH)

# Looks for inputs that break a parser, T seconds for each target; FUZZ="names" picks some.
T ?= 60
fuzz:
	@$(BOOTSTRAP) check
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) scripts/fuzz $(T) $(FUZZ)

format:
	@scripts/files '^(src|include|tests|bench|examples)/.*\.(c|h|cc)$$' | xargs -r clang-format-19 -i

clean:
	@rm -rf $(BUILD)

help:
	@echo 'make              build $(BUILD)/heapwake and $(BUILD)/libheapwake.so'
	@echo 'make demo         install what is needed, build, record an example'
	@echo 'make check        install what is needed, build, run all tests   (TESTS="names" for some)'
	@echo 'make check-hard   the hard cases REPEAT=1000 times, faults in great number (HARD="names")'
	@echo 'make check-distros  both of them on fresh Debian 12 and 13         (DISTROS="names")'
	@echo 'make bench        measure against the goals                      (BENCH="--quick names")'
	@echo 'make fuzz         libFuzzer over all parsers, T=60 seconds each  (FUZZ="names" for some)'
	@echo 'make install      into PREFIX=$(PREFIX), below DESTDIR'
	@echo 'make format       clang-format 19 over all C and C++'
	@echo 'make clean        remove $(BUILD)'
	@echo 'CC=clang CXX=clang++ BUILD=build-clang and MESONFLAGS are heard by all of them.'
