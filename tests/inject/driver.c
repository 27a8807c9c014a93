// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patches a process for the tests: commands on standard input, one line each, and one line as the
 * reply: "ok ..." or "error ERRNO WHY".
 *
 *	attach PID
 *	places TABLE BASE [LO HI]	all places of a file at BASE that take a jump, from LO to HI
 *	map KIND BYTES			memory near these places; the reply has the address
 *	set N SEED			N jumps at random places, at most
 *	unset				all of them again
 *	toggle ROUNDS N SEED		both, again and again
 *	idle				1 if no thread is in a pad
 *	stats				threads moved, of these in handlers, left in pads
 *	roam ROUNDS N SEED		the same without waiting for threads in old pads
 *	begin, end			a batch
 *	call NUMBER ARGUMENT...		a system call, in a batch
 *	counts				how often the pads have been entered
 *	memory				the addresses of the pads and the counters
 *	close
 *
 * A pad counts in memory of the process, and then runs the displaced instructions.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "jit/copy.h"
#include "user/inject/inject.h"

enum {
	SLOT = 512, /* the bytes for a pad */
	SLOTS = 6000,
	LARGE = 256 << 10,
	LONG = 8 << 10,
};

/* struct place - an address that takes a jump */
struct place {
	u64 at;
	struct gtp_region region;
};

static struct gtp_process process;
static struct gtp_inject *in;
static struct gtp_why why;

static struct place *place;
static u32 places;
static u64 lowest, highest;

static u64 pads, counters;
static struct gtp_patch patch[SLOTS];
static struct gtp_patch *batch[SLOTS];
static u32 used;

static int die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- places --- */

static u64 next_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static u8 *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	u8 *bytes;

	if (!file)
		die(path);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size + 1);
	if (!bytes || fread(bytes, 1, *size, file) != *size)
		die(path);
	fclose(file);
	return bytes;
}

static void add_place(u64 at, const struct gtp_region *r)
{
	u32 i;

	if (!gtp_copy_can(r))
		return;
	for (i = 0; i < r->n;
	     i++) /* a copied call does not suit a shadow stack, but there is none */
		if (r->insn[i].kind == GTP_INSN_INT3)
			return;
	if (places % 4096 == 0)
		place = realloc(place, (places + 4096) * sizeof(*place));
	if (!place)
		die("realloc");
	place[places++] = (struct place){ at, *r };
}

/* Ask for all addresses of one function; in large programs for a part of them. */
static void look_at(struct gtp_region_ask *ask, const struct gtp_table_span *span, u64 base, u64 lo,
		    u64 hi)
{
	static u64 seed = 1;
	struct gtp_region r;
	u64 at;

	if (span->size > LARGE && ask->fn_size > LONG)
		return; /* each question takes time that grows with the function */
	for (ask->at = 0; ask->at < ask->fn_size; ask->at++) {
		if (span->size > LARGE && next_random(&seed) % 16)
			continue;
		at = base + span->addr + ask->fn_offset + ask->at;
		if (at >= lo && at < hi && gtp_region_find(ask, &r) == GTP_REGION_OK)
			add_place(at, &r);
	}
}

static int look_at_span(const struct gtp_table *t, u32 n, u64 base, u64 lo, u64 hi)
{
	struct gtp_region_ask ask = { .table = t, .span = n };
	struct gtp_table_list functions, lasts;
	struct gtp_table_span span;
	u32 from = 0, last;
	u8 *code;

	gtp_table_span(t, n, &span);
	if (!gtp_table_find(t, n, GTP_TABLE_FUNCTION, &functions) ||
	    !gtp_table_find(t, n, GTP_TABLE_LAST, &lasts))
		return 0;
	code = malloc(span.size + 1);
	if (!code || gtp_inject_read(in, code, base + span.addr, span.size)) {
		gtp_why(&why, "the code of %s cannot be read", span.name);
		free(code);
		return -EFAULT;
	}
	if (base + span.addr < lowest)
		lowest = base + span.addr;
	if (base + span.addr + span.size > highest)
		highest = base + span.addr + span.size;
	while (gtp_table_next(&functions, from, &ask.fn_offset) &&
	       gtp_table_next(&lasts, ask.fn_offset, &last)) {
		ask.fn = code + ask.fn_offset;
		ask.fn_size = last + 1 - ask.fn_offset;
		look_at(&ask, &span, base, lo, hi);
		from = ask.fn_offset + 1;
	}
	free(code);
	return 0;
}

