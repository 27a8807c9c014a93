/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's parameters. */
#ifndef _GTP_PARAMS_KERNEL_H
#define _GTP_PARAMS_KERNEL_H

#include <linux/types.h>

/* Root may change a writable parameter at any time: read it with READ_ONCE(). */
extern bool gtp_allow_write;
extern char *gtp_save_dir; /* NULL or "": there is no folder */
extern bool gtp_self_trace;
extern unsigned int gtp_buffer_kb;
extern unsigned int gtp_stacks_kb;
extern unsigned int gtp_bt_bytes;
extern unsigned int gtp_stack_walk;
extern unsigned long gtp_stack_walked;
extern unsigned long gtp_stack_handed;
extern unsigned long gtp_stack_differed;
extern bool gtp_jit;
extern bool gtp_jumps;
extern bool gtp_allow_notrace;
extern unsigned int gtp_maxactive;

#endif /* _GTP_PARAMS_KERNEL_H */
