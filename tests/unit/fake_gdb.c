// SPDX-License-Identifier: GPL-2.0-only
/* The fake session: a stub between a fake GDB and a fake machine. */
#include <assert.h>
#include <stdlib.h>
#include "base/space.h"
#include "base/visible.h"
#include "hit/cfi.h"
#include "probe/user/exits.h"
#include "fake_gdb.h"

static struct fake_gdb *gdb_of(void *ctx)
{
	return container_of((struct fake *)ctx, struct fake_gdb, f);
}

/* --- the stub's callbacks --- */

static int do_write(void *ctx, u64 addr, const void *src, u32 len)
{
	return gdb_of(ctx)->allow_write ? fake_write(ctx, addr, src, len) : -EPERM;
}

static const char *release(void *ctx)
{
	return "6.1.0-fake";
}

static int save(void *ctx, const char *name, struct gtp_why *why)
{
	struct fake_gdb *g = gdb_of(ctx);

	if (!strcmp(g->saved, name)) {
		gtp_why(why, "%s is there already; take another name", name);
		return -EEXIST;
	}
	snprintf(g->saved, sizeof(g->saved), "%s", name);
	return 0;
}

static u64 now_ms(void *ctx)
{
	return gdb_of(ctx)->now_ms;
}

static int do_monitor(void *ctx, struct gtp_stub *stub, const char *command, struct gtp_why *why)
{
	if (!strcmp(command, "help")) {
		gtp_stub_print(stub, "monitor fake         of the fake machine\n");
		return 0;
	}
	if (!strcmp(command, "fake")) {
		gtp_stub_print(stub, "so it is\n");
		return 0;
	}
	if (!strncmp(command, "call ", 5))
		return fake_gdb_call(gdb_of(ctx), command + 5) ? -EINVAL : 0;
	if (!strcmp(command, "fake refuse")) {
		gtp_why(why, "the fake machine refuses");
		return -EINVAL;
	}
	return strcmp(command, "fake fail") ? -ENOENT : -EINVAL;
}

static int marker(void *ctx, u32 n, struct gtp_marker *m, char *text, size_t size)
{
	static const char *const ids[] = { "gtp_target:gtp_target_many", "raw:one", "raw:two" };

	if (n >= ARRAY_SIZE(ids))
		return -ENOENT;
	snprintf(text, size, "%s", ids[n]);
	*m = (struct gtp_marker){ FAKE_MARKER + n, text, n ? "" : "int a;" };
	return 0;
}

static int marker_at(void *ctx, u64 addr)
{
	return addr == FAKE_MARKER ? 0 : -ENOENT;
}

/* Only /bin/sh is a program; refuse other paths as the module refuses them. */
static int file(void *ctx, const char *path, u64 *base, char *id, struct gtp_why *why)
{
	if (!strcmp(path, "/bin/sh")) {
		*base = gtp_space_base(7);
		strcpy(id, "00ff");
		return 0;
	}
	if (path[0] != '/')
		gtp_why(why, "%s is no absolute path", path);
	else if (!strcmp(path, "/tmp"))
		gtp_why(why, "%s is a directory", path);
	else
		gtp_why(why, "%s does not exist on the traced machine", path);
	gtp_visible_only(why->text);
	return -EINVAL;
}

static int exits(void *ctx, u64 addr, u32 above, struct gtp_in *list, struct gtp_why *why)
{
	if (gtp_space_is_same(addr, gtp_space_base(7)) && gtp_exits_parse(list, NULL))
		return 0;
	gtp_why(why, gtp_in_end(list) || !gtp_space_is(addr) ? "the file is not known any more" :
							       "no list of returns");
	return -EINVAL;
}

/*
 * Take a table of call frames like the module: in parts that follow one another. The fake machine
 * has no programs, so nothing uses the table.
 */
static int frames(void *ctx, u64 addr, const struct gtp_part *part, struct gtp_why *why)
{
	struct fake_gdb *g = gdb_of(ctx);
	const char *words = NULL;
	struct gtp_cfi table;

	if (addr && !gtp_space_is_same(addr, gtp_space_base(7))) {
		gtp_why(why, "the file is not known any more");
		return -EINVAL;
	}
	if (!part->offset && (part->size < GTP_CFI_HEAD || part->size > sizeof(g->frames)))
		words = "its size is impossible";
	else if (part->offset ? part->offset != g->frames_have || part->size != g->frames_size :
				part->n > part->size)
		words = "its parts do not follow one another";
	g->frames_size = words ? 0 : part->size;
	if (!words) {
		memcpy(g->frames + part->offset, part->bytes, part->n);
		g->frames_have = part->offset + part->n;
		if (g->frames_have == part->size)
			gtp_cfi_open(&table, g->frames, part->size, &words);
	}
	if (words)
		gtp_why(why, "%s: %s", "a table of call frames is refused", words);
	return words ? -EINVAL : 0;
}

