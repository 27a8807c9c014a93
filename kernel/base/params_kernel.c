// SPDX-License-Identifier: GPL-2.0-only
/* The module's parameters. */
#include <linux/module.h>

#include "kernel/base/params_kernel.h"

bool gtp_allow_write;
module_param_named(allow_write, gtp_allow_write, bool, 0400);
MODULE_PARM_DESC(allow_write, "let GDB write to kernel memory (default: no)");

char *gtp_save_dir;
module_param_named(save_dir, gtp_save_dir, charp, 0400);
MODULE_PARM_DESC(save_dir,
		 "folder for GDB's tsave -r, which makes new files there (default: none)");

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

unsigned int gtp_stack_walk = 1;
module_param_named(stack_walk, gtp_stack_walk, uint, 0600);
MODULE_PARM_DESC(
	stack_walk,
	"$kstack: 1: by the unwinder's earlier steps, 0: always by the unwinder, 2: both, and compare (default: 1)");

/* The number of stacks that were taken both ways (stack_walk=2) since the module was loaded. */
unsigned long gtp_stack_walked;
module_param_named(stack_walked, gtp_stack_walked, ulong, 0400);
MODULE_PARM_DESC(stack_walked, "stack_walk=2: stacks that were taken both ways");

unsigned long gtp_stack_handed;
module_param_named(stack_handed, gtp_stack_handed, ulong, 0400);
MODULE_PARM_DESC(stack_handed, "stack_walk=2: stacks that only the kernel's unwinder could take");

unsigned long gtp_stack_differed;
module_param_named(stack_differed, gtp_stack_differed, ulong, 0400);
MODULE_PARM_DESC(stack_differed, "stack_walk=2: stacks that were not the same both ways");

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