static int do_places(const char *path, u64 base, u64 lo, u64 hi)
{
	const char *wrong;
	struct gtp_table t;
	size_t size;
	u8 *bytes = read_file(path, &size);
	u32 i;
	int err = 0;

	if (gtp_table_open(&t, bytes, size, &wrong))
		die(wrong);
	lowest = U64_MAX;
	highest = 0;
	places = 0;
	for (i = 0; !err && i < t.spans_n; i++)
		err = look_at_span(&t, i, base, lo, hi ? hi : U64_MAX);
	free(bytes);
	if (!err)
		printf("ok %u\n", places);
	return err;
}

/* --- pads --- */

/* lea -128(%rsp),%rsp; pushfq; lock incq counter(%rip); popfq; lea 128(%rsp),%rsp */
static void count(struct x86_buf *b, u64 base, u64 counter)
{
	static const u8 begin[] = { 0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c };
	static const u8 end[] = { 0x9d, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };
	u8 inc[] = { 0xf0, 0x48, 0xff, 0x05, 0, 0, 0, 0 };

	x86_bytes(b, begin, sizeof(begin));
	gtp_put_le(inc + 4, counter - (base + b->len + sizeof(inc)), 4);
	x86_bytes(b, inc, sizeof(inc));
	x86_bytes(b, end, sizeof(end));
}

/* Make the pad of slot @i for a place, in @bytes. */
static int make(u32 i, const struct place *at, u8 *bytes)
{
	static const struct ax_jit_target target;
	struct x86_buf b = { .p = bytes, .size = SLOT };
	struct gtp_patch *p = &patch[i];
	u32 k, begin[GTP_REGION_JUMP];
	u64 base = pads + (u64)i * SLOT;

	memset(bytes, 0xcc, SLOT);
	count(&b, base, counters + 8ULL * i);
	gtp_copy_emit(&b, base, &target, &at->region, at->at, begin);
	if (b.failed)
		return -ERANGE;
	*p = (struct gtp_patch){ .at = at->at, .region = at->region };
	p->pad = base;
	p->pad_len = b.len;
	for (k = 0; k < at->region.n; k++)
		p->copy[k] = base + begin[k];
	return 0;
}

static int by_address(const void *x, const void *y)
{
	const struct place *a = *(struct place *const *)x, *b = *(struct place *const *)y;

	return (a->at > b->at) - (a->at < b->at);
}

/*
 * Choose at most @n places at random that share no byte, and make their pads, from slot @first on.
 */
static int choose(u32 n, u64 seed, u32 first)
{
	static u8 code[SLOTS * SLOT];
	struct place **some = calloc(places + 1, sizeof(*some));
	u64 state = seed * 2 + 1, end = 0;
	u32 i, k, room;

	for (i = 0; some && i < places; i++)
		some[i] = &place[i];
	for (i = 0; i < places; i++) {
		struct place *x;

		k = i + (u32)(next_random(&state) % (places - i));
		x = some[i];
		some[i] = some[k];
		some[k] = x;
	}
	room = n + n / 8 < places ? n + n / 8 : places;
	qsort(some, room, sizeof(*some), by_address);
	used = 0;
	for (i = 0; i < room && used < n && first + used < SLOTS; i++) {
		if (some[i]->at < end || make(first + used, some[i], code + (size_t)used * SLOT))
			continue;
		end = some[i]->at + some[i]->region.len;
		batch[used] = &patch[first + used];
		used++;
	}
	free(some);
	gtp_why(&why, "the pads cannot be written");
	return used ? gtp_inject_write(in, pads + (u64)first * SLOT, code, (u64)used * SLOT) : 0;
}

