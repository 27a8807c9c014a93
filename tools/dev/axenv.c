// SPDX-License-Identifier: GPL-2.0-only
/* A simulated environment in which agent expressions run. */
#include <stdlib.h>
#include "tools/dev/axenv.h"

/* The head of a record in the log of collected data; @len bytes follow. */
struct record {
	u64 kind;  /* 'M' or 'V' */
	u64 where; /* an address for 'M', a variable's number for 'V' */
	u64 len;
};

static struct axenv_map *map_at(struct axenv *e, u64 addr)
{
	u32 i;

	for (i = 0; i < e->nmaps; i++)
		if (addr - e->maps[i].addr < e->maps[i].len)
			return &e->maps[i];
	return NULL;
}

int axenv_read(void *ctx, void *dst, u64 addr, u32 len)
{
	const struct axenv_map *m;
	u8 *to = dst;
	u64 at;
	u32 n, left;

	for (at = addr, left = len; left; at += n, left -= n) {
		m = map_at(ctx, at);
		if (!m)
			return -EFAULT;
		n = m->len - (u32)(at - m->addr);
		if (n > left)
			n = left;
	}
	for (at = addr, left = len; left; at += n, left -= n, to += n) {
		m = map_at(ctx, at);
		n = m->len - (u32)(at - m->addr);
		if (n > left)
			n = left;
		memcpy(to, m->bytes + (at - m->addr), n);
	}
	return 0;
}

static int append(struct axenv *e, u64 kind, u64 where, const void *bytes, u32 len)
{
	struct record r = { .kind = kind, .where = where, .len = len };

	if (e->log_len + sizeof(r) + len > e->room)
		return -ENOSPC;
	memcpy(e->log + e->log_len, &r, sizeof(r));
	if (len)
		memcpy(e->log + e->log_len + sizeof(r), bytes, len);
	e->log_len += (u32)sizeof(r) + len;
	return 0;
}

int axenv_log_mem(struct axenv *e, u64 addr, const u8 *bytes, u32 len)
{
	return append(e, 'M', addr, bytes, len);
}

int axenv_log_var(struct axenv *e, u16 num, s64 value)
{
	return append(e, 'V', num, &value, sizeof(value));
}

static struct axenv_tsv *tsv_find(struct axenv *e, u16 num)
{
	u32 i;

	for (i = 0; i < e->ntsvs; i++)
		if (e->tsvs[i].num == num)
			return &e->tsvs[i];
	return NULL;
}

enum ax_err axenv_known(void *ctx, u16 tsv, bool sets)
{
	const struct axenv_tsv *t = tsv_find(ctx, tsv);

	if (!t)
		return AX_E_UNKNOWN_TSV;
	return sets && t->read_only ? AX_E_READ_ONLY_TSV : AX_OK;
}

/*
 * Read a variable. An unknown variable reads as 0: fuzzers run expressions whose variables were not
 * checked.
 */
static s64 op_getv(void *ctx, u16 num)
{
	const struct axenv_tsv *t = tsv_find(ctx, num);

	return t ? t->value : 0;
}

static void op_setv(void *ctx, u16 num, s64 value)
{
	struct axenv_tsv *t = tsv_find(ctx, num);

	if (t)
		t->value = value;
}

static s64 op_addv(void *ctx, u16 num, s64 by)
{
	s64 sum = (s64)((u64)op_getv(ctx, num) + (u64)by);

	op_setv(ctx, num, sum);
	return sum;
}

static int op_tracev(void *ctx, u16 num)
{
	return axenv_log_var(ctx, num, op_getv(ctx, num));
}

static int op_trace(void *ctx, u64 addr, u64 len)
{
	u8 *bytes;
	int ret;

	if (!len)
		return 0;
	if (len > AXENV_FRAME_MAX)
		return -E2BIG;
	bytes = malloc(len);
	if (!bytes)
		abort();
	ret = axenv_read(ctx, bytes, addr, (u32)len);
	if (!ret)
		ret = axenv_log_mem(ctx, addr, bytes, (u32)len);
	free(bytes);
	return ret;
}

