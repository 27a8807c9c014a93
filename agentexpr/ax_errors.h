/* SPDX-License-Identifier: GPL-2.0-only */
/* All errors of agent expressions: those that the verifier finds, and those that occur at a hit. */
#ifndef _GTP_AX_ERRORS_H
#define _GTP_AX_ERRORS_H

/*
 * X(NAME, text) - @text may use %llx/%llu twice at most: struct ax_error's arg and arg2, in that
 * order. ax_error_format() puts "OPCODE at byte PC: " before it.
 *
 * The first list holds the errors that the verifier reports. Each row has a file in
 * tests/vectors/errors/.
 */
#define AX_VERIFY_ERRORS(X)                                                                        \
	X(EMPTY, "the expression is empty")                                                        \
	X(TOO_LONG, "the expression has %llu bytes, at most %llu are accepted")                    \
	X(UNKNOWN_OPCODE, "0x%llx is not an opcode")                                               \
	X(FLOATING_POINT, "floating point is not available in the kernel")                         \
	X(OPERAND_CUT, "the operand is cut off by the end of the expression")                      \
	X(JUMP_OUT, "the jump to byte %llu leaves the expression (%llu bytes)")                    \
	X(JUMP_BACK, "the jump to byte %llu goes backwards; expressions must end")                 \
	X(JUMP_INTO_OPERAND, "a jump to byte %llu lands inside an instruction")                    \
	X(DEPTH_MISMATCH, "reached with %llu values on the stack and with %llu")                   \
	X(STACK_UNDERFLOW, "needs %llu values, the stack has %llu")                                \
	X(STACK_OVERFLOW, "the stack would hold %llu values, at most %llu are allowed")            \
	X(NO_END, "the expression runs past its last byte without an end")                         \
	X(NO_RESULT, "a condition must leave a value, the stack is empty")                         \
	X(BAD_REGISTER, "register %llu is not known at a hit (known are 0 to %llu)")               \
	X(BAD_FORMAT, "the format's byte %llu is not a conversion that is allowed here")           \
	X(FORMAT_NUL, "the format has %llu bytes, the last one and no other must be NUL")          \
	X(FORMAT_ARGS, "the format converts %llu arguments, %llu are on the stack for it")         \
	X(PRINT_ARGS, "%llu arguments are more than the %llu that are allowed")                    \
	X(UNKNOWN_TSV, "trace state variable %llu is not defined")                                 \
	X(READ_ONLY_TSV, "trace state variable %llu cannot be set")

/* Errors that can only be found at a hit. */
#define AX_RUNTIME_ERRORS(X)                                                                       \
	X(DIVIDE_BY_ZERO, "division by zero")                                                      \
	X(BAD_ADDRESS, "cannot read memory at 0x%llx (%llu bytes)")                                \
	X(TOO_MUCH, "collecting %llu bytes is more than a frame may hold")

#endif /* _GTP_AX_ERRORS_H */