/* --- commands --- */

static int do_attach(u32 pid)
{
	int err = gtp_process_open(&process, pid, &why);

	if (!err)
		err = gtp_inject_open(&process, &in, &why);
	if (!err)
		printf("ok\n");
	return err;
}

/* Map memory near the places, and near the pads if there are any. */
static int map(enum gtp_inject_kind kind, u64 bytes, u64 *addr)
{
	struct gtp_inject_near near = { lowest, highest };

	if (pads && pads < near.lo)
		near.lo = pads;
	if (pads && pads + SLOTS * SLOT > near.hi)
		near.hi = pads + SLOTS * SLOT;
	return gtp_inject_map(in, kind, &near, bytes, addr, &why);
}

static int do_map(u32 kind, u64 bytes)
{
	u64 addr;
	int err = map(kind, bytes, &addr);

	if (!err)
		printf("ok %llx\n", addr);
	return err;
}

static int need_memory(void)
{
	int err = 0;

	if (!pads)
		err = map(GTP_INJECT_CODE, SLOTS * SLOT, &pads);
	if (!err && !counters)
		err = map(GTP_INJECT_DATA, SLOTS * 8, &counters);
	return err;
}

static int do_set(u32 n, u64 seed)
{
	int err = need_memory();

	if (err)
		return err;
	err = choose(n, seed, 0);
	if (!err)
		err = gtp_inject_patch(in, batch, used, &why);
	if (!err)
		printf("ok %u %llu\n", used, gtp_inject_stats(in)->stood);
	return err;
}

static int do_unset(void)
{
	int err = gtp_inject_unpatch(in, batch, used, &why);

	if (!err)
		printf("ok %u %llu\n", used, gtp_inject_stats(in)->stood);
	return err;
}

/* Wait until no thread is in @n pads, so that the pads can be overwritten. */
static int await_idle(u32 first, u32 n)
{
	bool idle = false;
	u32 try;
	int err;

	for (try = 0; !idle && try < 5000; try++) {
		err = gtp_inject_begin(in, &why);
		if (err)
			return err;
		idle = gtp_inject_idle(in, pads + (u64)first * SLOT, (u64)n * SLOT);
		gtp_inject_end(in);
		if (!idle)
			usleep(1000);
	}
	gtp_why(&why, "the pads are never empty");
	return idle ? 0 : -EBUSY;
}

static int by_size(const void *x, const void *y)
{
	const u64 a = *(const u64 *)x, b = *(const u64 *)y;

	return (a > b) - (a < b);
}

/* Reply with the number of jumps, and the least, the median and the most time of stops, in ns. */
static int do_toggle(u32 rounds, u32 n, u64 seed)
{
	static u64 stood[20000];
	u64 total = 0;
	u32 i, k = 0;
	int err = need_memory();

	for (i = 0; !err && i < rounds && k < ARRAY_SIZE(stood) - 1; i++) {
		err = await_idle(0, SLOTS);
		if (!err)
			err = choose(n, seed + i, 0);
		if (!err)
			err = gtp_inject_patch(in, batch, used, &why);
		if (err)
			break;
		total += used;
		stood[k++] = gtp_inject_stats(in)->stood;
		usleep((useconds_t)(seed + i) % 2000);
		err = gtp_inject_unpatch(in, batch, used, &why);
		stood[k++] = gtp_inject_stats(in)->stood;
	}
	qsort(stood, k, sizeof(*stood), by_size);
	if (!err)
		printf("ok %llu %llu %llu %llu\n", total, stood[0], stood[k / 2], stood[k - 1]);
	return err;
}

