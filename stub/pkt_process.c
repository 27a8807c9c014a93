// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets about the threads of a process, and texts about the process. If the target is the kernel,
 * any thread id is accepted.
 */
#include "stub/args.h"
#include "stub/handlers.h"
#include "stub/reply.h"

/*
 * struct thread_id - an id "pPID.TID", "pPID" or "TID"; @any: it is -1 (all threads) or 0 (any
 * thread)
 */
struct thread_id {
	u32 tid;
	bool any;
};

static bool parse_number(struct gtp_in *in, u32 *n, bool *any)
{
	*any = gtp_in_word(in, "-1");
	if (*any)
		return true;
	if (!gtp_in_hex32(in, n))
		return false;
	*any = !*n;
	return true;
}

static int parse_thread(struct gtp_in *in, struct thread_id *id, struct gtp_why *why)
{
	bool all = false;
	u32 pid;

	if (gtp_in_char(in, 'p')) {
		if (!parse_number(in, &pid, &all))
			return gtp_args_bad(in, why, "a process");
		if (!gtp_in_char(in, '.')) {
			id->any = true;
			return gtp_args_end(in, why);
		}
	}
	if (!parse_number(in, &id->tid, &id->any))
		return gtp_args_bad(in, why, "a thread");
	return gtp_args_end(in, why);
}

static int no_thread(const struct thread_id *id, struct gtp_why *why)
{
	gtp_why(why, "the process has no thread %u any more", id->tid);
	return -ENOENT;
}

GTP_HANDLER(gtp_pkt_thread)
{
	gtp_out_printf(&s->reply, "QCp%x.%x", s->ops->process->pid(s->ctx), s->thread);
	return 0;
}

/* Handle H. Accept any thread in Hc, because a continue is always for the whole process. */
GTP_HANDLER(gtp_pkt_select_thread)
{
	struct thread_id id;

	if (!s->ops->process || gtp_in_char(in, 'c'))
		return gtp_reply_ok(s);
	if (!gtp_in_char(in, 'g'))
		return gtp_args_bad(in, why, "c or g");
	if (parse_thread(in, &id, why))
		return -EINVAL;
	if (!id.any && !s->ops->process->has_thread(s->ctx, id.tid))
		return no_thread(&id, why);
	if (!id.any)
		s->thread = id.tid;
	return gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_is_thread_alive)
{
	struct thread_id id;

	if (!s->ops->process)
		return gtp_reply_ok(s);
	if (parse_thread(in, &id, why))
		return -EINVAL;
	if (!id.any && !s->ops->process->has_thread(s->ctx, id.tid))
		return no_thread(&id, why);
	return gtp_reply_ok(s);
}

/*
 * Read a text about the process. The annex may have the process's id; ignore it, because there is
 * only one process.
 */
static int read_object(struct gtp_stub *s, struct gtp_in *in, enum gtp_object which,
		       struct gtp_why *why)
{
	const char *annex;
	u64 from, len;
	s64 n;

	gtp_in_until(in, ':', &annex);
	if (!gtp_in_char(in, ':'))
		return gtp_args_bad(in, why, "':'");
	if (gtp_args_hex_pair(in, ',', &from, &len, why))
		return -EINVAL;
	if (len > GTP_PACKET_MAX - 1)
		len = GTP_PACKET_MAX - 1;
	n = s->ops->process->object(s->ctx, which, from, s->in, (u32)len, why);
	if (n < 0)
		return (int)n;
	gtp_out_text(&s->reply, n < (s64)len ? "l" : "m", 1);
	gtp_out_text(&s->reply, s->in, (size_t)n);
	return 0;
}

GTP_HANDLER(gtp_pkt_auxv)
{
	return read_object(s, in, GTP_OBJECT_AUXV, why);
}

GTP_HANDLER(gtp_pkt_exec_file)
{
	return read_object(s, in, GTP_OBJECT_EXEC_FILE, why);
}

GTP_HANDLER(gtp_pkt_libraries)
{
	return read_object(s, in, GTP_OBJECT_LIBRARIES, why);
}

GTP_HANDLER(gtp_pkt_threads)
{
	return read_object(s, in, GTP_OBJECT_THREADS, why);
}
