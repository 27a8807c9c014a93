/* SPDX-License-Identifier: GPL-2.0-only */
/* The compiler's passes, which compile snippets and pads. */
#ifndef _GTP_COMPILE_H
#define _GTP_COMPILE_H

#include "jit/jit_internal.h"

/* jit_begin - initialize the state, ax_jit_work_size() bytes; @run_pass emits all of @req */
void jit_begin(struct ax_jit *j, const struct ax_jit_request *req,
	       void (*run_pass)(struct ax_jit *j, enum jit_pass pass));

/* jit_begin_pass - start a pass at the first byte of code */
void jit_begin_pass(struct ax_jit *j, enum jit_pass pass);

#endif /* _GTP_COMPILE_H */
