// SPDX-License-Identifier: GPL-2.0-only
/*
 * gdbtp-cc: runs the compiler, and marks basic blocks in the line table.
 *
 * GCC never sets the basic_block flag in DWARF's line table, although the assembler supports it.
 * This program runs GCC with itself as the wrapper of each step (gcc -wrapper), and edits the
 * assembler text: the row after each label in code gets the flag. Not a byte of the code changes;
 * only .debug_line grows, by a few percent.
 *
 * Use it as the compiler: make CC=gdbtp-cc. The variable GDBTP_CC names the real compiler if it is
 * not gcc.
 */
#define _GNU_SOURCE /* memmem, memfd_create, asprintf */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP "--gdbtp-step"
#define LOC_MAX 96

struct buffer {
	char *bytes;
	size_t len;
	size_t room;
};

static void add(struct buffer *b, const char *bytes, size_t n)
{
	if (b->room - b->len < n) {
		b->room = 2 * b->room + n + 65536;
		b->bytes = realloc(b->bytes, b->room);
		if (!b->bytes)
			errx(2, "gdbtp-cc: out of memory");
	}
	memcpy(b->bytes + b->len, bytes, n);
	b->len += n;
}

static void add_text(struct buffer *b, const char *text)
{
	add(b, text, strlen(text));
}

/**
 * struct filter - state of the pass over the compiler's output
 * @code: true if the current section contains code
 * @app: true within inline assembler, whose directives are not parsed
 * @pending: true after a label, until a row or an instruction follows
 * @located: true after the first .loc; @loc has the file, line and column of the last .loc
 * @is_stmt: the state of is_stmt in the line table that the compiler expects
 * @restore: true if an added row has changed is_stmt
 */
struct filter {
	struct buffer out;
	bool code;
	bool app;
	bool pending;
	bool located;
	bool is_stmt;
	bool restore;
	char loc[LOC_MAX];
};

struct line {
	const char *start; /* of the line, after white space */
	const char *end;   /* before the newline */
};

static bool starts(const struct line *l, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(l->end - l->start) >= n && !memcmp(l->start, word, n);
}

static const char *find(const struct line *l, const char *word)
{
	return memmem(l->start, (size_t)(l->end - l->start), word, strlen(word));
}

static bool is_word(const struct line *l, const char *word)
{
	size_t n = strlen(word);

	return starts(l, word) && (l->start + n == l->end || l->start[n] == ' ' ||
				   l->start[n] == '\t' || l->start[n] == ',');
}

/*
 * Handle .section NAME[,"FLAGS"...]. The flags say whether the section contains code; without
 * flags, decide by the name.
 */
static void section(struct filter *f, const struct line *l)
{
	const char *flags = memchr(l->start, '"', (size_t)(l->end - l->start));
	const char *end = flags ? memchr(flags + 1, '"', (size_t)(l->end - flags - 1)) : NULL;

	if (end)
		f->code = !!memchr(flags, 'x', (size_t)(end - flags));
	else
		f->code = find(l, ".text") || find(l, ".init") || find(l, ".fini");
}

static void directive(struct filter *f, const struct line *l)
{
	if (is_word(l, ".text"))
		f->code = true;
	else if (is_word(l, ".data") || is_word(l, ".bss"))
		f->code = false;
	else if (is_word(l, ".section"))
		section(f, l);
}

/*
 * True for a label to which code can jump: a name, or .L with a number. Other labels are for debug
 * information.
 */
static bool is_label(const struct line *l)
{
	const char *p = l->start;

	if (starts(l, ".L")) {
		for (p += 2; p < l->end && *p >= '0' && *p <= '9'; p++)
			;
		return p > l->start + 2 && p + 1 == l->end && *p == ':';
	}
	return l->end > l->start && l->end[-1] == ':' && !memchr(p, ' ', (size_t)(l->end - p)) &&
	       !memchr(p, '\t', (size_t)(l->end - p)) && *p != '#';
}

