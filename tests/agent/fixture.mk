# SPDX-License-Identifier: GPL-2.0-only
# Build the programs that the tests of gtp-attach inspect, into build/agent/. Run it in the repository's root:
# make -f tests/agent/fixture.mk

out := build/agent
CFLAGS := -std=gnu11 -O1 -g -fno-inline -Wall -Wextra -Werror

all: $(out)/victim $(out)/victim-go $(out)/bare $(out)/victim-static $(out)/library.so $(out)/hostile

victim := tests/agent/victim.c tests/agent/odd.c

$(out)/victim: $(victim) tests/agent/odd.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fPIE -pthread -o $@ $(victim)

$(out)/victim-go: $(victim) tests/agent/gonote.S tests/agent/odd.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fPIE -pthread -o $@ $(victim) tests/agent/gonote.S

$(out)/bare: tests/agent/bare.S
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -no-pie -o $@ $<

$(out)/victim-static: tests/agent/plain.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -static -no-pie -fno-pie -o $@ $<

$(out)/library.so: tests/agent/library.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -fPIC -o $@ $<

$(out)/hostile: tests/agent/hostile.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fPIE -Wl,-z,norelro -o $@ $<

.PHONY: all
