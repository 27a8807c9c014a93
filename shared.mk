# SPDX-License-Identifier: GPL-2.0-only
# List the shared sources, for the makefiles of the module, the tools and the tests.

GTP_SHARED := \
	transport/rsp.c \
	stub/stub.c \
	stub/console.c \
	stub/args.c \
	stub/reply.c \
	stub/selected.c \
	stub/wait.c \
	stub/packets.c \
	stub/pkt_general.c \
	stub/pkt_process.c \
	stub/pkt_vfile.c \
	stub/pkt_breakpoint.c \
	stub/pkt_memory.c \
	stub/pkt_xfer.c \
	stub/pkt_define.c \
	stub/pkt_file.c \
	stub/pkt_run.c \
	stub/pkt_frame.c \
	stub/pkt_upload.c \
	stub/pkt_marker.c \
	stub/monitor.c \
	base/parse.c \
	base/why.c \
	base/visible.c \
	aggregate/pair.c \
	aggregate/shape.c \
	aggregate/table.c \
	aggregate/tasks.c \
	aggregate/text.c \
	tracepoint/tracepoint.c \
	tracepoint/at_return.c \
	tracepoint/def.c \
	tracepoint/define.c \
	tracepoint/dprintf.c \
	tracepoint/tsv.c \
	session/aggregate.c \
	session/aggregate_plan.c \
	session/pair.c \
	session/pair_plan.c \
	session/added.c \
	session/check.c \
	session/cpus.c \
	session/kstack.c \
	session/tasks.c \
	session/location.c \
	session/arming.c \
	session/dprintf.c \
	session/run.c \
	session/install.c \
	session/code.c \
	session/trace.c \
	session/trigger.c \
	session/watched.c \
	agentexpr/decode.c \
	agentexpr/disasm.c \
	agentexpr/format.c \
	agentexpr/adds.c \
	agentexpr/verify.c \
	agentexpr/interp.c \
	jit/x86_emit.c \
	jit/values.c \
	jit/flow.c \
	jit/address.c \
	jit/slow.c \
	jit/ops_alu.c \
	jit/ops_shift.c \
	jit/ops_div.c \
	jit/ops_fuse.c \
	jit/ops_mem.c \
	jit/record.c \
	jit/record_string.c \
	jit/ops_call.c \
	jit/ops_jump.c \
	jit/ops_table.c \
	jit/expr.c \
	jit/actions.c \
	jit/item.c \
	jit/compile.c \
	jit/stubs.c \
	jit/stub_calls.c \
	jit/copy.c \
	hit/fetch.c \
	hit/cfi.c \
	hit/maple.c \
	hit/mapped.c \
	hit/hit.c \
	hit/variable.c \
	hit/returns.c \
	hit/settle.c \
	hit/undo.c \
	hit/lines.c \
	hit/lost.c \
	hit/stacks.c \
	hit/ustack.c \
	hit/walk.c \
	pad/cond.c \
	pad/frame.c \
	pad/pad.c \
	pad/update.c \
	probe/arm.c \
	probe/user/elf.c \
	probe/user/exits.c \
	probe/user/frames.c \
	probe/user/sdt.c \
	probe/sample/place.c \
	probe/watch/place.c \
	probe/policy/debugfs_text.c \
	probe/policy/symbol_name.c \
	trace/buffer.c \
	trace/frame.c \
	trace/index.c \
	trace/sdata.c \
	trace/tfile.c \
	export/header.c \
	export/file.c \
	export/stream.c \
	regions/insn.c \
	regions/region.c \
	regions/table.c

# Every folder whose sources can become part of the module, from the top layer down: a folder may use
# only the folders that follow it in this list.
GTP_FOLDERS := kernel stub export session probe/jump probe/event probe/call probe/user probe/sample probe/watch probe/kprobe probe/policy kernel/pad pad probe kernel/hit hit kernel/jit jit tracepoint aggregate trace regions agentexpr transport kernel/base base

# The folders whose sources, including those in subfolders, run only in a kernel. The sources of all
# other folders are independent of their host.
GTP_HOSTED := kernel probe

