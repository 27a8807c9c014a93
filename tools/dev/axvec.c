// SPDX-License-Identifier: GPL-2.0-only
/* Read vectors, the test files in tests/vectors/. */
#include <ctype.h>
#include <stdlib.h>
#include "tools/axasm.h"
#include "tools/dev/axvec.h"

/* struct parse - the section that is being read; @p is the position in its text */
struct parse {
	struct axvec *v;
	const char *section;
	char *p;
	char *msg;
	size_t size;
	bool failed;
};

__printf(2, 3) static void fail(struct parse *in, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (in->failed)
		return;
	in->failed = true;
	n = snprintf(in->msg, in->size, "%s: -- %s: ", in->v->path, in->section);
	if ((size_t)n >= in->size)
		return;
	va_start(ap, fmt);
	vsnprintf(in->msg + n, in->size - (size_t)n, fmt, ap);
	va_end(ap);
}

static bool blank(char c)
{
	return isspace((u8)c) || c == '=';
}

/* Return the next word, NUL-terminated in place; NULL at the end. */
static char *word(struct parse *in)
{
	char *w;

	while (blank(*in->p))
		in->p++;
	if (!*in->p)
		return NULL;
	w = in->p;
	while (*in->p && !blank(*in->p))
		in->p++;
	if (*in->p)
		*in->p++ = '\0';
	return w;
}

static u64 to_number(struct parse *in, const char *w)
{
	char *end;
	u64 n;

	if (!w || !isdigit((u8)w[*w == '-'])) {
		fail(in, "a number is expected at \"%s\"", w ? w : "the end");
		return 0;
	}
	errno = 0;
	n = strtoull(w, &end, 0);
	if (errno || *end)
		fail(in, "\"%s\" is no 64-bit number", w);
	return n;
}

static u64 number(struct parse *in)
{
	return to_number(in, word(in));
}

/* struct bytes - the bytes that a line of a vector describes, parsed so far */
struct bytes {
	u8 data[AXENV_LOG_MAX];
	u32 len;
};

