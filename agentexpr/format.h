/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks the formats of printf for the verifier, and converts the arguments at a hit. */
#ifndef _GTP_FORMAT_H
#define _GTP_FORMAT_H

#include "agentexpr/ax.h"

/**
 * ax_format_check() - check that a format is safe to be converted at a hit
 * @insn: a decoded printf
 * @err: if the format is refused, its @code, @arg and @arg2 are set
 * @reads_mem: set to true if the format has a %s
 *
 * Accepted: text, in which GDB leaves C's escapes to the target (\n, \t, \", \e, \012, ...); %%; %d
 * %i %u %x %X %o with the flags "-+ #0", a width, a precision and hh, h, l, ll or z; %c %p %s with
 * flags, width and precision. Width and precision have three digits at most. Everything else is
 * refused: %n writes memory, the kernel has no floating point, and * would take an argument for
 * which the check does not account.
 *
 * Return: AX_OK, AX_E_FORMAT_NUL, AX_E_BAD_FORMAT, AX_E_PRINT_ARGS or AX_E_FORMAT_ARGS.
 */
enum ax_err ax_format_check(const struct ax_insn *insn, struct ax_error *err, bool *reads_mem);

/**
 * ax_format_print() - convert a printf's arguments, and hand the text to @env->ops' print()
 * @env: the environment; @env->text receives the text
 * @insn: a verified printf
 * @top: just past the first argument, the one nearest to the stack's top; @top[-1] is the first,
 *	@top[-2] the second
 *
 * Converts as C does on a machine with 32-bit int and 64-bit long. Where C leaves a choice, %p
 * prints 0x and hexadecimal digits, %c of 0 prints nothing, and a %s that fills the text is not
 * padded. The kernel's vsnprintf() is not used, because its %p prints a hash and it pads with zeros
 * differently from userspace.
 *
 * Context: a hit; see struct ax_ops.
 * Return: 0; or -EINVAL with @env->err if the string of a %s could not be read. Then nothing is
 * printed.
 */
int ax_format_print(struct ax_env *env, const struct ax_insn *insn, const u64 *top);

#endif /* _GTP_FORMAT_H */
