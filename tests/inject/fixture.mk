# SPDX-License-Identifier: GPL-2.0-only
# Build the programs of these tests into build/inject/: the processes that are patched, and the program that patches
# them. Run it in the repository's root: make -f tests/inject/fixture.mk

out := build/inject
CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter
# Each function of the victims is one that can be called and patched.
VICTIM := $(CFLAGS) -fno-inline -fno-ipa-sra -fno-ipa-cp -pthread
victim_hdr := tests/inject/victim.h tests/inject/work.h
victim_src := $(addprefix tests/inject/,victim.c blocked.c work.c)
# The shared sources are in a library that the tools have been linked with.
library := build/tools/objects/libgtp.a
driver_src := tests/inject/driver.c $(wildcard user/inject/*.c) user/process/process.c

all: $(out)/victim $(out)/victim-static $(out)/victim-fixed $(out)/driver

$(out)/victim: $(victim_src) $(victim_hdr)
	@mkdir -p $(@D)
	$(CC) $(VICTIM) -pie -fPIE -o $@ $(victim_src)

$(out)/victim-static: $(victim_src) $(victim_hdr)
	@mkdir -p $(@D)
	$(CC) $(VICTIM) -static -no-pie -fno-pie -o $@ $(victim_src)

$(out)/victim-fixed: $(victim_src) $(victim_hdr)
	@mkdir -p $(@D)
	$(CC) $(VICTIM) -no-pie -fno-pie -o $@ $(victim_src)

$(out)/driver: $(driver_src) $(wildcard user/inject/*.h) $(library)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -I. -o $@ $(driver_src) $(library)

.PHONY: all