static void add_bytes(struct parse *in, struct bytes *b, const void *data, u32 len)
{
	if (b->len + len > sizeof(b->data)) {
		fail(in, "more than %zu bytes", sizeof(b->data));
		return;
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

/* Parse a string after its opening quote, with the escapes \n, \", \\ and \xHH. */
static void add_quoted(struct parse *in, struct bytes *b)
{
	for (; *in->p != '"'; in->p++) {
		char c = *in->p;

		if (!c) {
			fail(in, "a string has no closing quote");
			return;
		}
		if (c == '\\') {
			c = *++in->p;
			if (c == 'n') {
				c = '\n';
			} else if (c == 'x' &&
				   axasm_hex((char[]){ in->p[1], in->p[1] ? in->p[2] : 0, 0 },
					     (u8 *)&c, 1) == 1) {
				in->p += 2;
			} else if (c != '"' && c != '\\') {
				fail(in, "an escape that is not \\n \\\" \\\\ or \\xHH");
				return;
			}
		}
		add_bytes(in, b, &c, 1);
	}
	in->p++;
}

/* Parse a typed number: "u32 5" is 5 in four bytes, little-endian; "zero 16" is 16 bytes of 0. */
static bool add_number(struct parse *in, struct bytes *b, const char *type)
{
	static const u8 zeroes[4096];
	u8 le[8];
	u64 n;

	if (!strcmp(type, "zero")) {
		n = number(in);
		if (n > sizeof(zeroes))
			fail(in, "zero: at most %zu", sizeof(zeroes));
		else
			add_bytes(in, b, zeroes, (u32)n);
		return true;
	}
	if (strcmp(type, "u8") && strcmp(type, "u16") && strcmp(type, "u32") && strcmp(type, "u64"))
		return false;
	n = number(in);
	gtp_put_le(le, n, (u32)strtoul(type + 1, NULL, 10) / 8);
	add_bytes(in, b, le, (u32)strtoul(type + 1, NULL, 10) / 8);
	return true;
}

/* Parse the rest of the line into bytes: hex, "strings" and typed numbers. */
static void parse_bytes(struct parse *in, struct bytes *b)
{
	u8 hex[4096];
	const char *w;
	int n;

	for (b->len = 0; !in->failed;) {
		while (blank(*in->p))
			in->p++;
		if (*in->p == '"') {
			in->p++;
			add_quoted(in, b);
			continue;
		}
		w = word(in);
		if (!w)
			return;
		if (add_number(in, b, w))
			continue;
		n = axasm_hex(w, hex, sizeof(hex));
		if (n < 0)
			fail(in, "\"%s\" is neither hex nor a string nor a typed number", w);
		else
			add_bytes(in, b, hex, (u32)n);
	}
}

static void set_code(struct parse *in, const u8 *code, int len)
{
	if (in->v->has_code)
		fail(in, "the code is there already");
	if (in->failed || len < 0)
		return;
	in->v->has_code = true;
	in->v->len = (u32)len;
	in->v->code = malloc(len ? (size_t)len : 1);
	memcpy(in->v->code, code, (size_t)len);
}

static void section_asm(struct parse *in)
{
	static u8 code[2 * AX_MAX_LEN];
	char why[200];
	int len = axasm(in->p, code, sizeof(code), why, sizeof(why));

	if (len < 0)
		fail(in, "%s", why);
	set_code(in, code, len);
}

static void section_bytes(struct parse *in)
{
	static struct bytes b;

	parse_bytes(in, &b);
	set_code(in, b.data, (int)b.len);
}

static void section_kind(struct parse *in)
{
	const char *w = word(in);

	if (!w || (strcmp(w, "condition") && strcmp(w, "action")))
		fail(in, "condition or action is expected");
	else
		in->v->kind = *w == 'c' ? AX_CONDITION : AX_ACTION;
	in->v->has_kind = true;
}

static void section_regs(struct parse *in)
{
	static const char *const names[GTP_NR_SAVED_REGS] = {
		"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp",	   "r8", "r9",
		"r10", "r11", "r12", "r13", "r14", "r15", "rip", "eflags", "cs", "ss",
	};
	const char *w;
	u32 n;

	while (!in->failed && (w = word(in))) {
		if (!strcmp(w, "pc")) {
			in->v->env->ax.pc = number(in);
			continue;
		}
		for (n = 0; n < GTP_NR_SAVED_REGS && strcmp(w, names[n]); n++)
			;
		if (n == GTP_NR_SAVED_REGS)
			fail(in, "\"%s\" is no register", w);
		else
			*(u64 *)((char *)&in->v->env->regs + gtp_regs_offset(n)) = number(in);
	}
}

static void section_mem(struct parse *in)
{
	static struct bytes b;
	u64 addr = number(in);

	parse_bytes(in, &b);
	if (!in->failed && !axenv_map(in->v->env, addr, b.data, b.len))
		fail(in, "empty, overlapping, or more than %u of them", AXENV_MAPS);
}

static void parse_tsvs(struct parse *in, struct axenv *env)
{
	bool read_only;
	const char *w;
	s64 value;
	u64 num;

	for (w = word(in); w && !in->failed; w = read_only ? word(in) : w) {
		num = to_number(in, w);
		value = (s64)number(in);
		w = word(in);
		read_only = w && !strcmp(w, "ro");
		if (num > U16_MAX || !axenv_tsv(env, (u16)num, value, read_only))
			fail(in, "no such number, or more than %u of them", AXENV_TSVS);
	}
}

static void section_tsv(struct parse *in)
{
	parse_tsvs(in, in->v->env);
}

static void section_tsv_after(struct parse *in)
{
	parse_tsvs(in, in->v->want);
}

static void section_room(struct parse *in)
{
	in->v->env->room = (u32)number(in);
	if (in->v->env->room > AXENV_LOG_MAX)
		fail(in, "at most %u", AXENV_LOG_MAX);
}

static void section_result(struct parse *in)
{
	in->v->has_result = true;
	in->v->result = number(in);
}

/* Parse a line of the section "collected": "mem ADDR bytes" or "var NUM VALUE". */
static void collected_line(struct parse *in)
{
	static struct bytes b;
	const char *w = word(in);
	u64 where;
	int ret = 0;

	if (!w)
		return;
	where = number(in);
	if (!strcmp(w, "mem")) {
		parse_bytes(in, &b);
		ret = axenv_log_mem(in->v->want, where, b.data, b.len);
	} else if (!strcmp(w, "var")) {
		ret = axenv_log_var(in->v->want, (u16)where, (s64)number(in));
	} else {
		fail(in, "mem or var is expected at \"%s\"", w);
	}
	if (ret)
		fail(in, "more than a world's log holds");
	if (word(in))
		fail(in, "something is left over on a line");
}

static void section_collected(struct parse *in)
{
	char *end;

	for (end = strchr(in->p, '\n'); end && !in->failed; end = strchr(in->p, '\n')) {
		*end = '\0';
		collected_line(in);
		in->p = end + 1;
	}
}

static void section_printed(struct parse *in)
{
	static struct bytes b;

	parse_bytes(in, &b);
	if (b.len >= sizeof(in->v->want->printed))
		fail(in, "too long");
	if (in->failed)
		return;
	memcpy(in->v->want->printed, b.data, b.len);
	in->v->want->printed[b.len] = '\0';
	in->v->want->printed_len = b.len;
}

static u32 find_error(struct parse *in, const char *name)
{
	u32 code;

	if (!strcmp(name, "FULL"))
		return AXVEC_FULL;
	for (code = AX_OK + 1; code < AX_NR_ERRORS; code++)
		if (!strcmp(name, ax_error_name(code)))
			return code;
	fail(in, "\"%s\" is no error", name);
	return AX_OK;
}

static void section_error(struct parse *in)
{
	const char *w = word(in);

	in->v->error = find_error(in, w ? w : "");
	if (in->v->error == AXVEC_FULL)
		return;
	w = word(in);
	if (!w || *w != '@')
		fail(in, "@PC is expected");
	else
		in->v->error_pc = (u32)to_number(in, w + 1);
	while (!in->failed && in->v->error_nargs < 2 && (w = word(in)))
		in->v->error_arg[in->v->error_nargs++] = to_number(in, w);
}

static void section_why(struct parse *in)
{
	char *end = in->p + strlen(in->p);

	while (end > in->p && isspace((u8)end[-1]))
		*--end = '\0';
	while (blank(*in->p))
		in->p++;
	if (!*in->p)
		fail(in, "a reason is expected");
	free(in->v->why);
	in->v->why = strdup(in->p);
	in->p = end;
}

/* read_section() takes the first name that matches, so "tsv after" must precede "tsv". */
static const struct section {
	const char *name;
	void (*read)(struct parse *in);
} sections[] = {
	{ "asm", section_asm },		{ "bytes", section_bytes },
	{ "kind", section_kind },	{ "regs", section_regs },
	{ "mem", section_mem },		{ "tsv after", section_tsv_after },
	{ "tsv", section_tsv },		{ "room", section_room },
	{ "result", section_result },	{ "collected", section_collected },
	{ "printed", section_printed }, { "error", section_error },
	{ "why", section_why },
};

/* Parse a section; @text begins after "-- ", and is terminated at the section's end. */
static void read_section(struct parse *in, char *text)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		len = strlen(sections[i].name);
		if (strncmp(text, sections[i].name, len) || !isspace((u8)text[len]))
			continue;
		in->section = sections[i].name;
		in->p = text + len;
		sections[i].read(in);
		/*
		 * The sections asm and why read all of their text; in other sections, a word that
		 * is left over is an error.
		 */
		if (!in->failed && sections[i].read != section_asm && word(in))
			fail(in, "something is left over");
		return;
	}
	in->section = "?";
	fail(in, "unknown section \"%.12s\"", text);
}

