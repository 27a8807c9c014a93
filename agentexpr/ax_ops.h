/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of all opcodes. See "The GDB Agent Expression Mechanism" in GDB's manual. */
#ifndef _GTP_AX_OPS_H
#define _GTP_AX_OPS_H

/*
 * X(name, opcode, operand bytes, pops, pushes, rule)
 *
 * @rule names what the verifier checks in addition to the stack counts:
 *   none    nothing
 *   jump    the 2-byte operand is a forward target on an instruction boundary
 *   reg     the 2-byte operand is a register that a hit knows
 *   tsv     the 2-byte operand is a trace state variable
 *   pick    the 1-byte operand is a depth that exists
 *   printf  variable length: u8 nargs, u16 length, the format with its NUL; pops nargs + 2
 *   end     the expression ends here
 *   refuse  known to GDB, never sent by it: floating point
 *
 * trace_quick and trace16 leave the address on the stack. tracev pushes nothing, although GDB's own
 * ax.def says otherwise: GDB sends "getv N; tracev N; pop; end", which must leave an empty stack.
 */
#define AX_OPS(X)                                                                                  \
	X(float, 0x01, 0, 0, 0, refuse)                                                            \
	X(add, 0x02, 0, 2, 1, none)                                                                \
	X(sub, 0x03, 0, 2, 1, none)                                                                \
	X(mul, 0x04, 0, 2, 1, none)                                                                \
	X(div_signed, 0x05, 0, 2, 1, none)                                                         \
	X(div_unsigned, 0x06, 0, 2, 1, none)                                                       \
	X(rem_signed, 0x07, 0, 2, 1, none)                                                         \
	X(rem_unsigned, 0x08, 0, 2, 1, none)                                                       \
	X(lsh, 0x09, 0, 2, 1, none)                                                                \
	X(rsh_signed, 0x0a, 0, 2, 1, none)                                                         \
	X(rsh_unsigned, 0x0b, 0, 2, 1, none)                                                       \
	X(trace, 0x0c, 0, 2, 0, none)                                                              \
	X(trace_quick, 0x0d, 1, 1, 1, none)                                                        \
	X(log_not, 0x0e, 0, 1, 1, none)                                                            \
	X(bit_and, 0x0f, 0, 2, 1, none)                                                            \
	X(bit_or, 0x10, 0, 2, 1, none)                                                             \
	X(bit_xor, 0x11, 0, 2, 1, none)                                                            \
	X(bit_not, 0x12, 0, 1, 1, none)                                                            \
	X(equal, 0x13, 0, 2, 1, none)                                                              \
	X(less_signed, 0x14, 0, 2, 1, none)                                                        \
	X(less_unsigned, 0x15, 0, 2, 1, none)                                                      \
	X(ext, 0x16, 1, 1, 1, none)                                                                \
	X(ref8, 0x17, 0, 1, 1, none)                                                               \
	X(ref16, 0x18, 0, 1, 1, none)                                                              \
	X(ref32, 0x19, 0, 1, 1, none)                                                              \
	X(ref64, 0x1a, 0, 1, 1, none)                                                              \
	X(ref_float, 0x1b, 0, 1, 1, refuse)                                                        \
	X(ref_double, 0x1c, 0, 1, 1, refuse)                                                       \
	X(ref_long_double, 0x1d, 0, 1, 1, refuse)                                                  \
	X(l_to_d, 0x1e, 0, 1, 1, refuse)                                                           \
	X(d_to_l, 0x1f, 0, 1, 1, refuse)                                                           \
	X(if_goto, 0x20, 2, 1, 0, jump)                                                            \
	X(goto, 0x21, 2, 0, 0, jump)                                                               \
	X(const8, 0x22, 1, 0, 1, none)                                                             \
	X(const16, 0x23, 2, 0, 1, none)                                                            \
	X(const32, 0x24, 4, 0, 1, none)                                                            \
	X(const64, 0x25, 8, 0, 1, none)                                                            \
	X(reg, 0x26, 2, 0, 1, reg)                                                                 \
	X(end, 0x27, 0, 0, 0, end)                                                                 \
	X(dup, 0x28, 0, 1, 2, none)                                                                \
	X(pop, 0x29, 0, 1, 0, none)                                                                \
	X(zero_ext, 0x2a, 1, 1, 1, none)                                                           \
	X(swap, 0x2b, 0, 2, 2, none)                                                               \
	X(getv, 0x2c, 2, 0, 1, tsv)                                                                \
	X(setv, 0x2d, 2, 1, 1, tsv)                                                                \
	X(tracev, 0x2e, 2, 0, 0, tsv)                                                              \
	X(tracenz, 0x2f, 0, 2, 0, none)                                                            \
	X(trace16, 0x30, 2, 1, 1, none)                                                            \
	X(pick, 0x32, 1, 0, 1, pick)                                                               \
	X(rot, 0x33, 0, 3, 3, none)                                                                \
	X(printf, 0x34, 3, 0, 0, printf)

#endif /* _GTP_AX_OPS_H */
