// SPDX-License-Identifier: GPL-2.0-only
/* An assembler for agent expressions. */
#include <ctype.h>
#include <stdlib.h>
#include "tools/axasm.h"

enum {
	LABELS = 64,
	WORD = 64,
};

struct label {
	char name[WORD];
	int pc; /* -1: the label is not defined yet */
};

/* A jump to a label. The target is filled in when all labels are known. */
struct patch {
	u32 at;
	u32 label;
};

struct assembler {
	const char *text;
	const char *p;
	u8 *code;
	u32 size;
	u32 len;
	struct label labels[LABELS];
	u32 nlabels;
	struct patch patches[LABELS];
	u32 npatches;
	char *why;
	size_t why_size;
	bool failed;
};

__printf(2, 3) static void fail(struct assembler *a, const char *fmt, ...)
{
	u32 line = 1;
	const char *s;
	va_list ap;
	int n;

	if (a->failed)
		return;
	a->failed = true;
	for (s = a->text; s < a->p; s++)
		line += *s == '\n';
	n = snprintf(a->why, a->why_size, "line %u of the assembly: ", line);
	if ((size_t)n >= a->why_size)
		return;
	va_start(ap, fmt);
	vsnprintf(a->why + n, a->why_size - (size_t)n, fmt, ap);
	va_end(ap);
}

static void put(struct assembler *a, u64 value, u32 bytes)
{
	if (a->len + bytes > a->size) {
		fail(a, "there is no room for more than %u bytes", a->size);
		return;
	}
	while (bytes--)
		a->code[a->len++] = (u8)(value >> 8 * bytes);
}

static void skip_blanks(struct assembler *a)
{
	while (*a->p == ' ' || *a->p == '\t')
		a->p++;
}

static void skip_space(struct assembler *a)
{
	for (; *a->p; a->p++) {
		if (*a->p == '#')
			a->p += strcspn(a->p, "\n") - 1;
		else if (!isspace((u8)*a->p) && *a->p != ';')
			return;
	}
}

/* Parse a word of letters, digits, '_' and '.'; "" if there is none. */
static void parse_word(struct assembler *a, char *out)
{
	u32 n = 0;

	skip_blanks(a);
	while (isalnum((u8)*a->p) || *a->p == '_' || *a->p == '.') {
		if (n == WORD - 1) {
			fail(a, "a word is too long");
			break;
		}
		out[n++] = *a->p++;
	}
	out[n] = '\0';
}

/* Parse a number that fits in @bytes bytes, unsigned or in two's complement. */
static u64 parse_number(struct assembler *a, u32 bytes)
{
	u64 max = bytes == 8 ? ~0ULL : BIT_ULL(8 * bytes) - 1;
	bool negative;
	char *end;
	u64 value;

	skip_blanks(a);
	negative = *a->p == '-';
	errno = 0;
	value = strtoull(a->p + negative, &end, 0);
	if (!isdigit((u8)a->p[negative]) || errno)
		fail(a, "a number is expected at \"%.12s\"", a->p);
	else if (value > max || (negative && value > max / 2 + 1))
		fail(a, "%.*s does not fit %u bytes", (int)(end - a->p), a->p, bytes);
	a->p = end;
	return negative ? 0 - value : value;
}

static u32 find_label(struct assembler *a, const char *name)
{
	u32 i;

	for (i = 0; i < a->nlabels; i++)
		if (!strcmp(a->labels[i].name, name))
			return i;
	if (a->nlabels == LABELS) {
		fail(a, "more than %u labels", LABELS);
		return 0;
	}
	strcpy(a->labels[i].name, name);
	a->labels[i].pc = -1;
	a->nlabels++;
	return i;
}

static void jump_operand(struct assembler *a)
{
	char name[WORD];

	skip_blanks(a);
	if (isdigit((u8)*a->p)) {
		put(a, parse_number(a, 2), 2);
		return;
	}
	parse_word(a, name);
	if (!*name || a->npatches == LABELS) {
		fail(a, *name ? "too many jumps" : "a label or byte number is expected");
		return;
	}
	a->patches[a->npatches++] = (struct patch){ .at = a->len, .label = find_label(a, name) };
	put(a, 0, 2);
}

static u8 parse_escape(struct assembler *a)
{
	char hex[3] = "";

	switch (*a->p++) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '\\':
		return '\\';
	case '"':
		return '"';
	case 'x':
		if (isxdigit((u8)a->p[0]) && isxdigit((u8)a->p[1])) {
			memcpy(hex, a->p, 2);
			a->p += 2;
			return (u8)strtoul(hex, NULL, 16);
		}
	}
	fail(a, "an escape that is not \\n \\t \\\\ \\\" or \\xHH");
	return 0;
}

