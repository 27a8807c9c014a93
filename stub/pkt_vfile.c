// SPDX-License-Identifier: GPL-2.0-only
/* The packets vFile, by which GDB reads the files that a process sees; only for a process. */
#include "stub/args.h"
#include "stub/handlers.h"

enum {
	STAT_BYTES = 64, /* the protocol's struct stat, which is big-endian */
	BLOCK = 512,
	HEAD_MAX = 16, /* most characters of "F", COUNT and ";" */
};

/* Return the number that GDB's protocol has for an error; most numbers equal those of Linux. */
static u32 error_number(s64 err)
{
	static const u8 known[] = {
		EPERM,	 ENOENT, EINTR,	 EBADF,	 EACCES, EFAULT, EBUSY,	 EEXIST, ENODEV,
		ENOTDIR, EISDIR, EINVAL, ENFILE, EMFILE, EFBIG,	 ENOSPC, ESPIPE, EROFS,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (err == -(s64)known[i])
			return known[i];
	return err == -ENAMETOOLONG ? 91 : 9999;
}

static int reply_number(struct gtp_stub *s, s64 n)
{
	if (n < 0)
		gtp_out_printf(&s->reply, "F-1,%x", error_number(n));
	else
		gtp_out_printf(&s->reply, "F%llx", n);
	return 0;
}

static void reply_bytes(struct gtp_stub *s, const void *bytes, u32 n)
{
	gtp_out_printf(&s->reply, "F%x;", n);
	gtp_out_text(&s->reply, bytes, n);
}

/* Decode a path in place, over the hex digits of the packet. */
static int take_path(struct gtp_stub *s, struct gtp_in *in, char **path, struct gtp_why *why)
{
	const char *hex;
	size_t len = gtp_in_until(in, ',', &hex);
	int n;

	if (len > 2 * (size_t)GTP_FILE_NAME_MAX)
		return gtp_args_bad(in, why, "a shorter path");
	n = gtp_hex_decode((u8 *)s->in, GTP_FILE_NAME_MAX, hex, len);
	if (n <= 0 || memchr(s->in, '\0', (size_t)n))
		return gtp_args_bad(in, why, "a path in hex digits");
	s->in[n] = '\0';
	*path = s->in;
	return 0;
}

/* Handle setfs. There is only one root, that of the process: accept its id, and 0. */
GTP_HANDLER(gtp_pkt_file_root)
{
	u32 pid;

	if (!gtp_in_hex32(in, &pid))
		return gtp_args_bad(in, why, "a process");
	if (gtp_args_end(in, why))
		return -EINVAL;
	return reply_number(s, !pid || pid == s->ops->process->pid(s->ctx) ? 0 : -EINVAL);
}

GTP_HANDLER(gtp_pkt_file_open)
{
	struct gtp_in rest = *in;
	u64 flags, mode;
	const char *hex;
	char *path;

	gtp_in_until(&rest, ',', &hex);
	if (!gtp_in_char(&rest, ','))
		return gtp_args_bad(&rest, why, "','");
	if (gtp_args_hex_pair(&rest, ',', &flags, &mode, why))
		return -EINVAL;
	if (take_path(s, in, &path, why))
		return -EINVAL;
	/* All flags except 0 are for writing, creating or truncating. */
	return reply_number(s, flags ? -EROFS : s->ops->process->open(s->ctx, path));
}

GTP_HANDLER(gtp_pkt_file_read)
{
	u64 len, from;
	u32 fd;
	s64 n;

	if (!gtp_in_hex32(in, &fd) || !gtp_in_char(in, ','))
		return gtp_args_bad(in, why, "a file and ','");
	if (gtp_args_hex_pair(in, ',', &len, &from, why))
		return -EINVAL;
	if (len > GTP_PACKET_MAX - HEAD_MAX)
		len = GTP_PACKET_MAX - HEAD_MAX;
	n = s->ops->process->pread(s->ctx, fd, from, s->in, (u32)len);
	if (n < 0)
		return reply_number(s, n);
	reply_bytes(s, s->in, (u32)n);
	return 0;
}

static u8 *put_be(u8 *p, u64 value, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		p[i] = (u8)(value >> 8 * (bytes - 1 - i));
	return p + bytes;
}

GTP_HANDLER(gtp_pkt_file_stat)
{
	struct gtp_file_stat st = { 0 };
	u8 image[STAT_BYTES] = { 0 };
	u8 *p;
	u32 fd;
	int err;

	if (!gtp_in_hex32(in, &fd))
		return gtp_args_bad(in, why, "a file");
	if (gtp_args_end(in, why))
		return -EINVAL;
	err = s->ops->process->stat(s->ctx, fd, &st);
	if (err)
		return reply_number(s, err);
	/* st_dev and st_ino stay 0; then come uid, gid and rdev. */
	p = put_be(image + 8, st.mode, 4);
	p = put_be(p, st.nlink, 4) + 12;
	p = put_be(p, st.size, 8);
	p = put_be(p, BLOCK, 8);
	p = put_be(p, (st.size + BLOCK - 1) / BLOCK, 8);
	p = put_be(p, st.mtime, 4);
	p = put_be(p, st.mtime, 4);
	put_be(p, st.mtime, 4);
	reply_bytes(s, image, sizeof(image));
	return 0;
}

GTP_HANDLER(gtp_pkt_file_link)
{
	char *text = s->in + GTP_FILE_NAME_MAX + 1; /* the memory after the decoded path */
	char *path;
	s64 n;

	if (take_path(s, in, &path, why))
		return -EINVAL;
	n = s->ops->process->readlink(s->ctx, path, text, GTP_FILE_NAME_MAX);
	if (n < 0)
		return reply_number(s, n);
	reply_bytes(s, text, (u32)n);
	return 0;
}

GTP_HANDLER(gtp_pkt_file_close)
{
	u32 fd;

	if (!gtp_in_hex32(in, &fd))
		return gtp_args_bad(in, why, "a file");
	if (gtp_args_end(in, why))
		return -EINVAL;
	return reply_number(s, s->ops->process->close(s->ctx, fd));
}