/* Send the lines of dprintfs like the module. Here no other CPU adds lines meanwhile. */
static void lines(void *ctx)
{
	struct fake_gdb *g = gdb_of(ctx);
	struct gtp_lines *r;

	while (g->s.waiting && (r = gtp_lines_oldest(g->f.lines, FAKE_CPUS_MAX, U64_MAX))) {
		const struct gtp_line *head = gtp_lines_first(r);
		char text[AX_PRINT_MAX + 1];

		if (head->failed)
			ax_error_format((const struct ax_error *)(head + 1), text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%.*s", (int)head->len,
				 (const char *)(head + 1));
		gtp_lines_next(r);
		g->f.trace.dprintfs.printed++;
		gtp_stub_print(&g->s, text);
	}
}

static const struct gtp_stub_ops ops = {
	.marker = marker,
	.marker_at = marker_at,
	.file = file,
	.exits = exits,
	.frames = frames,
	.read = fake_read,
	.write = do_write,
	.release = release,
	.save = save,
	.now_ms = now_ms,
	.lines = lines,
	.monitor = do_monitor,
};

static void hear(void *ctx, const void *bytes, u32 len)
{
	struct fake_gdb *g = gdb_of(ctx);

	/* Only a fuzzer lets so much output pile up unread. @bytes are always whole packets. */
	if (g->out_len + len >= FAKE_OUT_MAX) {
		fake_gdb_clear(g);
		g->lost++;
	}
	memcpy(g->out + g->out_len, bytes, len);
	g->out_len += len;
	g->out[g->out_len] = '\0';
}

/* --- the fixture --- */

static const struct {
	const char *name;
	u64 addr;
} symbols[] = {
	{ "text", FAKE_TEXT },
	{ "gtp_target_add", FAKE_ADD },
	{ "gtp_target_obj", FAKE_OBJ },
	{ "gtp_target_str", FAKE_STR },
	{ "gtp_target_leaf", FAKE_LEAF },
	{ "gtp_target_marker", FAKE_MARKER },
	{ "gtp_target_banner", FAKE_BANNER },
	{ "gtp_target_array", FAKE_ARRAY },
	{ "gtp_target_objs", FAKE_OBJS },
};

u64 fake_gdb_symbol(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(symbols); i++)
		if (!strcmp(symbols[i].name, name))
			return symbols[i].addr;
	return 0;
}

/* Set the data of tests/kmod/gtp_target_fn.c that the transcripts read. */
static void fill_data(u8 *page)
{
	for (u32 i = 0; i < 8; i++)
		gtp_put_le(page + (FAKE_ARRAY & 0xfff) + 4 * i, i * i, 4);
	for (u32 i = 0; i < 4; i++) {
		u8 *o = page + (FAKE_OBJS & 0xfff) + i * FAKE_OBJ_BYTES;

		gtp_put_le(o, 100 + i, 4);
		o[4] = (u8)(200 + i);
		gtp_put_le(o + 6, 60000 + i, 2);
		gtp_put_le(o + 8, (u64)-5 - i, 8);
	}
}

static void fill_machine(struct fake_gdb *g)
{
	static const char banner[] = "gtp_target: the fixture of gdbtp";
	u8 *code = fake_map(&g->f, FAKE_TEXT, NULL, 8192);

	for (u32 i = 0; i < 8192; i++)
		code[i] = (u8)(i * 7);
	code = fake_map(&g->f, FAKE_MODULE, NULL, 4096);
	memset(code, 0x90, 4096);
	memcpy(fake_map(&g->f, FAKE_BANNER, NULL, 4096), banner, sizeof(banner));
	fill_data(fake_map(&g->f, FAKE_ARRAY & ~0xfffULL, NULL, 4096));
}

static int call_str(struct fake_gdb *g, const char *text)
{
	u64 args[] = { FAKE_STRING };
	u32 len = (u32)strlen(text) + 1;

	if (len > FAKE_DATA_END - FAKE_STRING)
		return -1;
	assert(!fake_write(&g->f, FAKE_STRING, text, len));
	fake_call(&g->f, FAKE_STR, 1, args);
	return 0;
}

