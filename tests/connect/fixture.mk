# SPDX-License-Identifier: GPL-2.0-only
# Build the library that tests/connect/run preloads, into build/connect/. Run make in the repository's root.

build/connect/procfs.so: tests/connect/procfs.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -o $@ $<
