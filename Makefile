# SPDX-License-Identifier: GPL-2.0-only
# Build, install, test and package gdbtp: the module for one kernel, and the tools.

# The module is built for the running kernel, for KERNEL=version, whose headers must be installed, or
# for the configured kernel tree KDIR=path.
KERNEL ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNEL)/build
# Each kernel has its own build folder, so that one checkout can build for several kernels.
MODDIR ?= build/module/$(KERNEL)

PREFIX ?= /usr/local
VERSION := $(shell sed -n 's/^\#define GTP_VERSION "\(.*\)"/\1/p' base/version.h)

.DEFAULT_GOAL := all

all: module tools ## gdbtp.ko for the running kernel (or KERNEL=version), and the tools

help: ## this list
	@sed -n 's/^\([a-z_-]*\):.*## \(.*\)/  \1@\2/p' $(MAKEFILE_LIST) | column -t -s @

module: ## gdbtp.ko alone
	scripts/build-module $(KDIR) $(MODDIR)

tools: ## the userspace tools
	$(MAKE) -C tools

demo: ## boot a guest kernel, trace it with GDB, show what was collected (root)
	tests/vm/deps
	demo/run

test: ## one suite, topic or test: T=unit/test_buffer, T=gdb/run:passcount (root); without T the list
	@MAKEFLAGS= tests/run $(if $(filter file,$(origin KERNEL)),,--kernel $(KERNEL)) "$$T"

guest: ## boot a guest and keep it: make test T=gdb/... of another terminal runs in it (root)
	@tests/keep $(if $(filter file,$(origin KERNEL)),,--kernel $(KERNEL))

check: ## every test, a real GDB in real kernels included; the last line is a count (root)
	tests/vm/deps
	tests/check

check-all: ## the same on every kernel and GDB that the tests know (root)
	tests/vm/deps
	tests/check --all

check-unit: ## what needs neither root nor a guest: unit tests, vectors, transcripts
	tests/check --no-guests

check-debug: ## the guest tests on a kernel with KASAN, lockdep and sleep checks (root)
	tests/vm/deps --debug
	tests/check --debug

check-failed: ## what failed or was flaky in the last check, with its seed (root)
	tests/check --failed

check-repeat: ## T= a suite, topic or test, N times (5): which tests fail, and how often
	@MAKEFLAGS= tests/repeat $(if $(filter file,$(origin KERNEL)),,--kernel $(KERNEL)) "$(or $(N),5)" "$$T"

fuzz: ## every fuzzer, ROUNDS (60) times the inputs of a check, on from what earlier runs found
	$(MAKE) -C tests/fuzz run ROUNDS=$(or $(ROUNDS),60) SEED=$(or $(SEED),0) KEEP=yes

bench: ## what a hit costs, ours and others', in instructions; what arming thousands takes (root)
	tests/vm/deps
	tests/bench/run

bench-jit: ## compiled expressions against the interpreter and gcc -O2, as ratios
	$(MAKE) -s -C tests/bench jit

bench-native: ## cycles of a hit, natively in userspace: jump pads beside an empty call and a comparison
	$(MAKE) -s -C tests/bench native

bench-stream: ## how fast a run's frames are drained, in frames a second and core
	$(MAKE) -s -C tests/bench stream

bench-frames: ## a stopped run of 10^4 to 10^POWER frames (7): its index, tfind, qTBuffer, tsave -r
	$(MAKE) -s -C tests/bench frames POWER=$(or $(POWER),7)

structure: ## circles of files, arrows between folders, lists and tables that name files
	tests/structure/run

style: ## checkpatch, clang-format, budgets, licences, scripts; scripts/style --fix formats
	scripts/style

compile_commands: ## compile_commands.json for clangd: userspace, and the modules built so far
	scripts/compile-commands

install: all ## DKMS where it is there, else the module for this kernel; tools and GDB scripts
	scripts/install "$(DESTDIR)" "$(PREFIX)" "$(VERSION)" "$(KERNEL)" "$(MODDIR)"

uninstall: ## what install put there
	scripts/install --remove "$(DESTDIR)" "$(PREFIX)" "$(VERSION)" "$(KERNEL)"

deb: ## Debian packages for this machine's release, into build/deb/ (root, if something to build them is missing)
	scripts/deb

clean: ## all that was built, but not the guest kernels
	rm -rf build/module build/unit build/tools build/pycache build/fuzz build/check build/vm build/bench build/deb

distclean: ## the guest kernels too
	rm -rf build compile_commands.json

.PHONY: all help module tools demo test guest check check-all check-unit check-debug check-failed check-repeat fuzz bench bench-jit bench-native bench-stream bench-frames structure style compile_commands \
	install uninstall deb clean distclean
