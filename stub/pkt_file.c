// SPDX-License-Identifier: GPL-2.0-only
/* Packets about the files of programs. Each file gets a file space, where GDB loads its symbols. */
#include "stub/args.h"
#include "stub/handlers.h"
#include "stub/reply.h"

GTP_HANDLER(gtp_pkt_file)
{
	char id[GTP_FILE_ID_MAX] = "", *path = s->in;
	size_t digits = gtp_in_left(in);
	u64 base;
	int err;

	if (!digits || digits / 2 > GTP_FILE_NAME_MAX || !gtp_hex_is(in->p, digits))
		return gtp_args_bad(in, why, "a path in hex");
	/*
	 * Decode in place: two digits become one character, so no digit is overwritten before it is
	 * read.
	 */
	err = gtp_hex_decode((u8 *)path, GTP_FILE_NAME_MAX, in->p, digits);
	if (err < 0)
		return gtp_args_bad(in, why, "a path in hex");
	path[err] = '\0';
	if (strlen(path) != (size_t)err) {
		gtp_why(why, "a path has no character of the value 0");
		return -EINVAL;
	}
	if (!s->ops->file) {
		gtp_why(why, "programs cannot be traced here");
		return -EOPNOTSUPP;
	}
	err = s->ops->file(s->ctx, path, &base, id, why);
	if (!err)
		gtp_out_printf(&s->reply, "%llx;%s", base, id);
	return err;
}

GTP_HANDLER(gtp_pkt_exits)
{
	u32 above;
	u64 addr;
	int err;

	if (!gtp_in_hex64(in, &addr) || !gtp_in_char(in, ':') || !gtp_in_hex32(in, &above) ||
	    !gtp_in_char(in, ':'))
		return gtp_args_bad(in, why, "ADDR:ABOVE: in hex");
	if (!s->ops->exits) {
		gtp_why(why, "programs cannot be traced here");
		return -EOPNOTSUPP;
	}
	err = s->ops->exits(s->ctx, addr, above, in, why);
	return err ? err : gtp_reply_ok(s);
}

/* Read "ADDR:OFFSET:SIZE:". */
static bool take_head(struct gtp_in *in, u64 *addr, struct gtp_part *part)
{
	return gtp_in_hex64(in, addr) && gtp_in_char(in, ':') && gtp_in_hex32(in, &part->offset) &&
	       gtp_in_char(in, ':') && gtp_in_hex32(in, &part->size) && gtp_in_char(in, ':');
}

GTP_HANDLER(gtp_pkt_frames)
{
	struct gtp_part part;
	size_t digits;
	u64 addr;
	int err;

	if (!take_head(in, &addr, &part))
		return gtp_args_bad(in, why, "ADDR:OFFSET:SIZE: in hex");
	digits = gtp_in_left(in);
	if (!digits || !gtp_hex_is(in->p, digits))
		return gtp_args_bad(in, why, "bytes in hex");
	/* Decode in place, as in gtp_pkt_file(). */
	err = gtp_hex_decode((u8 *)s->in, digits / 2, in->p, digits);
	if (err <= 0)
		return gtp_args_bad(in, why, "bytes in hex");
	part.bytes = (const u8 *)s->in;
	part.n = (u32)err;
	if (!s->ops->frames) {
		gtp_why(why, "programs cannot be traced here");
		return -EOPNOTSUPP;
	}
	err = s->ops->frames(s->ctx, addr, &part, why);
	return err ? err : gtp_reply_ok(s);
}
