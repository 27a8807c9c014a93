/* SPDX-License-Identifier: GPL-2.0-only */
/* Emit loads. */
#ifndef _GTP_OPS_MEM_H
#define _GTP_OPS_MEM_H

#include "jit/jit_internal.h"

/* jit_op_ref - emit ref8, ref16, ref32, ref64 */
void jit_op_ref(struct ax_jit *j);

#endif /* _GTP_OPS_MEM_H */