static void quoted(struct assembler *a)
{
	skip_blanks(a);
	if (*a->p != '"') {
		fail(a, "a format in quotes is expected");
		return;
	}
	for (a->p++; *a->p && *a->p != '"' && !a->failed;) {
		if (*a->p != '\\') {
			put(a, (u8)*a->p++, 1);
			continue;
		}
		a->p++;
		put(a, parse_escape(a), 1);
	}
	if (*a->p != '"')
		fail(a, "the format has no closing quote");
	else
		a->p++;
}

static void printf_operands(struct assembler *a)
{
	u32 at, len;
	char name[WORD];

	put(a, parse_number(a, 1), 1);
	at = a->len;
	put(a, 0, 2);
	quoted(a);
	parse_word(a, name);
	if (strcmp(name, "no_nul") != 0)
		put(a, 0, 1);
	if (a->failed)
		return;
	len = a->len - at - 2;
	a->code[at] = (u8)(len >> 8);
	a->code[at + 1] = (u8)len;
}

static int find_op(const char *name)
{
	int op;

	for (op = 0; op < 256; op++)
		if (ax_op_info[op].name && !strcmp(ax_op_info[op].name, name))
			return op;
	return -1;
}

static void define_label(struct assembler *a, const char *name)
{
	u32 i = find_label(a, name);

	if (a->labels[i].pc >= 0)
		fail(a, "label %s is there twice", name);
	a->labels[i].pc = (int)a->len;
}

static void parse_instruction(struct assembler *a, const char *name)
{
	int op = find_op(name);
	u32 bytes;

	if (!strcmp(name, "byte")) {
		put(a, parse_number(a, 1), 1);
		return;
	}
	if (op < 0) {
		fail(a, "\"%s\" is no instruction", name);
		return;
	}
	put(a, (u64)op, 1);
	bytes = ax_op_info[op].operand_bytes;
	if (ax_op_info[op].rule == AX_RULE_jump)
		jump_operand(a);
	else if (ax_op_info[op].rule == AX_RULE_printf)
		printf_operands(a);
	else if (bytes)
		put(a, parse_number(a, bytes), bytes);
}

static void statement(struct assembler *a)
{
	char name[WORD];

	parse_word(a, name);
	if (*a->p == ':') {
		a->p++;
		define_label(a, name);
		return;
	}
	if (!*name) {
		fail(a, "an instruction is expected at \"%.12s\"", a->p);
		return;
	}
	parse_instruction(a, name);
	skip_blanks(a);
	if (*a->p && !strchr(";\n#\r", *a->p))
		fail(a, "\"%.12s\" is left over behind %s", a->p, name);
}

static void write_jumps(struct assembler *a)
{
	u32 i;

	for (i = 0; i < a->npatches && !a->failed; i++) {
		const struct label *label = &a->labels[a->patches[i].label];

		if (label->pc < 0)
			fail(a, "label %s is nowhere", label->name);
		a->code[a->patches[i].at] = (u8)(label->pc >> 8);
		a->code[a->patches[i].at + 1] = (u8)label->pc;
	}
}

int axasm(const char *text, u8 *code, u32 size, char *why, size_t why_size)
{
	static struct assembler a; /* static, because a small stack has no space for it */

	a = (struct assembler){
		.text = text,
		.p = text,
		.code = code,
		.size = size,
		.why = why,
		.why_size = why_size,
	};
	for (skip_space(&a); *a.p && !a.failed; skip_space(&a))
		statement(&a);
	write_jumps(&a);
	return a.failed ? -1 : (int)a.len;
}

static void list_error(const struct ax_error *err, FILE *out)
{
	char text[256];

	ax_error_format(err, text, sizeof(text));
	fprintf(out, "      ^ %s\n", text);
}

void axasm_listing(const u8 *code, u32 len, const struct ax_error *err, FILE *out)
{
	static char text[4 * 65536]; /* the longest format, with an escape for every byte */
	bool marked = !err || !err->code;
	struct ax_insn insn;
	u32 pc;

	for (pc = 0; pc < len; pc = insn.next) {
		if (ax_decode(code, len, pc, &insn) == AX_OK) {
			ax_disasm(&insn, text, sizeof(text));
		} else {
			snprintf(text, sizeof(text), "byte 0x%02x", code[pc]);
			insn.next = (u16)(pc + 1);
		}
		fprintf(out, "%5u %s\n", pc, text);
		if (!marked && err->pc == pc) {
			list_error(err, out);
			marked = true;
		}
	}
	if (!marked)
		list_error(err, out);
}

int axasm_hex(const char *hex, u8 *bytes, u32 size)
{
	char pair[3] = "";
	u32 n = 0;

	for (; *hex; hex++) {
		if (isspace((u8)*hex))
			continue;
		if (!isxdigit((u8)hex[0]) || !isxdigit((u8)hex[1]) || n == size)
			return -1;
		memcpy(pair, hex++, 2);
		bytes[n++] = (u8)strtoul(pair, NULL, 16);
	}
	return (int)n;
}