static void read_sections(struct parse *in, char *text)
{
	char *next;

	in->section = "start";
	if (strncmp(text, "-- ", 3) != 0)
		fail(in, "the file must begin with \"-- \"");
	for (; text && !in->failed; text = next) {
		next = strstr(text, "\n-- ");
		if (next) {
			next[1] = '\0';
			read_section(in, text + 3);
			next++;
			*next = '-';
			continue;
		}
		read_section(in, text + 3);
	}
}

/* Return the file's text with a newline added, so that the last section ends like the others. */
static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	} else {
		text = realloc(text, strlen(text) + 2);
		strcat(text, "\n");
	}
	fclose(f);
	return text;
}

/* Expect that the variables that "tsv after" does not name keep their values. */
static void complete(struct parse *in)
{
	struct axvec *v = in->v;
	u32 i, j;

	in->section = "end";
	if (!v->has_code || !v->why)
		fail(in, "%s is missing", v->why ? "asm or bytes" : "why");
	if (!v->has_kind)
		v->kind = v->has_result ? AX_CONDITION : AX_ACTION;
	for (i = 0; i < v->env->ntsvs; i++) {
		for (j = 0; j < v->want->ntsvs; j++)
			if (v->want->tsvs[j].num == v->env->tsvs[i].num)
				break;
		if (j == v->want->ntsvs)
			axenv_tsv(v->want, v->env->tsvs[i].num, v->env->tsvs[i].value, false);
	}
}

struct axvec *axvec_load(const char *path, char *msg, size_t size)
{
	struct axvec *v = calloc(1, sizeof(*v));
	struct parse in = { .v = v, .msg = msg, .size = size };
	char *text = read_file(path);

	v->path = strdup(path);
	v->env = axenv_new();
	v->want = axenv_new();
	in.section = "file";
	if (!text)
		fail(&in, "%s", strerror(errno));
	else
		read_sections(&in, text);
	complete(&in);
	free(text);
	if (!in.failed)
		return v;
	axvec_free(v);
	return NULL;
}

void axvec_free(struct axvec *v)
{
	axenv_free(v->env);
	axenv_free(v->want);
	free(v->path);
	free(v->code);
	free(v->why);
	free(v);
}
