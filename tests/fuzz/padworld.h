/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An environment that runs jump pads: the original code, and the same code reached through a pad,
 * start with the same registers.
 */
#ifndef _GTP_PADWORLD_H
#define _GTP_PADWORLD_H

#include "user/jit/exec_user.h"
#include "jit/x86_emit.h"
#include "pad/pad.h"
#include "tests/fuzz/axgen.h"
#include "tests/fuzz/padtask.h"

/* struct padworld_regs - registers in the processor's order, on which assembly depends */
struct padworld_regs {
	u64 gpr[X86_NR_REGS];
	u64 flags;
};

/**
 * struct padworld_hit - how pad_hit was called
 * @regs: the registers; rsp is its value without the pushed word and the return address
 * @number: the word that was pushed
 * @count: how often pad_hit was called
 */
struct padworld_hit {
	struct padworld_regs regs;
	u64 number;
	u64 count;
};

enum {
	PADWORLD_AT = 0x100,   /* offset of the region in the page of the original code */
	PADWORLD_DATA = 0x800, /* offset of the data that the region may read and write */
	PADWORLD_DATA_SIZE = 0x40,
	PADWORLD_STACK = 0x30000000,
	PADWORLD_STACK_SIZE = 1 << 20,
	PADWORLD_LIMIT = 0x7fff0000,
	PADWORLD_NUMBER = 0x2aaaaaaa,
};

/*
 * These functions are in assembly. padworld_enter() loads all registers and jumps to the entry, all
 * landings jump to padworld_exit(), and pads call padworld_pad_hit() as pad_hit.
 */
void padworld_enter(const struct padworld_regs *regs);
void padworld_exit(void);
void padworld_pad_hit(void);

/*
 * Landings: the code at which control arrives when it leaves the region. The first landing is
 * directly after the region.
 */
enum {
	PADWORLD_BEHIND = 1,
	PADWORLD_NEAR, /* within reach of short jumps */
	PADWORLD_FAR,  /* within reach of 32-bit displacements; also for returns */
	PADWORLD_NR_LANDINGS,
};

/* The variables that pads read without a call; conditions do not read PADWORLD_CALLED. */
enum {
	PADWORLD_CPU = 1,
	PADWORLD_CALLED,
	PADWORLD_SELF,
	PADWORLD_PID,
	PADWORLD_CONTEXTS,
	PADWORLD_RING,
	PADWORLD_REGS,
	PADWORLD_NR_VARS,
};

/* The first of two variables that have a value for each task. */
enum { PADWORLD_TASKS = 40 };

/**
 * struct padworld - the environment
 * @code: the arena for pads
 * @place: the arena for the original code
 * @task: the task that pads mark, if code->target.task says so
 */
struct padworld {
	struct jit_user *code;
	struct jit_user *place;
	struct padtask task;
};

/* padworld - return the environment, which the first call makes */
struct padworld *padworld(void);

/*
 * padworld_at - return the region's address; padworld_landing - return the address of any landing
 * except the first
 */
u64 padworld_at(void);
u64 padworld_landing(u32 id);

/* padworld_put - write the region's bytes to their address, with the first landing after them */
void padworld_put(const u8 *bytes, u32 len);

/* padworld_data - return the data that instructions use, to be set and compared */
u8 *padworld_data(void);

/**
 * padworld_run() - load these registers, jump to the entry, and return when a landing is reached
 * @regs: the registers before; receives the registers at the landing
 * @entry: the address to jump to
 * @hit: receives how pad_hit was called; cleared first
 *
 * Return: the landing.
 */
u32 padworld_run(struct padworld_regs *regs, u64 entry, struct padworld_hit *hit);

/**
 * padworld_make() - plan and emit a pad
 * @req: the request; its members that describe the environment are filled in
 * @len: receives the length of the pad in bytes
 *
 * Return: the address of the pad; 0 if it was refused.
 */
u64 padworld_make(struct gtp_pad_request *req, u32 *len);

/* struct padworld_read - what an expression has read: the ctx of padworld_ops */
struct padworld_read {
	u64 rsp;      /* memory below this address has changed */
	bool careful; /* some of the memory cannot be read without a call */
	bool below;   /* some of the memory was below rsp */
};

extern const struct ax_ops padworld_ops;

/* padworld_gtp_regs - convert registers to the interpreter's form */
void padworld_gtp_regs(struct gtp_regs *to, const struct padworld_regs *from);

/* padworld_pages - give a generator the addresses of padworld's memory */
void padworld_pages(struct axgen *g);

/*
 * padworld_ways - the enum ax_tsv_way of each variable; padworld_used - return the count in
 * gtp_tasks_used, or what stands in for it, of the running task's bucket
 */
extern const u8 padworld_ways[];
u32 *padworld_used(void);

/*
 * padworld_choose_task - choose whether the task has disabled page faults, or is already inside a
 * pad that reads memory, or neither
 */
void padworld_choose_task(struct axgen *g);

#endif /* _GTP_PADWORLD_H */
