# SPDX-License-Identifier: GPL-2.0-only
# Build the comparison with libdw and the programs whose stacks are compared, into build/unwind/. Run it in the repository's
# root: make -f tests/unwind/fixture.mk

out := build/unwind
CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter
PROGRAM := -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-infinite-recursion -I. -Wl,-z,lazy

compare_src := tests/unwind/compare.c $(addprefix tools/unwind/,file.c rows.c table.c) tools/regions/fde.c \
	tools/regions/cfa.c tools/run/text.c base/visible.c hit/cfi.c hit/ustack.c regions/table.c

all: $(addprefix $(out)/,compare optimised framed static)

$(out)/compare: $(compare_src) $(wildcard hit/*.h tools/unwind/*.h tools/regions/*.h base/*.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -I. -o $@ $(compare_src) -ldw -lelf

$(out)/optimised: tests/unwind/program.c
	@mkdir -p $(@D)
	$(CC) $(PROGRAM) -O2 -fomit-frame-pointer -o $@ $<

$(out)/framed: tests/unwind/program.c
	@mkdir -p $(@D)
	$(CC) $(PROGRAM) -O0 -fno-omit-frame-pointer -o $@ $<

$(out)/static: tests/unwind/program.c
	@mkdir -p $(@D)
	$(CC) $(PROGRAM) -O2 -static -o $@ $<

.PHONY: all