static int op_trace_string(void *ctx, u64 addr, u64 max)
{
	u64 n = 0;
	u8 c = 1;

	while (n < max && c) {
		if (n == AXENV_FRAME_MAX)
			return -E2BIG;
		if (axenv_read(ctx, &c, addr + n, 1))
			return -EFAULT;
		n++;
	}
	return op_trace(ctx, addr, n);
}

static void op_print(void *ctx, const char *text, u32 len)
{
	struct axenv *e = ctx;

	if (e->printed_len + len >= sizeof(e->printed))
		return;
	memcpy(e->printed + e->printed_len, text, len + 1);
	e->printed_len += len;
}

const struct ax_ops axenv_ops = {
	.read = axenv_read,
	.getv = op_getv,
	.setv = op_setv,
	.addv = op_addv,
	.trace = op_trace,
	.trace_string = op_trace_string,
	.tracev = op_tracev,
	.print = op_print,
};

u8 *axenv_map(struct axenv *e, u64 addr, const void *bytes, u32 len)
{
	struct axenv_map *m = &e->maps[e->nmaps];
	u32 i;

	if (e->nmaps == AXENV_MAPS || !len || addr + (len - 1) < addr)
		return NULL;
	for (i = 0; i < e->nmaps; i++)
		if (e->maps[i].addr - addr < len || addr - e->maps[i].addr < e->maps[i].len)
			return NULL;
	*m = (struct axenv_map){ .addr = addr, .len = len, .bytes = calloc(1, len) };
	if (!m->bytes)
		abort();
	if (bytes)
		memcpy(m->bytes, bytes, len);
	e->nmaps++;
	return m->bytes;
}

bool axenv_tsv(struct axenv *e, u16 num, s64 value, bool read_only)
{
	if (e->ntsvs == AXENV_TSVS)
		return false;
	e->tsvs[e->ntsvs++] = (struct axenv_tsv){
		.num = num,
		.read_only = read_only,
		.initial = value,
		.value = value,
	};
	return true;
}

void axenv_reset(struct axenv *e)
{
	u32 i;

	for (i = 0; i < e->ntsvs; i++)
		e->tsvs[i].value = e->tsvs[i].initial;
	e->log_len = 0;
	e->printed_len = 0;
	e->printed[0] = '\0';
	e->ax.err = (struct ax_error){ .code = AX_OK };
}

struct axenv *axenv_new(void)
{
	struct axenv *e = calloc(1, sizeof(*e));
	u32 i;

	if (!e)
		abort();
	e->ax = (struct ax_env){
		.ops = &axenv_ops,
		.ctx = e,
		.regs = &e->regs,
		.pc = 0xffffffff81000000ULL,
		.stack = e->stack,
		.text = e->text,
	};
	e->room = AXENV_LOG_MAX;
	/* Give each register another value, so that reading a wrong register changes the result. */
	for (i = 0; i < sizeof(e->regs) / sizeof(u64); i++)
		((u64 *)&e->regs)[i] = 0xbad0bad0bad00000ULL + i * 0x101;
	return e;
}

void axenv_free(struct axenv *e)
{
	while (e->nmaps)
		free(e->maps[--e->nmaps].bytes);
	free(e);
}

char *axenv_log_text(const struct axenv *e)
{
	struct record r;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	u32 pos, i;
	s64 value;

	if (!f)
		abort();
	for (pos = 0; pos < e->log_len; pos += (u32)(sizeof(r) + r.len)) {
		memcpy(&r, e->log + pos, sizeof(r));
		if (r.kind == 'V') {
			memcpy(&value, e->log + pos + sizeof(r), sizeof(value));
			fprintf(f, "var %llu %lld\n", r.where, value);
			continue;
		}
		fprintf(f, "mem 0x%llx ", r.where);
		for (i = 0; i < r.len; i++)
			fprintf(f, "%02x", e->log[pos + sizeof(r) + i]);
		fputc('\n', f);
	}
	fclose(f);
	return text;
}
