// SPDX-License-Identifier: GPL-2.0-only
/* Parses the kernel's debugfs files about kprobes: the list of kprobes, and the blacklist. */
#include "base/parse.h"
#include "probe/policy/debugfs_text.h"

static int end_line(struct gtp_debugfs_text *l, int (*line)(void *ctx, const char *line, u32 len),
		    void *ctx)
{
	u32 len = l->len;

	l->len = 0;
	l->line[len] = '\0';
	return len ? line(ctx, l->line, len) : 0;
}

int gtp_debugfs_feed(struct gtp_debugfs_text *l, const char *bytes, size_t n,
		     int (*line)(void *ctx, const char *line, u32 len), void *ctx)
{
	int rc = 0;

	for (; n && !rc; n--, bytes++) {
		if (*bytes == '\n')
			rc = end_line(l, line, ctx);
		else if (l->len < GTP_DEBUGFS_LINE - 1)
			l->line[l->len++] = *bytes;
	}
	return rc;
}

u64 gtp_debugfs_probe(const char *line, u32 len)
{
	struct gtp_in in;
	u64 addr;

	gtp_in_init(&in, line, len);
	return gtp_in_hex64(&in, &addr) && gtp_in_char(&in, ' ') ? addr : 0;
}

bool gtp_debugfs_range(const char *line, u32 len, struct gtp_debugfs_range *range)
{
	struct gtp_in in;

	gtp_in_init(&in, line, len);
	if (!gtp_in_word(&in, "0x") || !gtp_in_hex64(&in, &range->start))
		return false;
	if (!gtp_in_word(&in, "-0x") || !gtp_in_hex64(&in, &range->end) || !gtp_in_char(&in, '\t'))
		return false;
	range->name = gtp_debugfs_hash(in.p);
	return range->start && range->start <= range->end;
}

/*
 * Return the FNV-1a hash of a name. If two names have the same hash, the only harm is that a place
 * is refused that could be probed.
 */
u32 gtp_debugfs_hash(const char *name)
{
	u32 hash = 2166136261;

	for (; *name && *name != '.' && *name != ' '; name++)
		hash = (hash ^ (u8)*name) * 16777619;
	return hash;
}
