// SPDX-License-Identifier: GPL-2.0-only
/* The module's parameters. */
#include <linux/module.h>

#include "base/params_kernel.h"

bool gtp_allow_write;
module_param_named(allow_write, gtp_allow_write, bool, 0400);
MODULE_PARM_DESC(allow_write, "let GDB write to kernel memory (default: no)");

bool gtp_self_trace;
module_param_named(self_trace, gtp_self_trace, bool, 0600);
MODULE_PARM_DESC(self_trace, "trace the connected GDB's own tasks too (default: no)");

unsigned int gtp_buffer_kb = 4096;
module_param_named(buffer_kb, gtp_buffer_kb, uint, 0600);
MODULE_PARM_DESC(buffer_kb,
		 "trace buffer per CPU in KiB, unless GDB asks for a size (default: 4096)");

unsigned int gtp_stacks_kb = 4096;
module_param_named(stacks_kb, gtp_stacks_kb, uint, 0600);
MODULE_PARM_DESC(stacks_kb, "$kstack's table in KiB, from the next tstart on (default: 4096)");

unsigned int gtp_bt_bytes = 4096;
module_param_named(bt_bytes, gtp_bt_bytes, uint, 0600);
MODULE_PARM_DESC(bt_bytes, "bytes of the stack that $bt collects at most (default: 4096)");

bool gtp_jit = true;
module_param_named(jit, gtp_jit, bool, 0600);
MODULE_PARM_DESC(jit, "compile expressions at tstart instead of interpreting them (default: yes)");

bool gtp_jumps = true;
module_param_named(jumps, gtp_jumps, bool, 0600);
MODULE_PARM_DESC(jumps, "replace instructions by jumps where that is safe (default: yes)");

bool gtp_allow_notrace;
module_param_named(allow_notrace, gtp_allow_notrace, bool, 0600);
MODULE_PARM_DESC(allow_notrace, "allow probes in functions that tracers run through (default: no)");

unsigned int gtp_maxactive = 4096;
module_param_named(maxactive, gtp_maxactive, uint, 0600);
MODULE_PARM_DESC(maxactive,
		 "calls of a function under way that a kretprobe can follow (default: 4096)");