/* Store FILE LINE [COLUMN] of a .loc, for added rows. */
static void remember(struct filter *f, const struct line *l)
{
	const char *p = l->start + 4, *end = p;
	size_t n;

	while (end < l->end && (*end == ' ' || *end == '\t' || (*end >= '0' && *end <= '9')))
		end++;
	n = (size_t)(end - p);
	if (n >= LOC_MAX)
		return;
	memcpy(f->loc, p, n);
	f->loc[n] = '\0';
	f->located = true;
}

static void loc(struct filter *f, const struct line *l)
{
	const char *stmt = find(l, "is_stmt ");

	remember(f, l);
	if (stmt)
		f->is_stmt = stmt[8] == '1';
	else if (f->restore && f->is_stmt)
		add_text(&f->out, " is_stmt 1");
	f->restore = false;
	if (f->pending && f->code && !find(l, "basic_block"))
		add_text(&f->out, " basic_block");
	f->pending = false;
}

/*
 * Add a row if there is no .loc between a label and the next instruction. The row has is_stmt 0, so
 * that debuggers set no breakpoint there.
 */
static void add_row(struct filter *f)
{
	f->pending = false;
	if (!f->located)
		return;
	add_text(&f->out, "\t.loc ");
	add_text(&f->out, f->loc);
	add_text(&f->out, " is_stmt 0 basic_block\n");
	f->restore = true;
}

/* Handle the beginning and end of inline assembler, where .loc_mark_labels marks the labels. */
static void inline_asm(struct filter *f, const struct line *l)
{
	if (starts(l, "#APP") && !f->app) {
		if (f->pending && f->code)
			add_row(f);
		f->app = true;
		if (f->located)
			add_text(&f->out, "\t.loc_mark_labels 1\n");
	} else if (starts(l, "#NO_APP") && f->app) {
		f->app = false;
		if (f->located)
			add_text(&f->out, "\t.loc_mark_labels 0\n");
	}
}

/*
 * Add a row for a label before padding or at a function's end, where code is unreachable. The
 * assembler would emit the row only at the next instruction, after the padding. A second .loc makes
 * the assembler emit the row of the first .loc before the padding.
 */
static void row_before_padding(struct filter *f)
{
	add_row(f);
	if (!f->restore)
		return;
	add_text(&f->out, "\t.loc ");
	add_text(&f->out, f->loc);
	add_text(&f->out, " is_stmt 0\n");
}

static bool is_padding(const struct line *l)
{
	static const char *const words[] = { ".p2align", ".align", ".balign",
					     ".skip",	 ".size",  ".cfi_endproc",
					     ".section", ".text",  NULL };
	size_t i;

	for (i = 0; words[i] && !is_word(l, words[i]); i++)
		;
	return words[i];
}

static bool is_insn(const struct line *l, bool indented)
{
	return indented && l->start < l->end && *l->start != '.' && *l->start != '#' &&
	       *l->start != '/';
}

static void one_line(struct filter *f, const char *start, size_t n)
{
	struct line l = { start, start + n };
	bool indented;

	while (l.start < l.end && (*l.start == '\t' || *l.start == ' '))
		l.start++;
	while (l.end > l.start && (l.end[-1] == '\r' || l.end[-1] == ' '))
		l.end--;
	indented = l.start != start;
	if (l.start < l.end && *l.start == '#')
		inline_asm(f, &l);
	if (!f->app && f->pending && f->code && is_insn(&l, indented) && !is_label(&l))
		add_row(f);
	else if (!f->app && f->pending && f->code && is_padding(&l))
		row_before_padding(f);
	add(&f->out, start, n);
	if (f->app || l.start == l.end)
		goto out;
	if (is_word(&l, ".loc"))
		loc(f, &l);
	else if (is_label(&l))
		f->pending |= f->code;
	else if (*l.start == '.')
		directive(f, &l);
out:
	add(&f->out, "\n", 1);
}

static struct buffer filtered(const struct buffer *in)
{
	struct filter f = { .code = true, .is_stmt = true };
	const char *p = in->bytes, *end = p + in->len;

	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			eol = end;
		one_line(&f, p, (size_t)(eol - p));
		p = eol + 1;
	}
	return f.out;
}

