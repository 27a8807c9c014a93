/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a connection to GDB, and the functions that the connection needs from its host. */
#ifndef _GTP_CONNECTION_H
#define _GTP_CONNECTION_H

#include "base/base.h"
#include "base/parse.h"
#include "base/part.h"
#include "export/file.h"
#include "session/trace.h"
#include "stub/process.h"
#include "transport/rsp.h"

struct gtp_stub;

/**
 * struct gtp_marker - a kernel tracepoint, which GDB calls a static tracepoint marker
 * @addr: the address at which GDB sets a static tracepoint on the marker
 * @id: "system:event", or "raw:name"
 * @extra: the event's fields, "TYPE NAME; ..."; may be empty
 */
struct gtp_marker {
	u64 addr;
	const char *id;
	const char *extra;
};

enum {
	GTP_SAVE_NAME_MAX = 255,  /* most characters of a trace file's name from GDB */
	GTP_FILE_NAME_MAX = 4095, /* most characters of a program's path */
	GTP_FILE_ID_MAX = 65,	  /* characters of a build-id in hex, and a NUL */
};

/**
 * struct gtp_stub_ops - the functions that a connection to GDB needs from its host, in addition to
 * those of the trace session; process context, may sleep
 * @read: copy live kernel memory; return 0 or -EFAULT
 * @write: change memory; return 0, -EFAULT, or -EPERM if writes are not allowed
 * @release: the kernel's release, such as "6.1.0-28-amd64"
 * @save: write the trace file of the stopped run to a new file (QTSave). @name has no '/'; the host
 *        has configured the folder. Return 0 or -errno with @why
 * @now_ms: return the time in ms of a monotonic clock, for keep-alives
 * @marker: describe kernel tracepoint number @n, counted from 0: fill in @m, and write its texts to
 *          the @size bytes at @text. Return 0, or -ENOENT if there is no such number (NULL: the
 *          target has no kernel tracepoints)
 * @marker_at: return the number of the kernel tracepoint whose marker is at an address, or -ENOENT
 * @file: find or create the file space (see base/space.h) of a program's file. Store its first
 *        address in @base, and the file's build-id as hex digits in @id, which has GTP_FILE_ID_MAX
 *        characters; "" if it has none. Return 0 or -errno with @why (NULL: programs cannot be
 *        traced)
 * @exits: store where a function of a program ends. @addr is an address that every call of the
 *         function passes; there the return address is @above bytes above the stack pointer. @list
 *         is the text of the exits.
 *         Return 0 or -errno with @why (NULL: programs cannot be traced)
 * @frames: store a part of a program's call frame information. @addr is an address in the file's
 *          space, or 0 for the vDSO. Return 0 or -errno with @why (NULL: programs cannot be traced)
 * @lines: print the waiting lines of dprintfs now, because GDB begins to wait for them or is about
 *         to get a stop reply (NULL: the host does that by itself)
 * @process: the functions for a process as the target (NULL: the target is the kernel)
 * @monitor: execute a `monitor` command that the stub does not know; print with gtp_stub_print().
 *           Return 0, -ENOENT if the host does not know the command either, or -errno with @why
 *           (NULL: the host has no commands). Also called with "help", to print a line about each
 *           command of the host
 *
 * Each function gets the @ctx of gtp_stub_init(). Tests use it to distinguish their simulated
 * hosts. There is only one kernel, so the kernel's functions do not use @ctx. The same holds for
 * struct gtp_target_ops and struct gtp_hit_ops.
 */
struct gtp_stub_ops {
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	int (*write)(void *ctx, u64 addr, const void *src, u32 len);
	const char *(*release)(void *ctx);
	int (*save)(void *ctx, const char *name, struct gtp_why *why);
	u64 (*now_ms)(void *ctx);
	int (*marker)(void *ctx, u32 n, struct gtp_marker *m, char *text, size_t size);
	int (*marker_at)(void *ctx, u64 addr);
	int (*file)(void *ctx, const char *path, u64 *base, char *id, struct gtp_why *why);
	int (*exits)(void *ctx, u64 addr, u32 above, struct gtp_in *list, struct gtp_why *why);
	int (*frames)(void *ctx, u64 addr, const struct gtp_part *part, struct gtp_why *why);
	void (*lines)(void *ctx);
	const struct gtp_process_ops *process;
	int (*monitor)(void *ctx, struct gtp_stub *stub, const char *command, struct gtp_why *why);
};

enum {
	GTP_NOTICE_MAX = 1024,
	GTP_KEEP_ALIVE_MS = 2000, /* GDB gives up after three times its remotetimeout of 2 s */
	GTP_NUDGE_MS = 500,	  /* each character received makes GDB wait 2 s more */
};

/**
 * struct gtp_stub - the state of one connection to GDB
 * @rsp: the framing of packets
 * @trace: the trace session, which connections use one after another
 * @ops, @send, @ctx: the connection's host, set by gtp_stub_init()
 * @frame: the number of the frame that GDB has selected; -1: none, GDB reads live memory
 * @frame_before: the value of @frame before the last packet
 * @raw_epoch: the epoch of the frames when qTBuffer began to read them
 * @thread: the thread of a process whose registers GDB reads
 * @waiting: true while GDB waits for a stop reply, after `continue`
 * @noisy: true if O packets may precede the reply to the packet being handled
 * @no_reply: true if the packet being handled gets no reply, or gets it later
 * @quiet_since_ms: the time of the last packet or reply; after a long silence GDB gives up
 * @upload_tp, @upload_piece, @upload_var: positions of qTsP and qTsV. They are ordinals, because
 *           definitions can be removed between two packets
 * @upload_at: the tracepoint at position @upload_tp of the list; valid as long as @upload_removed
 *	equals @removed of the list
 * @upload_removed: the value of @removed of the list when @upload_at was found
 * @upload_marker: position of qTsSTM, also an ordinal
 * @notice, @notice_len, @notice_cut: text that could not be shown yet; sent as O packets before the
 *           next noisy reply
 * @trace_file: the trace file that qXfer:gtpframe:read returns; it is open if it has a header
 * @reply: the reply that is being built, in GTP_PACKET_MAX + 1 bytes
 * @in: the packet being handled; after parsing it, a handler may use it as scratch memory
 * @last: memory that @rsp uses
 *
 * Protected by the caller's lock. The receiver of ->send may transmit the bytes concurrently.
 */
struct gtp_stub {
	struct gtp_rsp rsp;
	struct gtp_trace *trace;
	const struct gtp_stub_ops *ops;
	void (*send)(void *ctx, const void *bytes, u32 len);
	void *ctx;
	s64 frame;
	s64 frame_before;
	u64 raw_epoch;
	u32 thread;
	bool waiting;
	bool noisy;
	bool no_reply;
	u64 quiet_since_ms;
	u32 upload_tp;
	u32 upload_piece;
	u32 upload_var;
	const struct gtp_tracepoint *upload_at;
	u64 upload_removed;
	u32 upload_marker;
	char notice[GTP_NOTICE_MAX];
	u32 notice_len;
	bool notice_cut;
	struct gtp_file trace_file;
	struct gtp_out reply;
	char *in;
	u8 *last;
};

/* gtp_stub_target - return "kernel" or "process", the word for the target in messages */
static inline const char *gtp_stub_target(const struct gtp_stub *s)
{
	return s->ops->process ? "process" : "kernel";
}

#endif /* _GTP_CONNECTION_H */
