// SPDX-License-Identifier: GPL-2.0-only
/* Packets that define tracepoints, variables and read-only ranges, before or during a run. */
#include "session/cpus.h"
#include "session/install.h"
#include "stub/args.h"
#include "stub/handlers.h"
#include "stub/reply.h"

GTP_HANDLER(gtp_pkt_init)
{
	gtp_trace_reset(s->trace);
	s->frame = -1;
	s->trace->nro = 0;
	s->upload_tp = 0;
	s->upload_at = NULL;
	s->upload_piece = 0;
	s->upload_var = 0;
	s->upload_marker = 0;
	return gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_define)
{
	int err = gtp_install_define(s->trace, in->p, why);

	return err ? err : gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_actions)
{
	int err = gtp_install_actions(s->trace, in->p, why);

	return err ? err : gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_source)
{
	int err = gtp_tracepoint_add_source(&s->trace->tps, &s->trace->mem, in->p, why);

	return err ? err : gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_variable)
{
	int err = gtp_tsvs_define(&s->trace->run.tsvs, &s->trace->mem, in->p, why);
	u32 num;

	if (err)
		return err;
	if (gtp_in_hex32(in, &num))
		gtp_cpus_set_local(s->trace, num);
	return gtp_reply_ok(s);
}

/*
 * Find the distance by which KASLR has moved the kernel. GDB sends the read-only ranges with the
 * link-time addresses of vmlinux. The first range is .text, which begins at _text. KASLR moves the
 * kernel by a multiple of 2 MiB, less than 1 GiB. If the distance is not such a number, GDB has
 * loaded another vmlinux: return false, so that its ranges are ignored.
 */
static bool load_distance(u64 text_start, u64 first, u64 *distance)
{
	*distance = text_start - first;
	return text_start && *distance % (2 << 20) == 0 && *distance < 1 << 30;
}

static void add_ro_range(struct gtp_trace *t, u64 start, u64 end)
{
	if (start >= end || t->nro == GTP_RO_MAX)
		return;
	t->ro[t->nro].start = start;
	t->ro[t->nro].end = end;
	t->nro++;
}

GTP_HANDLER(gtp_pkt_readonly)
{
	u64 start, end, distance;
	u32 n = 0;

	s->trace->nro = 0;
	do {
		if (!gtp_in_hex64(in, &start))
			return gtp_args_bad(in, why, "an address");
		if (!gtp_in_char(in, ','))
			return gtp_args_bad(in, why, "','");
		if (!gtp_in_hex64(in, &end))
			return gtp_args_bad(in, why, "an address");
		if (!n++ && !load_distance(s->trace->text_start, start, &distance))
			return gtp_reply_ok(s);
		add_ro_range(s->trace, start + distance, end + distance);
	} while (gtp_in_char(in, ':'));
	return gtp_args_end(in, why) ? -EINVAL : gtp_reply_ok(s);
}

static int set_enabled(struct gtp_stub *s, struct gtp_in *in, bool on, struct gtp_why *why)
{
	u64 num, addr;

	if (gtp_args_hex_pair(in, ':', &num, &addr, why))
		return -EINVAL;
	if (num > U32_MAX || gtp_trace_enable(s->trace, (u32)num, addr, on)) {
		gtp_why(why, "there is no tracepoint %llu at 0x%llx", num, addr);
		return -ENOENT;
	}
	return gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_enable)
{
	return set_enabled(s, in, true, why);
}

GTP_HANDLER(gtp_pkt_disable)
{
	return set_enabled(s, in, false, why);
}