static struct buffer read_all(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct buffer b = { NULL, 0, 0 };
	char chunk[65536];
	ssize_t n;

	if (fd < 0)
		err(2, "gdbtp-cc: %s", path);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		add(&b, chunk, (size_t)n);
	if (n < 0)
		err(2, "gdbtp-cc: %s", path);
	if (fd != STDIN_FILENO)
		close(fd);
	return b;
}

/* Write the filtered text to a memfd; return a path by which the assembler can open it. */
static char *as_file(const struct buffer *b)
{
	int fd = memfd_create("gdbtp-cc", 0);
	size_t done = 0;
	char *path;

	if (fd < 0)
		err(2, "gdbtp-cc: memfd_create");
	while (done < b->len) {
		ssize_t n = write(fd, b->bytes + done, b->len - done);

		if (n < 0)
			err(2, "gdbtp-cc: write");
		done += (size_t)n;
	}
	if (asprintf(&path, "/proc/self/fd/%d", fd) < 0)
		errx(2, "gdbtp-cc: out of memory");
	return path;
}

static bool takes_value(const char *option)
{
	static const char *const names[] = { "-o", "-I", "--defsym", "-MD", "--MD", NULL };
	size_t i;

	for (i = 0; names[i] && strcmp(option, names[i]); i++)
		;
	return names[i];
}

/* Return the index of the file to assemble, 0 for standard input, -1 if there are several files. */
static int input(int argc, char **argv)
{
	int found = 0, i;

	for (i = 1; i < argc; i++) {
		if (argv[i][0] == '-' && argv[i][1]) {
			i += takes_value(argv[i]);
			continue;
		}
		if (found)
			return -1;
		found = i;
	}
	return found;
}

/* Run the assembler; if the input is a compiler's output, filter it first. */
static void assemble(int argc, char **argv)
{
	char **args = calloc((size_t)argc + 2, sizeof(*args));
	int at = input(argc, argv);
	struct buffer in, out;

	if (!args)
		errx(2, "gdbtp-cc: out of memory");
	memcpy(args, argv, (size_t)argc * sizeof(*args));
	if (at >= 0) {
		in = read_all(at ? argv[at] : "-");
		/* Text without rows, such as hand-written code, needs no marks. */
		out = memmem(in.bytes ? in.bytes : "", in.len, "\t.loc ", 6) ? filtered(&in) : in;
		args[at ? at : argc] = as_file(&out);
	}
	execvp(args[0], args);
	err(127, "gdbtp-cc: %s", args[0]);
}

/* Run one step of the compiler driver: argv[0] is the program to run. */
static void step(int argc, char **argv)
{
	const char *name = argc ? strrchr(argv[0], '/') : NULL;

	if (!argc)
		errx(2, "gdbtp-cc: %s is for the compiler driver", STEP);
	name = name ? name + 1 : argv[0];
	if (!strcmp(name, "as") || (strlen(name) > 3 && !strcmp(name + strlen(name) - 3, "-as")))
		assemble(argc, argv);
	execvp(argv[0], argv);
	err(127, "gdbtp-cc: %s", argv[0]);
}

static void compile(int argc, char **argv)
{
	char **args = calloc((size_t)argc + 4, sizeof(*args));
	const char *cc = getenv("GDBTP_CC");
	char self[4096], *wrapper;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int i, at;

	if (n < 0)
		err(2, "gdbtp-cc: /proc/self/exe");
	self[n] = '\0';
	if (strchr(self, ','))
		errx(2, "gdbtp-cc: %s: gcc cannot run a program whose path has a comma", self);
	if (!args || asprintf(&wrapper, "%s,%s", self, STEP) < 0)
		errx(2, "gdbtp-cc: out of memory");
	args[0] = (char *)(cc && *cc ? cc : "gcc");
	args[1] = (char *)"-wrapper";
	args[2] = wrapper;
	/* Drop -pipe, with which gcc wraps only the first program. The result is the same. */
	for (i = 1, at = 3; i < argc; i++) {
		if (strcmp(argv[i], "-pipe"))
			args[at++] = argv[i];
	}
	execvp(args[0], args);
	err(127, "gdbtp-cc: %s", args[0]);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], STEP))
		step(argc - 2, argv + 2);
	else
		compile(argc, argv);
	return 0;
}
