/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers like those of <sys/sdt.h>, which may not be installed. A marker is a nop, and an ELF note
 * with the addresses of nop, .stapsdt.base and semaphore (or 0), the names, and the operands.
 */
#ifndef MARKERS_H
#define MARKERS_H

/* MARKER_AT - @nop: the code at the marker; @semaphore: a symbol or 0; @args: operands, as text */
#define MARKER_AT(nop, name, semaphore, args, ...)                                                 \
	__asm__ volatile(                                                                          \
		"990: " nop "\n"                                                                   \
		".pushsection .note.stapsdt, \"?\", \"note\"\n"                                    \
		".balign 4\n"                                                                      \
		".4byte 992f - 991f, 994f - 993f, 3\n"                                             \
		"991: .asciz \"stapsdt\"\n"                                                        \
		"992: .balign 4\n"                                                                 \
		"993: .8byte 990b\n"                                                               \
		".8byte _.stapsdt.base\n"                                                          \
		".8byte " semaphore "\n"                                                           \
		".asciz \"gtp_test\"\n"                                                            \
		".asciz \"" name "\"\n"                                                            \
		".asciz \"" args "\"\n"                                                            \
		"994: .balign 4\n"                                                                 \
		".popsection\n"                                                                    \
		".ifndef _.stapsdt.base\n"                                                         \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"        \
		".weak _.stapsdt.base\n"                                                           \
		".hidden _.stapsdt.base\n"                                                         \
		"_.stapsdt.base: .space 1\n"                                                       \
		".size _.stapsdt.base, 1\n"                                                        \
		".popsection\n"                                                                    \
		".endif\n"                                                                         \
		:                                                                                  \
		: __VA_ARGS__                                                                      \
		: "memory")

#define MARKER(name, args, ...) MARKER_AT("nop", name, "0", args, __VA_ARGS__)

/* A semaphore: the program reaches the marker, and computes its arguments, only if it is not 0. */
#define SEMAPHORE(name)                                                                            \
	__asm__(".pushsection .probes, \"aw\", \"progbits\"\n"                                     \
		".balign 2\n" #name ": .2byte 0\n"                                                 \
		".popsection\n");                                                                  \
	extern unsigned short name

/* The code at markers of libbpf/usdt: a nop and a long nop. Newer kernels write a call there. */
#define NOP_5 "nop; .byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define NOP_10 "nop; .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00"

#endif /* MARKERS_H */