# GTP_X86 lists the files that a port to another processor has to rewrite: only their code may name a register, an opcode
# or an instruction of x86-64. tests/structure fails if another file names one. Tests are exempt. These files contain only
# data for x86-64, and are not in the list: base/target_xml.h, probe/user/elf.c and sdt.c, blacklist.c, cexpr/headers.py,
# commands/syscall.py in gdbscripts/gtp (names of system calls), formats/tracefile.py (the number of rip), and the
# developers' ax programs in tools/dev (names of registers). user/process/process.c attaches only to programs for x86-64.
#
# The layout of a hit's registers; the time stamp counter; offsets in the GS segment, and endbr64.
GTP_X86 := base/cpu.h base/compat.h base/regs.h
# Generated code: the encoder, the compiler, jump pads, and the memory for generated code.
GTP_X86 += jit/* pad/* kernel/jit/* kernel/pad/* user/jit/*
# Jumps in a process: the registers of its threads, system calls, and signal frames.
GTP_X86 += user/inject/*
# The decoder of instructions, and the rules for the code that a 5-byte jump may replace.
GTP_X86 += regions/* tools/regions/*
# The compiler of call frame information.
GTP_X86 += tools/unwind/*
# The agent in a process, and the code that its host writes there.
GTP_X86 += user/agent/* user/host/* tools/attach/enter.c tools/attach/fit.c tools/attach/image.S
# The handling of a hit in the kernel: interrupts, faults, the TSC, stacks of the kernel and of programs.
GTP_X86 += hit/cfi.c hit/ustack.c hit/walk.c kernel/hit/access_kernel.c kernel/hit/irqsave_notrace.h
GTP_X86 += kernel/hit/hit_kernel.c kernel/hit/stack_kernel.c kernel/hit/ustack_kernel.c kernel/hit/walk_kernel.c
# The search for the return instructions of a program's function.
GTP_X86 += probe/user/exits.c
# Kernel code that is patched: int3, jumps, ftrace sites, and the code at a kprobe.
GTP_X86 += probe/shadow.c probe/jump/* probe/policy/entry.c probe/kprobe/kprobe.c probe/kprobe/kprobe_text.c
# Entries in assembly, and the registers that contain the arguments of a kernel tracepoint.
GTP_X86 += probe/regs_entry.S probe/event/event_data.c probe/event/event_entry.S probe/event/event_record.S
# In GDB: the search for return instructions in a program's function; the operands of USDT markers.
GTP_X86 += gdbscripts/gtp/places/exits.py gdbscripts/gtp/formats/stapsdt.py
# In GDB: the registers of arguments and return values, by name.
GTP_X86 += gdbscripts/gtp/places/recordcode.py gdbscripts/gtp/view/columns.py
GTP_X86 += gdbscripts/gtp/cexpr/lower.py gdbscripts/gtp/cexpr/pieces.py gdbscripts/gtp/cexpr/registers.py
GTP_X86 += gdbscripts/gtp/cexpr/ret.py
# In GDB: the stack pointer, which tells nested calls apart; call instructions in the disassembler's text.
GTP_X86 += gdbscripts/gtp/run/onecall.py gdbscripts/gtp/places/below.py

# Detect features of the kernel in its headers, because the version number does not show them. See
# GTP_SYSCORE(), gtp_trace_puts() and gtp_call_after_atomic_readers() in base/compat.h.
GTP_COMPAT_FLAGS = \
	$(if $(shell grep -sw register_syscore $(srctree)/include/linux/syscore_ops.h),-DGTP_SYSCORE_HAS_DATA) \
	$(if $(shell grep -sw tracepoint_srcu $(srctree)/include/linux/tracepoint.h),-DGTP_TRACEPOINTS_HAVE_SRCU) \
	$(if $(shell grep -s '__trace_puts(unsigned long ip, const char \*str);' $(srctree)/include/linux/trace_printk.h),-DGTP_TRACE_PUTS_HAS_NO_SIZE)