static int call(struct fake_gdb *g, const char *what)
{
	unsigned long long a[2] = { 0 };

	if (sscanf(what, "add %lld %lld", &a[0], &a[1]) == 2) {
		fake_call(&g->f, FAKE_ADD, 2, a);
	} else if (sscanf(what, "obj %llu", &a[1]) == 1) {
		a[0] = FAKE_OBJS + a[1] * FAKE_OBJ_BYTES;
		fake_call(&g->f, FAKE_OBJ, 2, a);
	} else if (sscanf(what, "event %lld", &a[1]) == 1) {
		fake_call(&g->f, FAKE_MARKER, 2, a);
	} else if (sscanf(what, "leaf %lld", &a[0]) == 1) {
		fake_call(&g->f, FAKE_LEAF, 1, a);
	} else if (!strncmp(what, "str ", 4)) {
		return call_str(g, what + 4);
	} else {
		return -1;
	}
	return 0;
}

/* Make a call of the fixture, then do the work that the module leaves to a worker. */
int fake_gdb_call(struct fake_gdb *g, const char *what)
{
	int err = call(g, what);

	if (g->f.stopping) {
		g->f.stopping = 0;
		if (gtp_trace_settle(&g->f.trace))
			gtp_stub_trace_ended(&g->s);
	}
	return err;
}

/* --- the connection --- */

static int connect(struct fake_gdb *g)
{
	memset(&g->s, 0, sizeof(g->s));
	fake_gdb_clear(g);
	return gtp_stub_init(&g->s, &g->f.trace, &ops, hear, &g->f);
}

static void print(struct fake *f, const char *text)
{
	gtp_stub_print(&((struct fake_gdb *)f)->s, text);
}

int fake_gdb_init(struct fake_gdb *g)
{
	int err;

	memset(g, 0, sizeof(*g));
	err = fake_init(&g->f);
	if (err)
		return err;
	g->f.trace.text_start = FAKE_TEXT;
	g->f.trace.build_id = "0123456789abcdef0123456789abcdef01234567";
	g->f.refuse_arm = 0x10;
	g->f.while_telling = print;
	g->f.marker = FAKE_MARKER;
	fill_machine(g);
	return connect(g);
}

int fake_gdb_exit(struct fake_gdb *g)
{
	gtp_stub_exit(&g->s);
	return fake_exit(&g->f);
}

int fake_gdb_reconnect(struct fake_gdb *g)
{
	gtp_stub_exit(&g->s);
	return connect(g);
}

void fake_gdb_clear(struct fake_gdb *g)
{
	g->out_len = 0;
	g->out[0] = '\0';
}

void fake_gdb_feed(struct fake_gdb *g, const void *bytes, u32 len)
{
	/* Pass a copy of exactly this size, so that a sanitizer sees a read past its end. */
	u8 *copy = malloc(len ? len : 1);

	assert(copy);
	memcpy(copy, bytes, len);
	gtp_stub_feed(&g->s, copy, len);
	free(copy);
}

/* Convert consecutive packets to "text|text"; in place, because the text only gets shorter. */
static void unframe(struct fake_gdb *g)
{
	u32 n = 0;

	for (u32 i = 0; i < g->out_len; i++) {
		if (g->out[i] != '$')
			continue;
		if (n)
			g->out[n++] = '|';
		while (g->out[++i] != '#') {
			if (g->out[i] == '}')
				g->out[n++] = g->out[++i] ^ 0x20;
			else
				g->out[n++] = g->out[i];
		}
		i += 2;
	}
	g->out_len = n;
	g->out[n] = '\0';
}

const char *fake_gdb_ask(struct fake_gdb *g, const char *packet)
{
	static char wire[2 * FAKE_LOG_MAX + 8];
	u8 sum = 0;
	u32 n = 0;

	assert(strlen(packet) < FAKE_LOG_MAX);
	wire[n++] = '$';
	for (; *packet; packet++) {
		if (strchr("#$}*", *packet)) {
			wire[n++] = '}';
			sum += '}';
		}
		wire[n] = strchr("#$}*", *packet) ? *packet ^ 0x20 : *packet;
		sum += (u8)wire[n++];
	}
	n += (u32)sprintf(wire + n, "#%02x", sum);
	fake_gdb_clear(g);
	fake_gdb_feed(g, wire, n);
	unframe(g);
	return g->out;
}