static int do_roam(u32 rounds, u32 n, u64 seed)
{
	u32 i, first, total = 0;
	int err = need_memory();

	for (i = 0; !err && i < rounds; i++) {
		first = i % (SLOTS / n) * n;
		err = await_idle(first, n);
		if (!err)
			err = choose(n, seed + i, first);
		if (!err)
			err = gtp_inject_patch(in, batch, used, &why);
		if (!err)
			err = gtp_inject_unpatch(in, batch, used, &why);
		total += used;
	}
	if (!err)
		printf("ok %u\n", total);
	return err;
}

static int do_counts(void)
{
	static u64 count[SLOTS];
	u64 sum = 0;
	u32 i, entered = 0;

	if (gtp_inject_read(in, count, counters, sizeof(count)))
		return -EFAULT;
	for (i = 0; i < SLOTS; i++) {
		sum += count[i];
		entered += count[i] != 0;
	}
	printf("ok %u %llu\n", entered, sum);
	return 0;
}

static int do_stats(void)
{
	const struct gtp_inject_stats *s = gtp_inject_stats(in);

	printf("ok %u %u %u\n", s->moved, s->moved_frames, s->left_in);
	return 0;
}

static int do_begin(void)
{
	int err = gtp_inject_begin(in, &why);

	if (!err)
		printf("ok\n");
	return err;
}

static int do_end(void)
{
	gtp_inject_end(in);
	printf("ok %llu\n", gtp_inject_stats(in)->stood);
	return 0;
}

static int do_idle(void)
{
	int err = gtp_inject_begin(in, &why);

	if (err)
		return err;
	printf("ok %d\n", gtp_inject_idle(in, pads, SLOTS * SLOT));
	gtp_inject_end(in);
	return 0;
}

static int do_call(char *text)
{
	u64 args[6] = { 0 };
	u32 i, nr = (u32)strtoul(text, &text, 0);
	s64 result;
	int err;

	for (i = 0; i < 6; i++)
		args[i] = strtoull(text, &text, 0);
	err = gtp_inject_call(in, nr, args, &result, &why);
	if (!err)
		printf("ok %lld\n", result);
	return err;
}

static int do_close(void)
{
	int err = gtp_inject_close(in, &why);

	in = NULL;
	gtp_process_close(&process);
	if (!err)
		printf("ok\n");
	return err;
}

static int perform(char *line)
{
	char path[1000];
	u64 a = 0, b = 0, c = 0;

	if (sscanf(line, "attach %llu", &a) == 1)
		return do_attach((u32)a);
	if (sscanf(line, "places %999s %llx %llx %llx", path, &a, &b, &c) >= 2)
		return do_places(path, a, b, c);
	if (sscanf(line, "map %llu %llu", &a, &b) == 2)
		return do_map((u32)a, b);
	if (sscanf(line, "set %llu %llu", &a, &b) == 2)
		return do_set((u32)a, b);
	if (sscanf(line, "toggle %llu %llu %llu", &a, &b, &c) == 3)
		return do_toggle((u32)a, (u32)b, c);
	if (sscanf(line, "roam %llu %llu %llu", &a, &b, &c) == 3)
		return do_roam((u32)a, (u32)b, c);
	if (!strncmp(line, "unset", 5))
		return do_unset();
	if (!strncmp(line, "counts", 6))
		return do_counts();
	if (!strncmp(line, "idle", 4))
		return do_idle();
	if (!strncmp(line, "stats", 5))
		return do_stats();
	if (!strncmp(line, "memory", 6))
		return printf("ok %llx %llx\n", pads, counters) < 0;
	if (!strncmp(line, "begin", 5))
		return do_begin();
	if (!strncmp(line, "end", 3))
		return do_end();
	if (!strncmp(line, "call ", 5))
		return do_call(line + 5);
	if (!strncmp(line, "close", 5))
		return do_close();
	return -EINVAL;
}

int main(void)
{
	char line[2000];
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		why.text[0] = '\0';
		err = perform(line);
		if (err)
			printf("error %d %s\n", -err, why.text);
	}
	return 0;
}
