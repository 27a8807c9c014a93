/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints as GDB defines them: one list, with their conditions, actions and source texts.
 */
#ifndef _GTP_TRACEPOINT_H
#define _GTP_TRACEPOINT_H

#include "agentexpr/ax.h"
#include "base/base.h"
#include "base/mem.h"
#include "base/why.h"
#include "tracepoint/plan.h"

struct gtp_location;

enum {
	GTP_TP_NUM_MAX = 0xfffe,       /* a trace file has 16 bits for the number */
	GTP_TP_LOST = 0xffff,	       /* the number in a frame that reports lost frames */
	GTP_TRACEPOINTS_MAX = 16384,   /* most definitions */
	GTP_TRACEPOINT_BUCKETS = 1024, /* number of buckets; a power of two */
	GTP_ACTIONS_MAX = 1024,	       /* most actions of one tracepoint */
	GTP_CODE_MAX = 1 << 18,	       /* most bytes of its expressions, to bound a hit's time */
	GTP_PARTS_MAX = 16 << 20,      /* bytes of memory for the parts of all tracepoints */
	GTP_SLOT_NONE = 0x7fffffff,    /* the slot of a tracepoint without counters */
	GTP_TITLE_MAX = 40,	       /* bytes of a tracepoint's name in a message */
};

/* struct gtp_expr - a verified expression and its bytecode, in one allocation */
struct gtp_expr {
	struct ax_verified ax;
	void *compiled; /* machine code; NULL: the interpreter runs the expression */
	u32 compiled_len;
	bool early; /* @compiled may run before a hit begins, see ax_jit_can_early() */
};

enum gtp_action_kind {
	GTP_ACTION_REGS,   /* R */
	GTP_ACTION_MEM,	   /* M */
	GTP_ACTION_EXPR,   /* X */
	GTP_ACTION_STATIC, /* L: $_sdata */
};

/* gtp_action_letter - return the letter that GDB uses for an action: 'R', 'M', 'X', or 'L' */
static inline char gtp_action_letter(enum gtp_action_kind kind)
{
	return "RMXL"[kind];
}

/**
 * struct gtp_action - an action of a tracepoint; actions are listed in the order in which GDB sent
 * them
 * @mask: REGS: GDB's register mask, limited to the registers of a hit
 * @base: MEM: the register to which @offset is added, -1: none
 * @offset: MEM: the address, or the offset from @base
 * @len: MEM: the number of bytes
 * @expr: EXPR: the expression, allocated separately
 * @sets_key: EXPR: true if the expression sets a key of aggregations; valid after tstart
 * @text: the action's text in the packet ("R0f", "M-1,addr,len", "X00000004,..."), for qTfP;
 *        NUL-terminated, in the same allocation
 */
struct gtp_action {
	struct gtp_action *next;
	enum gtp_action_kind kind;
	u64 mask;
	s32 base;
	u64 offset;
	u64 len;
	struct gtp_expr *expr;
	bool sets_key;
	char text[];
};

/* struct gtp_source - a QTDPsrc piece: "at", "cond" or "cmd" and its hex text, kept for qTfP */
struct gtp_source {
	struct gtp_source *next;
	u32 start;
	u32 len;
	char type[16];
	char hex[];
};

