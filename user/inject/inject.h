/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes the code of another process while it runs: memory near its code, and jumps to pads.
 *
 * All changes are made in batches. A batch begins with the stop of all threads, by ptrace, and ends
 * with their release. Between two batches the process is not traced, so this program may end, or be
 * killed, and the process goes on with the jumps that it has.
 *
 *	gtp_inject_open()
 *	gtp_inject_map()		memory near the code
 *	gtp_inject_write()		pads, hit code and data; possible at any time
 *	gtp_inject_patch()		jumps to pads
 *	gtp_inject_unpatch()		the original instructions again
 *	gtp_inject_close()		removes all jumps and all memory
 *
 * Each of these makes a batch of its own. gtp_inject_begin() and gtp_inject_end() make one batch of
 * several.
 *
 * While a thread performs a system call for us, the death of this program would leave it with the
 * wrong registers. So gtp_inject_map(), gtp_inject_unmap() and gtp_inject_close() let a child
 * process do the work, which goes on if this program is killed. In a batch of the caller they
 * cannot.
 *
 * The memory for code can be read and executed, never written, by the process itself.
 */
#ifndef _GTP_INJECT_H
#define _GTP_INJECT_H

#include "regions/region.h"
#include "user/process/process.h"

/**
 * struct gtp_patch - a jump to a pad, in place of a region's first instructions
 * @at: the address of the region
 * @region: the displaced instructions. @region.bytes must be the bytes in the process, otherwise
 *	gtp_inject_patch() refuses
 * @pad: the address to which the jump leads, within 2 GiB of @at
 * @pad_len: the bytes of the pad, all of them in one piece of memory for code. Until the pad is
 *	freed, a thread may be in any of them
 * @copy: the address in the pad of the copy of each displaced instruction. A thread at such an
 *	address must be able to continue at the original instruction, and the other way round: the
 *	same registers, flags and stack
 * @set: true while the jump is in the process; for gtp_inject_patch()
 */
struct gtp_patch {
	u64 at;
	struct gtp_region region;
	u64 pad;
	u32 pad_len;
	u64 copy[GTP_REGION_JUMP];
	bool set;
};

/* Kinds of memory in the process. */
enum gtp_inject_kind {
	GTP_INJECT_CODE, /* PROT_READ | PROT_EXEC, private */
	GTP_INJECT_DATA, /* PROT_READ | PROT_WRITE, private: a forked child has a copy */
	GTP_INJECT_WIPE, /* the same, but a forked child finds zeros (MADV_WIPEONFORK) */
};

/**
 * struct gtp_inject_near - addresses that memory must be near to
 * @lo, @hi: each byte of the memory will be within 2 GiB of each byte from @lo up to, without, @hi.
 *	@hi 0: anywhere
 */
struct gtp_inject_near {
	u64 lo, hi;
};

/* struct gtp_inject - a process that is changed */
struct gtp_inject;

/**
 * gtp_inject_open() - prepare for changing a process; this does not stop it yet
 * @p: the process, which must stay open
 * @ret: receives the new object
 * @why: receives the reason for a refusal
 *
 * Return: 0 or -errno.
 */
int gtp_inject_open(struct gtp_process *p, struct gtp_inject **ret, struct gtp_why *why);

/**
 * gtp_inject_close() - restore the process: no jump, no memory; then free the object
 * @in: the object, not in a batch; NULL is allowed
 * @why: receives the reason if something stays behind
 *
 * Puts the original instructions back, waits until all threads have left the pads, then unmaps all
 * memory. Return: 0; -EBUSY if a thread has not left the pads in time: then the original code is
 * back, and the memory stays; -ESRCH if the process has ended; or another -errno.
 */
int gtp_inject_close(struct gtp_inject *in, struct gtp_why *why);

/* gtp_inject_forget - free the object, and leave jumps and memory in the process */
void gtp_inject_forget(struct gtp_inject *in);

/*
 * gtp_inject_begin - stop all threads; return 0, or -errno with @why, and then all threads run on
 *
 * A stopped thread's system call continues or restarts as if nothing had happened.
 */
int gtp_inject_begin(struct gtp_inject *in, struct gtp_why *why);

/* gtp_inject_end - end the batch: all threads run on, and are no longer traced */
void gtp_inject_end(struct gtp_inject *in);

/**
 * gtp_inject_map() - map memory in the process
 * @in: the object
 * @kind: the kind of the memory, which is filled with zeros
 * @near: the addresses that the memory must be near to
 * @bytes: the size, rounded up to pages
 * @addr: receives the address
 * @why: receives the reason for a refusal
 *
 * Return: 0 or -errno.
 */
int gtp_inject_map(struct gtp_inject *in, enum gtp_inject_kind kind,
		   const struct gtp_inject_near *near, u64 bytes, u64 *addr, struct gtp_why *why);

/**
 * gtp_inject_unmap() - unmap memory of gtp_inject_map()
 *
 * Return: 0; -EBUSY if a thread is in the memory, or will return to it from a signal handler.
 */
int gtp_inject_unmap(struct gtp_inject *in, u64 addr, struct gtp_why *why);

