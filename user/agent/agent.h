/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent: the code and the data of gdbtp that lie inside a traced process.
 *
 * The agent is passive: it has no thread, no signal handler, no file, no library. Jumps in the
 * process's code lead to pads, and pads call the agent's code at a hit. All else (definitions,
 * compiler, patching, reading the frames) is done by a program outside, the host. The agent's code
 * consists of the same sources as the module, linked into one image (user/agent/image.h).
 *
 * Memory in the process:
 *
 *	the image	read and execute; the host writes it
 *	struct gtp_agent	private, and filled with zeros in a forked child (MADV_WIPEONFORK)
 *	stacks of hits	private; one for each part
 *	everything else	at the same addresses in the host: struct gtp_agent_shared, the parts,
 *			the run, the tracepoints, the buffers. So pointers are valid on both
 *			sides, and the frames outlive the process
 *
 * A forked child has the jumps and the pads, but its table of threads is empty, and @on is 0: so
 * each hit passes through, and the child writes nothing that it shares with its parent. If a signal
 * handler forks in the middle of a hit, the child ends that hit, and may spoil its frame.
 */
#ifndef _GTP_AGENT_H
#define _GTP_AGENT_H

#include "hit/run.h"
#include "pad/request.h"
#include "user/agent/image.h"
#include "user/agent/layout.h"

/**
 * struct gtp_agent_part - what the hits of one thread write
 * @stack_top: the end of the stack on which its hits run; 0: they run on the thread's stack
 * @on_stack: true while a hit uses the stack: then a hit in a signal handler is counted as nested
 * @key: the thread's key, the word at the beginning of its FS segment; 0: no thread has the part
 * @lines: the lines of dprintfs; NULL: there is no room for any
 * @cpu: the rest, as for a CPU in the kernel; @id is the number of the part
 *
 * A part that a thread has claimed keeps its key after the thread has ended. A later thread that
 * has the same key, because its control block is at the same address, uses the part.
 */
struct gtp_agent_part {
	u64 stack_top;
	u32 on_stack;
	u32 unused;
	u64 key;
	struct gtp_lines *lines;
	u64 apart[4]; /* padding: @cpu begins a cache line */
	struct gtp_cpu cpu;
};

/* struct gtp_agent_slot - an entry of the table of threads, see enum gtp_pad_parts */
struct gtp_agent_slot {
	u64 key;
	struct gtp_cpu *cpu;
};

enum {
	GTP_AGENT_MAPS = 64,
	GTP_AGENT_LOCK_WORDS = 8,
	GTP_AGENT_OWNER = 0x3fffffff, /* FUTEX_TID_MASK */
	GTP_AGENT_NUMBERS = 16384,    /* most pads: GTP_TRACEPOINTS_MAX */
};

/* struct gtp_agent_map - a range of addresses that stay mapped and readable: [start, end) */
struct gtp_agent_map {
	u64 start, end;
};

/**
 * struct gtp_agent_jump - a jump in the process
 * @at, @pad: the address of the jump, and where it leads; @at 0: none
 * @bytes: the bytes that it has replaced
 */
struct gtp_agent_jump {
	u64 at, pad;
	u8 bytes[8];
};

/* struct gtp_agent_left - the memory that is mapped for the agent, and its jumps */
struct gtp_agent_left {
	u64 code, code_bytes;
	u64 agent, agent_bytes;
	u64 space, space_bytes;
	struct gtp_agent_jump jump[GTP_AGENT_NUMBERS];
};

/*
 * union gtp_agent_lock - a robust pthread_mutex_t; its first word has the number of the thread that
 * holds it, for the kernel
 */
union gtp_agent_lock {
	u32 word;
	u64 room[GTP_AGENT_LOCK_WORDS];
};