/**
 * struct gtp_tracepoint - one (number, address) pair; if a tracepoint of GDB has several locations,
 * there is a struct gtp_tracepoint for each
 * @next, @prev: link the list of all tracepoints, in the order in which GDB sent them
 * @next_here: the next tracepoint at the same location, while armed
 * @next_key, @next_num: the next tracepoint in the same bucket of @by_key and @by_num of the list;
 *     @next_run: the next in the same bucket of @by_num of the run
 * @num: GDB's number, 1 to GTP_TP_NUM_MAX
 * @addr: the run-time address, as GDB sent it
 * @enabled: GDB's setting for the tracepoint, with which a run begins
 * @on: true if hits count. GDB, and hits that switch the tracepoint, may change @on while it is
 *     armed; a hit reads it once
 * @pass: the pass count, 0: none
 * @slot: index into every CPU's counters; GTP_SLOT_NONE if the tracepoint was not in a run yet
 * @cond: the condition of the tracepoint; NULL: every hit counts
 * @actions: the first of the tracepoint's actions, which follow each other in order
 * @code: machine code of all actions as one snippet; NULL: each action runs by itself
 * @frame_bytes: the number of bytes that @code collects
 * @code_len: the size of @code
 * @plan: the fast path for hits; points to @code and to the condition's machine code
 * @sources: the first of the source texts, which follow each other in order
 * @nactions: the number of actions
 * @code_bytes: the bytes of bytecode of all expressions
 * @part_bytes: the bytes of memory for @cond, @actions and @sources
 * @pass_hits: the number of hits so far on all CPUs; counted only if @pass is set
 * @dprintf: for a dprintf, its counters on each CPU; otherwise NULL. A dprintf has one action, and
 *     a hit prints a line of text instead of writing a frame
 * @loc: the location in the current or the stopped run; NULL if there is none, or if @gone
 * @is_static: true if GDB's command strace has set it: @addr is the marker of a kernel tracepoint
 * @fast: true if GDB's command ftrace has set it; @fast_len is the instruction's length according
 *	to GDB
 * @sdata: true if an action collects $_sdata
 * @switched: true if the actions of a tracepoint may set @on of this one
 * @self_trace: true if hits of GDB's own tasks count, too
 * @only_updates: true if all actions only update aggregations: a hit writes no frame
 * @at_return: true if hits are reported when the function returns, see tracepoint/at_return.h;
 *     @cond_at_return: the condition can be evaluated only at the return; @cond_entry_clock: the
 *     condition names $entry_clock; @latency: the condition or an action names $latency
 * @reads: true if the condition or an action reads memory, or sets a variable, which may be a
 *     string; @cond_reads: true if the condition does
 * @gone: true if the module that contained @addr has been unloaded
 * @several: true if GDB's tracepoint has other locations, so that frames must say which was hit
 * @defining: true if GDB may still send continuations of the definition
 * @repeated: true if GDB has sent the definition again; then its continuations are repetitions, too
 */
struct gtp_tracepoint {
	struct gtp_tracepoint *next;
	struct gtp_tracepoint *prev;
	struct gtp_tracepoint *next_here;
	struct gtp_tracepoint *next_key;
	struct gtp_tracepoint *next_num;
	struct gtp_tracepoint *next_run;
	u32 num;
	u64 addr;
	bool enabled;
	bool on;
	bool is_static;
	bool fast;
	bool sdata;
	bool switched;
	bool self_trace;
	bool only_updates;
	bool at_return;
	bool cond_at_return;
	bool cond_entry_clock;
	bool latency;
	bool reads;
	bool cond_reads;
	bool gone;
	bool several;
	bool defining;
	bool repeated;
	u32 fast_len;
	u32 nactions;
	u32 code_bytes;
	u32 part_bytes;
	u64 pass;
	u64 pass_hits;
	u32 slot;
	struct gtp_expr *cond;
	struct gtp_action *actions;
	void *code;
	u32 frame_bytes;
	u32 code_len;
	struct gtp_hit_plan plan;
	struct gtp_source *sources;
	struct gtp_dprintf_count *dprintf;
	struct gtp_location *loc;
};

/* struct gtp_dprintf_count - counters of a dprintf on one CPU, written only by that CPU */
struct gtp_dprintf_count {
	u64 hits;     /* hits whose condition was true or could not be evaluated */
	u64 dropped;  /* the part of @hits for whose line there was no room */
	u64 apart[6]; /* padding: each CPU's counters have a cache line */
};

/**
 * struct gtp_tracepoints - all definitions, in the order in which GDB sent them
 * @first, @last: the ends of the list
 * @count: the number of definitions
 * @part_bytes: the bytes of memory for the parts of all tracepoints
 * @removed: the number of removals so far; a cached position in the list is valid only if it is
 *	unchanged
 * @by_key: tracepoints, hashed by number and address
 * @by_num: tracepoints, hashed by number; the newest first
 */
struct gtp_tracepoints {
	struct gtp_tracepoint *first;
	struct gtp_tracepoint *last;
	u32 count;
	u32 part_bytes;
	u64 removed;
	struct gtp_tracepoint *by_key[GTP_TRACEPOINT_BUCKETS];
	struct gtp_tracepoint *by_num[GTP_TRACEPOINT_BUCKETS];
};

/**
 * gtp_tracepoint_define() - handle a QTDP packet without its "QTDP:"
 * @list: receives the tracepoint
 * @mem: where memory comes from
 * @text: "N:ADDR:E:STEP:PASS[:Flen][:S][:Xlen,hex][-]", NUL-terminated
 * @why: the refusal
 * @out: receives the new tracepoint; NULL if this (number, address) exists already, which is not an
 * error
 *
 * Verifies the condition. Context: may sleep.
 * Return: 0, -EINVAL (syntax, or the verifier's refusal), -ENOMEM, -EOPNOTSUPP (while-stepping);
 * nothing is added on error. A repeated definition closes the existing one: later continuations do
 * not change it.
 */
int gtp_tracepoint_define(struct gtp_tracepoints *list, const struct gtp_mem *mem, const char *text,
			  struct gtp_tracepoint **out, struct gtp_why *why);