/*
 * gtp_inject_write, gtp_inject_read - write to and read from the process, in a batch or not. Writes
 * also go to memory that the process itself may not write. Return 0, or -EFAULT
 */
int gtp_inject_write(struct gtp_inject *in, u64 addr, const void *src, u64 len);
int gtp_inject_read(struct gtp_inject *in, void *dst, u64 addr, u64 len);

/**
 * gtp_inject_call() - let a thread of the process perform a system call, in a batch
 * @in: the object
 * @nr: the number of the call, which must not block, create a thread, or end one
 * @args: the arguments
 * @result: receives the result, or -errno of the call
 * @why: receives the reason if the call could not be made
 *
 * Return: 0 if the call was made; or -errno.
 */
int gtp_inject_call(struct gtp_inject *in, u32 nr, const u64 args[6], s64 *result,
		    struct gtp_why *why);

/**
 * gtp_inject_apart() - do work that needs system calls of the process and must not be cut short
 * @in: the object, not in a batch
 * @fn: the work: begins and ends batches; returns 0 or -errno, and may fill in @result and @why
 * @arg: passed to @fn
 * @result, @size: receives what @fn has written to its @result; at most 256 bytes
 * @why: receives the reason for a refusal
 *
 * Runs @fn in a child process, which goes on if this program is killed, or here if the child may
 * not trace. So changes of @in in @fn may be lost: report memory that @fn has mapped by @result,
 * and pass it to gtp_inject_adopt(). Return: the result of @fn, or -errno.
 */
int gtp_inject_apart(struct gtp_inject *in, int (*fn)(void *arg, void *result, struct gtp_why *why),
		     void *arg, void *result, size_t size, struct gtp_why *why);

/**
 * gtp_inject_adopt() - take over memory that is mapped in the process already
 *
 * gtp_inject_close() unmaps it. Memory that is known is left alone. Return: 0 or -ENOMEM.
 */
int gtp_inject_adopt(struct gtp_inject *in, enum gtp_inject_kind kind, u64 addr, u64 bytes);

/**
 * gtp_inject_adopt_jumps() - take over jumps that are in the process already
 *
 * @in has no jumps yet. The arguments are those of gtp_inject_patch(). Of each jump, only @at, @pad
 * and the bytes of @region are needed. Threads in a pad stay there until they leave it themselves.
 * Return: 0 or -ENOMEM.
 */
int gtp_inject_adopt_jumps(struct gtp_inject *in, struct gtp_patch *const *patch, u32 n);

/* struct gtp_inject_thread - a thread that stands, and two of its segment registers */
struct gtp_inject_thread {
	u32 tid;
	u32 cs;
	u64 fs_base;
};

/*
 * gtp_inject_threads - list the threads, in a batch. Return an array of @n entries that the caller
 * frees, or NULL if there is no memory
 */
struct gtp_inject_thread *gtp_inject_threads(const struct gtp_inject *in, u32 *n);

/**
 * gtp_inject_patch() - put jumps into the code
 * @in: the object
 * @patch: the jumps, by pointer, in any order; they must live, at their addresses, until they are
 *	removed
 * @n: the number of jumps
 * @why: receives the reason for a refusal
 *
 * All pads must be complete. If the batch is refused, no jump of @patch is in the process. A thread
 * that stands at a displaced instruction continues at its copy.
 *
 * Return: 0; -EILSEQ if the process has other bytes at a place than the region; or another -errno.
 */
int gtp_inject_patch(struct gtp_inject *in, struct gtp_patch *const *patch, u32 n,
		     struct gtp_why *why);

/**
 * gtp_inject_unpatch() - restore the original instructions
 *
 * The arguments are those of gtp_inject_patch(). Jumps that were overwritten, or whose code was
 * unmapped, are left alone and count as removed. Threads in a copy continue in the original.
 * Threads elsewhere in a pad stay there, so the pads must remain until gtp_inject_idle().
 *
 * Return: 0 or -errno.
 */
int gtp_inject_unpatch(struct gtp_inject *in, struct gtp_patch *const *patch, u32 n,
		       struct gtp_why *why);

/**
 * struct gtp_inject_stats - what has happened in all batches of gtp_inject_begin() and of jumps
 * @batches: the number of batches
 * @stood: for how many ns, at most, a thread stood in the last batch
 * @moved, @moved_frames: how many threads were led to a copy or back; how many of them are in a
 *	signal handler, and go on there after it
 * @left_in: how many threads were left in a pad without a jump, in the middle
 */
struct gtp_inject_stats {
	u32 batches;
	u64 stood;
	u32 moved, moved_frames, left_in;
};

/* gtp_inject_stats - return the counts so far */
const struct gtp_inject_stats *gtp_inject_stats(const struct gtp_inject *in);

/**
 * gtp_inject_idle() - find out if no thread uses a range of memory for code, in a batch
 *
 * Return: true if no thread is in the range, and none will return to it from a signal handler.
 */
bool gtp_inject_idle(struct gtp_inject *in, u64 addr, u64 len);

#endif /* _GTP_INJECT_H */
