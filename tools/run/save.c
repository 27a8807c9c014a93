// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a trace file like `gtp save`: in GDB's format, followed by a tail with aggregations and
 * stacks, which GDB does not read. gdbscripts/gtp/run/tail.py reads the tail.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fail.h"
#include "save.h"

/* Report a failed write and exit; the message says that the module still has the frames. */
static void fail_to_write(const char *path)
{
	fail(RUN_FAILED,
	     "%s: %s. The module has the frames until the next run: cp /proc/gtpframe FILE", path,
	     strerror(errno));
}

static void put(void *ctx, const void *bytes, size_t len)
{
	struct save *o = ctx;

	if (len && fwrite(bytes, len, 1, o->file) != 1)
		fail_to_write(o->path);
	o->size += len;
}

__printf(2, 3) static void say(struct save *o, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put(o, text, strlen(text));
}

struct memory {
	char *bytes;
	size_t len;
};

static void collect(void *ctx, const void *bytes, size_t len)
{
	struct memory *m = ctx;

	m->bytes = must(realloc(m->bytes, m->len + len + 1));
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
	m->bytes[m->len] = '\0';
}

/* --- the tail of the trace file --- */

static bool is_letter(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* True if @text contains, as a word, the VARIABLE of a record "name VARIABLE<tab>...". */
static bool names_one_of(const char *text, const struct gtpd_record *r)
{
	const char *name = (const char *)memchr(r->bytes, ' ', r->len), *end, *found = text;
	char word[128];
	size_t len;

	if (!name)
		return false;
	name++;
	end = memchr(name, '\t', (size_t)((const char *)r->bytes + r->len - name));
	len = end ? (size_t)(end - name) : 0;
	if (!len || len >= sizeof(word))
		return false;
	memcpy(word, name, len);
	word[len] = '\0';
	for (; (found = strstr(found, word)); found += len)
		if (!is_letter(found[len]) && (found == text || !is_letter(found[-1])))
			return true;
	return false;
}

static void put_stacks(struct save *o, const struct memory *stacks)
{
	const u8 *bytes = (const u8 *)stacks->bytes;
	size_t words = stacks->len / 8, at = 1, i;

	/*
	 * A stack is a word with a count, followed by that number of addresses. The number of a
	 * stack is the index of its first word, so no stack has the number 0.
	 */
	while (at < words) {
		u64 n, word;

		memcpy(&n, bytes + 8 * at, 8);
		if (!n || n >= words - at)
			return;
		say(o, "stack %zx", at);
		for (i = 1; i <= n; i++) {
			memcpy(&word, bytes + 8 * (at + i), 8);
			say(o, " %llx", word);
		}
		say(o, "\n");
		at += 1 + n;
	}
}

static void put_tail(struct save *o, struct client *c, const struct gtpd *g,
		     const struct gtpd_part *p, u64 distance)
{
	struct memory text = { 0 }, stacks = { 0 };
	struct gtpd_record r = { 0 };
	u64 from = o->size;

	client_transfer(c, "gtpaggregates:read:show", collect, &text);
	client_transfer(c, "gtpstacks:read:all", collect, &stacks);
	say(o, "gdbtp: aggregations and stacks, 1\n");
	while (gtpd_next_of(g, p, GTPD_NAME, &r)) {
		if (names_one_of(text.bytes, &r)) {
			put(o, r.bytes, r.len);
			say(o, "\n");
		}
	}
	r.bytes = NULL;
	while (gtpd_next_of(g, p, GTPD_KEY, &r)) {
		say(o, "key ");
		put(o, r.bytes, r.len);
		say(o, "\n");
	}
	say(o, "image %llx %llx\n", p->text + distance, p->end + distance);
	put_stacks(o, &stacks);
	put(o, text.bytes, text.len);
	say(o, "gdbtp: %016llu bytes\n", o->size - from);
	free(text.bytes);
	free(stacks.bytes);
}

void save_begin(struct save *o, const char *path)
{
	struct stat st;
	int err;

	*o = (struct save){ .path = path };
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		fail(RUN_FAILED, "%s is no ordinary file, and would be replaced by one", path);
	err = part_open(&o->part, path);
	if (err)
		fail(RUN_FAILED, "%s cannot be written: %s", path, strerror(-err));
	o->file = must(fdopen(o->part.fd, "w"));
}

u64 save(struct save *o, struct client *c, const struct gtpd *g, const struct gtpd_part *p,
	 u64 distance)
{
	int err;

	client_transfer(c, "gtpframe:read:", put, o);
	put_tail(o, c, g, p, distance);
	if (fflush(o->file) || fsync(fileno(o->file)))
		fail_to_write(o->path);
	err = part_finish(&o->part, o->path);
	if (err)
		errno = -err;
	if (err || fclose(o->file))
		fail_to_write(o->path);
	return o->size;
}
