# SPDX-License-Identifier: GPL-2.0-only
# Job: build the programs that GDB traces without a kernel, into $out. Tests source this in the repository's root.

# Compile the files of this folder with the shared sources.
build() {
	make -s -C tests/unit "$PWD/build/unit/libgtp.a" "$PWD/build/unit/libhelp.a" &&
		gcc -g -O2 -fno-pie -no-pie -Wl,--defsym,_text=__executable_start -o "$out/prog" tests/tfile/prog.c &&
		gcc -g -O2 -fno-pie -no-pie -o "$out/types" tests/tfile/types.c &&
		g++ -g -O2 -fno-pie -no-pie -o "$out/classes" tests/tfile/classes.cc &&
		gcc -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -Werror \
			-fsanitize=address,undefined -fno-sanitize-recover=all \
			-I. -Itests/unit -o "$out/target" tests/tfile/target.c \
			-Wl,--start-group build/unit/libgtp.a build/unit/libhelp.a -Wl,--end-group
}
