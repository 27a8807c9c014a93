// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the addresses to which signal handlers of another process will return.
 *
 * The kernel writes a frame onto the stack before it starts a handler, and reads the registers from
 * it after the handler. Nothing leads to these frames: the stacks have to be searched. A frame is
 * told by the word that holds the segment registers, which programs have no reason to make, and
 * then by its flags and addresses.
 *
 * The reads stop at the first page that the process itself could not read, such as the guard page
 * of the next thread's stack.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/uio.h>

#include "user/inject/frames.h"

/* Offsets in the kernel's struct rt_sigframe. */
enum {
	FRAME_RETURN = 0, /* the address to which the handler returns, which calls rt_sigreturn */
	FRAME_FLAGS = 8,
	FRAME_RSP = 168,
	FRAME_RIP = 176,
	FRAME_SEGMENTS = 192, /* cs, gs, fs, ss: 16 bits each */
	FRAME_BYTES = 200,
};

enum {
	CHUNK = 16 << 10,
	STACKS = 8,	  /* the most stacks of one thread: nested handlers on several of them */
	KNOWN_FLAGS = 15, /* of the frame: xstate, ss is valid, strict ss, and one to come */
};

#define SEGMENTS 0x002b000000000033ULL /* cs 0x33, ss 0x2b: 64-bit code */
#define USER_END 0x800000000000ULL

/**
 * struct search - the stacks of a thread
 * @from, @to, @n: the pieces that have been searched, or will be
 */
struct search {
	u32 tid;
	int (*fn)(void *arg, u64 at, u64 ip);
	void *arg;
	u64 from[STACKS], to[STACKS];
	u32 n;
};

bool gtp_frames_possible(const struct gtp_process *p)
{
	char text[4096], *at;

	if (gtp_process_file(p, "status", text, sizeof(text)) <= 0)
		return true;
	at = strstr(text, "\nSigCgt:");
	return !at || strtoull(at + 8, NULL, 16);
}

static u32 read_some(u32 tid, u8 *to, u64 from, u32 len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)from, len };
	ssize_t n = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);

	return n > 0 ? (u32)n : 0;
}

/*
 * Note that another stack has to be searched, unless it is in a piece that is known already. When a
 * handler has returned to the code that calls rt_sigreturn, the frame begins 8 bytes below the
 * stack pointer.
 */
static void add(struct search *s, u64 sp)
{
	u64 from = (sp - 8) & ~15ULL;
	u32 i;

	for (i = 0; i < s->n; i++)
		if (from >= s->from[i] && from < s->to[i])
			return;
	if (s->n == STACKS || from >= USER_END)
		return;
	s->from[s->n] = from;
	s->to[s->n++] = from + GTP_FRAMES_DEPTH;
}

static u64 word(const u8 *frame, u32 at)
{
	u64 v;

	memcpy(&v, frame + at, sizeof(v));
	return v;
}

static bool is_frame(const u8 *frame)
{
	return word(frame, FRAME_FLAGS) <= KNOWN_FLAGS && word(frame, FRAME_RSP) < USER_END &&
	       word(frame, FRAME_RIP) < USER_END && word(frame, FRAME_RETURN) < USER_END &&
	       word(frame, FRAME_RETURN);
}

/*
 * Search @len bytes that have been read from @addr, a multiple of 16. The kernel puts frames at
 * multiples of 16, plus 8. The first bytes of a frame may be in front, as the caller keeps them.
 */
static int search_chunk(struct search *s, const u8 *bytes, u64 addr, u32 len)
{
	u32 at;
	int err;

	for (at = 8; at + FRAME_BYTES <= len; at += 16) {
		if (word(bytes, at + FRAME_SEGMENTS) != SEGMENTS || !is_frame(bytes + at))
			continue;
		err = s->fn(s->arg, addr + at + FRAME_RIP, word(bytes + at, FRAME_RIP));
		if (err)
			return err;
		add(s, word(bytes + at, FRAME_RSP));
	}
	return 0;
}

/*
 * Search one stack, in chunks that overlap by the length of a frame. Most stacks end soon, so the
 * first chunks are small.
 */
static int search_stack(struct search *s, u32 i)
{
	static u8 bytes[CHUNK];
	const u32 overlap = (FRAME_BYTES + 15) & ~15U;
	u64 addr = s->from[i];
	u32 want = CHUNK / 8, len;
	int err;

	while (addr < s->to[i]) {
		len = read_some(s->tid, bytes, addr, want);
		err = search_chunk(s, bytes, addr, len);
		if (err)
			return err;
		if (len < want) {
			s->to[i] = addr + len;
			return 0;
		}
		addr += want - overlap;
		want = CHUNK;
	}
	return 0;
}

int gtp_frames_walk(u32 tid, u64 sp, int (*fn)(void *arg, u64 at, u64 ip), void *arg)
{
	struct search s = { .tid = tid, .fn = fn, .arg = arg };
	int err = 0;
	u32 i;

	add(&s, sp);
	for (i = 0; !err && i < s.n; i++)
		err = search_stack(&s, i);
	return err;
}