/**
 * struct gtp_agent_shared - what the host and all threads share
 * @magic: GTP_AGENT_MAGIC
 * @clock: converts the time stamp counter to ns of CLOCK_MONOTONIC
 * @wall: the time of day, in ns since the epoch, minus CLOCK_MONOTONIC
 * @tid_at: offset from a thread's key to its id, in the thread's control block; 0: not known
 * @may_call: true if the agent may use the system calls gettid and process_vm_readv, which a
 *	seccomp filter of the process may forbid
 * @pid: the process's number as the process itself knows it
 * @owner: a lock that the host holds as long as it lives
 * @left: what a later host needs to remove the agent after this host was killed
 * @stopping: set to 1 by the hit that ends the run
 * @tsv_lock: the lock of the trace state variables: 1 while a thread has it
 * @tsv_stuck: true if a thread has waited for the lock in vain
 * @no_part: hits that were lost because all parts were taken
 * @no_text: texts of printf that were dropped: there is no place for them
 * @nmaps, @map: the ranges that are known to stay mapped, ordered by address; written only while
 *	no hit is possible
 * @nparts, @part: the parts
 * @claimed: the number of parts that threads have claimed
 * @first: by the number of a pad, the first tracepoint of its location; NULL: there is none
 */
struct gtp_agent_shared {
	u64 magic;
	struct gtp_calibration clock;
	u64 wall;
	s64 tid_at;
	bool may_call;
	u32 pid;
	union gtp_agent_lock owner;
	struct gtp_agent_left left;
	u32 stopping;
	u32 tsv_lock;
	bool tsv_stuck;
	u64 no_part;
	u64 no_text;
	u32 nmaps;
	u32 nparts;
	u32 claimed;
	struct gtp_agent_map map[GTP_AGENT_MAPS];
	struct gtp_agent_part **part;
	struct gtp_tracepoint *first[GTP_AGENT_NUMBERS];
};

/**
 * struct gtp_agent - what a forked child must not have
 * @on: 0 in a forked child
 * @slot: the table of threads. The thread that owns a part writes its entry, and others skip it
 */
struct gtp_agent {
	u64 on;
	u64 apart[7]; /* padding up to GTP_AGENT_SLOT_AT */
	struct gtp_agent_slot slot[GTP_PAD_PARTS];
};

static_assert(offsetof(struct gtp_agent, slot) == GTP_AGENT_SLOT_AT, "as in layout.h");
static_assert((u32)GTP_AGENT_HASH == (u32)GTP_PAD_PARTS_HASH, "as in layout.h");
static_assert((u32)GTP_AGENT_SHIFT == (u32)GTP_PAD_PARTS_SHIFT, "as in layout.h");
static_assert(sizeof(struct gtp_agent_slot) == 16, "as entry.S and pads expect");
static_assert(offsetof(struct gtp_agent_part, cpu) == GTP_AGENT_CPU_AT, "as in layout.h");
static_assert(offsetof(struct gtp_agent_part, stack_top) == GTP_AGENT_STACK_TOP, "as in layout.h");
static_assert(offsetof(struct gtp_agent_part, on_stack) == GTP_AGENT_ON_STACK, "as in layout.h");
static_assert(offsetof(struct gtp_cpu, nested) == GTP_AGENT_NESTED, "as in layout.h");

/*
 * gtp_agent_has_owner - true if the host lives. When it ends, also by SIGKILL, the kernel removes
 * its number from the word of the lock that it holds
 */
static inline bool gtp_agent_has_owner(const struct gtp_agent_shared *shared)
{
	return READ_ONCE(shared->owner.word) & GTP_AGENT_OWNER;
}

/* gtp_agent_may_call - true if a hit may make system calls */
static inline bool gtp_agent_may_call(const struct gtp_agent_shared *shared)
{
	return READ_ONCE(shared->may_call) && gtp_agent_has_owner(shared);
}

/* gtp_agent_part_of - return the part of a struct gtp_cpu */
static inline struct gtp_agent_part *gtp_agent_part_of(struct gtp_cpu *cpu)
{
	return container_of(cpu, struct gtp_agent_part, cpu);
}

/* gtp_agent_index - return the index in the table of threads where the search for a key begins */
static inline u32 gtp_agent_index(u64 key)
{
	return (u32)(key * GTP_PAD_PARTS_HASH >> GTP_PAD_PARTS_SHIFT);
}

#endif /* _GTP_AGENT_H */