/**
 * gtp_tracepoint_add_actions() - handle a QTDP continuation without its "QTDP:-"
 * @list: the list that has the tracepoint
 * @mem: where memory comes from
 * @text: "N:ADDR:actions[-]", NUL-terminated
 * @why: the refusal
 *
 * A continuation for a complete tracepoint (@defining is false) is silently ignored: GDB repeats
 * definitions when it re-sets its locations during a run.
 * Return: 0, -ENOENT (no such tracepoint), -EINVAL, -ENOMEM, -EOPNOTSUPP. On error the tracepoint
 * is removed from the list: an incomplete definition must not run.
 */
int gtp_tracepoint_add_actions(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			       const char *text, struct gtp_why *why);

/*
 * gtp_tracepoint_add_source - handle a QTDPsrc packet without its "QTDPsrc:"; ignore it if the
 * definition is a repetition. Return 0 or -errno
 */
int gtp_tracepoint_add_source(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			      const char *text, struct gtp_why *why);

/*
 * gtp_tracepoint_switch - enable or disable a tracepoint, as GDB requests; hits may be in progress
 */
static inline void gtp_tracepoint_switch(struct gtp_tracepoint *tp, bool on)
{
	tp->enabled = on;
	WRITE_ONCE(tp->on, on);
}

/* gtp_tracepoint_find - return the tracepoint with this number and address, or NULL */
struct gtp_tracepoint *gtp_tracepoint_find(const struct gtp_tracepoints *list, u32 num, u64 addr);

/*
 * gtp_tracepoint_title - write "tracepoint 5" or "dprintf at 0x1234" to @buf, which has
 * GTP_TITLE_MAX bytes; return @buf
 */
const char *gtp_tracepoint_title(const struct gtp_tracepoint *tp, char *buf);

/*
 * gtp_tracepoint_refuse - describe an error in @tp's condition (@action is 0) or in its action
 * number @action, counted from 1; returns -EINVAL
 */
__printf(4, 5) int gtp_tracepoint_refuse(const struct gtp_tracepoint *tp, u32 action,
					 struct gtp_why *why, const char *fmt, ...);

/*
 * gtp_tracepoint_newest - return the tracepoint with this number that was defined last; NULL if
 * there is none
 */
struct gtp_tracepoint *gtp_tracepoint_newest(const struct gtp_tracepoints *list, u32 num);

/*
 * gtp_tracepoint_older - return the tracepoint with the same number that was defined before @tp;
 * NULL if there is none
 */
struct gtp_tracepoint *gtp_tracepoint_older(const struct gtp_tracepoint *tp);

/* gtp_tracepoints_clear - free all tracepoints; none may be armed */
void gtp_tracepoints_clear(struct gtp_tracepoints *list, const struct gtp_mem *mem);

/* gtp_tracepoint_remove - remove a tracepoint from its list and free it; it must not be armed */
void gtp_tracepoint_remove(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			   struct gtp_tracepoint *tp);

/*
 * gtp_tracepoint_free - free a tracepoint that is not on @list; subtract its parts from @part_bytes
 * of @list
 */
void gtp_tracepoint_free(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			 struct gtp_tracepoint *tp);

/* gtp_tracepoints_append - add a tracepoint; its number and address must not be on the list yet */
void gtp_tracepoints_append(struct gtp_tracepoints *list, struct gtp_tracepoint *tp);

/**
 * gtp_tracepoint_part() - allocate zeroed memory for a part of a tracepoint
 * @list: the list on which the tracepoint is, or will be
 * @tp: the tracepoint to which the part will belong
 * @mem: where memory comes from
 * @bytes: the size of the part
 * @why: the refusal
 *
 * The parts of all tracepoints are limited to GTP_PARTS_MAX. Otherwise a client could fill the
 * kernel's memory with repeated text, and the definitions at one address could keep a hit busy for
 * seconds.
 * Return: memory that @mem->free frees; NULL with @why if there is none.
 */
void *gtp_tracepoint_part(struct gtp_tracepoints *list, struct gtp_tracepoint *tp,
			  const struct gtp_mem *mem, size_t bytes, struct gtp_why *why);

/**
 * gtp_tracepoint_piece() - upload a tracepoint, piece by piece (qTfP, qTsP)
 * @tp: the tracepoint
 * @piece: 0 is its "T" line, then "A" lines, then "Z" lines
 * @buf: receives the piece, NUL-terminated
 * @size: bytes of @buf
 *
 * Return: the length; 0 if there is no such piece.
 */
int gtp_tracepoint_piece(const struct gtp_tracepoint *tp, u32 piece, char *buf, size_t size);

#endif /* _GTP_TRACEPOINT_H */
