// SPDX-License-Identifier: GPL-2.0-only
/* Write instructions and errors of expressions as text. */
#include "agentexpr/ax.h"

/* struct text - a string in limited memory; @len also counts the characters that did not fit */
struct text {
	char *buf;
	size_t size;
	size_t len;
};

static void put_char(struct text *t, char c)
{
	if (t->len + 1 < t->size)
		t->buf[t->len] = c;
	t->len++;
}

static void put_string(struct text *t, const char *s)
{
	while (*s)
		put_char(t, *s++);
}

static void put_number(struct text *t, const char *fmt, u64 value)
{
	char num[24];

	snprintf(num, sizeof(num), fmt, value);
	put_string(t, num);
}

static int finish(struct text *t)
{
	if (t->size)
		t->buf[t->len < t->size ? t->len : t->size - 1] = '\0';
	return (int)t->len;
}

/* Append one byte of a format in a printable form that the assembler turns back into that byte. */
static void put_escaped(struct text *t, u8 c)
{
	if (c == '"' || c == '\\') {
		put_char(t, '\\');
		put_char(t, (char)c);
	} else if (c == '\n') {
		put_string(t, "\\n");
	} else if (c < 0x20 || c > 0x7e) {
		put_number(t, "\\x%02llx", c);
	} else {
		put_char(t, (char)c);
	}
}

static void put_printf(struct text *t, const struct ax_insn *insn)
{
	u32 len = insn->data_len;
	u32 i;

	put_number(t, " %llu \"", insn->nargs);
	/*
	 * Leave out the format's NUL, which the assembler adds again. If the format has no NUL, a
	 * mark after the closing quote says so.
	 */
	if (len && !insn->data[len - 1])
		len--;
	for (i = 0; i < len; i++)
		put_escaped(t, insn->data[i]);
	put_string(t, len == insn->data_len ? "\" no_nul" : "\"");
}

int ax_disasm(const struct ax_insn *insn, char *buf, size_t size)
{
	const struct ax_op_info *info = &ax_op_info[insn->op];
	struct text t = { .buf = buf, .size = size };

	if (info->rule == AX_RULE_invalid) {
		put_number(&t, "byte 0x%02llx", insn->op);
		return finish(&t);
	}
	put_string(&t, info->name);
	if (info->rule == AX_RULE_printf)
		put_printf(&t, insn);
	else if (info->operand_bytes)
		/* Print wide constants in hex: more of them are addresses than counts. */
		put_number(&t, info->operand_bytes > 2 ? " 0x%llx" : " %llu", insn->operand);
	return finish(&t);
}

/* clang-format off */
static const char *const error_text[AX_NR_ERRORS] = {
#define X(name, text) \
	[AX_E_##name] = text,
	AX_VERIFY_ERRORS(X)
	AX_RUNTIME_ERRORS(X)
#undef X
};

static const char *const error_name[AX_NR_ERRORS] = {
	[AX_OK] = "OK",
#define X(name, text) \
	[AX_E_##name] = #name,
	AX_VERIFY_ERRORS(X)
	AX_RUNTIME_ERRORS(X)
#undef X
};

/* clang-format on */

/* Write the error's place, such as "ref32 at byte 8: ", if it belongs to an instruction. */
static void put_place(struct text *t, const struct ax_error *err)
{
	if (err->code == AX_E_EMPTY || err->code == AX_E_TOO_LONG)
		return;
	if (ax_op_info[err->op].name) {
		put_string(t, ax_op_info[err->op].name);
		put_char(t, ' ');
	}
	put_number(t, "at byte %llu: ", err->pc);
}

int ax_error_format(const struct ax_error *err, char *buf, size_t size)
{
	struct text t = { .buf = buf, .size = size };
	size_t room;

	if (!err->code || err->code >= AX_NR_ERRORS) {
		put_string(&t, err->code ? "unknown error" : "no error");
		return finish(&t);
	}
	put_place(&t, err);
	finish(&t);
	room = t.len < size ? size - t.len : 0;
	if (room)
		buf += t.len;
	return (int)t.len + snprintf(buf, room, error_text[err->code], err->arg, err->arg2);
}

const char *ax_error_name(enum ax_err code)
{
	return (u32)code < AX_NR_ERRORS ? error_name[code] : "?";
}
