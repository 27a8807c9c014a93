// SPDX-License-Identifier: GPL-2.0-only
/* Parses, checks and converts the formats of printf. */
#include "agentexpr/format.h"
#include "agentexpr/meaning.h"

enum {
	FLAG_LEFT = 1 << 0,
	FLAG_PLUS = 1 << 1,
	FLAG_SPACE = 1 << 2,
	FLAG_ALT = 1 << 3,
	FLAG_ZERO = 1 << 4,
	NUMBER_DIGITS = 3,
};

/* struct conv - one conversion of a format; @type is '%' or one of d u x X o c p s */
struct conv {
	u8 flags;
	u8 bytes; /* bytes of the argument that are converted: 1, 2, 4 or 8 */
	char type;
	bool has_precision;
	u32 width;
	u32 precision;
};

/* struct cursor - the position of the parser in a format; @pos never passes @len */
struct cursor {
	const u8 *fmt;
	u32 len;
	u32 pos;
};

/* Return the next byte, or 0 at the end of the format. No byte of a valid format is 0. */
static u8 peek(const struct cursor *c)
{
	return c->pos < c->len ? c->fmt[c->pos] : 0;
}

static bool accept(struct cursor *c, u8 want)
{
	if (peek(c) != want)
		return false;
	c->pos++;
	return true;
}

static u8 parse_flags(struct cursor *c)
{
	static const char flags[] = "-+ #0";
	const char *at;
	u8 found = 0;

	while (peek(c)) {
		at = strchr(flags, peek(c));
		if (!at)
			break;
		found |= (u8)(1 << (at - flags));
		c->pos++;
	}
	return found;
}

/*
 * Parse a number of at most NUMBER_DIGITS digits. If another digit follows, the caller refuses the
 * format, because it expects a conversion's letter there.
 */
static u32 parse_number(struct cursor *c)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < NUMBER_DIGITS && peek(c) >= '0' && peek(c) <= '9'; i++)
		n = n * 10 + (c->fmt[c->pos++] - '0');
	return n;
}

/* Parse a length modifier. Return the argument's size in bytes, or 0 if there is no modifier. */
static u8 parse_length(struct cursor *c)
{
	if (accept(c, 'h'))
		return accept(c, 'h') ? 1 : 2;
	if (accept(c, 'l')) {
		accept(c, 'l');
		return 8;
	}
	return accept(c, 'z') ? 8 : 0;
}

static bool parse_type(struct cursor *c, struct conv *conv)
{
	u8 type = peek(c);

	if (!type || !strchr("diuxXocps", type))
		return false;
	if (strchr("cps", type)) {
		if (conv->bytes)
			return false;
		conv->bytes = type == 'c' ? 1 : 8;
	} else if (!conv->bytes) {
		conv->bytes = 4;
	}
	conv->type = type == 'i' ? 'd' : (char)type;
	c->pos++;
	return true;
}

/* Parse a conversion after its '%'. If it is wrong, return false with @c->pos at the wrong byte. */
static bool parse_conv(struct cursor *c, struct conv *conv)
{
	*conv = (struct conv){ .type = '%' };
	if (accept(c, '%'))
		return true;
	conv->flags = parse_flags(c);
	conv->width = parse_number(c);
	conv->has_precision = accept(c, '.');
	if (conv->has_precision)
		conv->precision = parse_number(c);
	conv->bytes = parse_length(c);
	return parse_type(c, conv);
}

/*
 * Parse an escape sequence after its backslash: GDB sends a format as the user typed it. Refuse
 * octal digits that stand for a NUL, which would end the text, or for a '%', which would look like
 * a conversion.
 */
static bool parse_escape(struct cursor *c, char *byte)
{
	static const char names[] = "abefnrtv\\\"'";
	static const char values[] = "\a\b\033\f\n\r\t\v\\\"'";
	const char *at = peek(c) ? strchr(names, peek(c)) : NULL;
	u32 octal = 0;
	u32 i;

	if (at) {
		*byte = values[at - names];
		c->pos++;
		return true;
	}
	for (i = 0; i < 3 && peek(c) >= '0' && peek(c) <= '7'; i++)
		octal = octal * 8 + (c->fmt[c->pos++] - '0');
	*byte = (char)octal;
	return octal && octal <= 0xff && octal != '%';
}

/*
 * Parse a conversion or one byte of text. For a byte of text set @conv->type to '%'. If the format
 * is wrong, return false like parse_conv().
 */
static bool next_piece(struct cursor *c, struct conv *conv, char *byte)
{
	conv->type = '%';
	*byte = (char)c->fmt[c->pos++];
	if (*byte == '%')
		return parse_conv(c, conv);
	return *byte != '\\' || parse_escape(c, byte);
}

static enum ax_err wrong(struct ax_error *err, enum ax_err code, u64 arg, u64 arg2)
{
	err->code = (u16)code;
	err->arg = arg;
	err->arg2 = arg2;
	return code;
}

static enum ax_err check_conversions(struct cursor *c, struct ax_error *err, u32 *args,
				     bool *reads_mem)
{
	struct conv conv;
	char byte;

	*args = 0;
	while (c->pos < c->len) {
		if (!next_piece(c, &conv, &byte))
			return wrong(err, AX_E_BAD_FORMAT, c->pos, 0);
		*args += conv.type != '%';
		*reads_mem |= conv.type == 's';
	}
	return AX_OK;
}

enum ax_err ax_format_check(const struct ax_insn *insn, struct ax_error *err, bool *reads_mem)
{
	struct cursor c = { .fmt = insn->data, .len = insn->data_len - 1U };
	enum ax_err code;
	u32 args;

	*reads_mem = false;
	if (!insn->data_len || memchr(insn->data, 0, insn->data_len) != insn->data + c.len)
		return wrong(err, AX_E_FORMAT_NUL, insn->data_len, 0);
	if (insn->nargs > AX_MAX_PRINT_ARGS)
		return wrong(err, AX_E_PRINT_ARGS, insn->nargs, AX_MAX_PRINT_ARGS);
	code = check_conversions(&c, err, &args, reads_mem);
	if (code == AX_OK && args != insn->nargs)
		return wrong(err, AX_E_FORMAT_ARGS, args, insn->nargs);
	return code;
}

/* struct out - the text that is being written; one byte is reserved for the NUL */
struct out {
	char *text;
	u32 len;
};

static u32 room(const struct out *o)
{
	return AX_PRINT_MAX - 1 - o->len;
}

static void put(struct out *o, char c)
{
	if (room(o))
		o->text[o->len++] = c;
}

static void pad(struct out *o, char c, u32 n)
{
	while (n-- && room(o))
		o->text[o->len++] = c;
}

/* struct digits - the digits of a number to print, the least significant first */
struct digits {
	char digit[22]; /* 2^64 in octal */
	u32 n;
	char prefix[3];
	u32 zeros;
};

static void make_digits(struct digits *d, u64 value, u32 base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	for (; value; value /= base)
		d->digit[d->n++] = set[value % base];
}

static void set_prefix(struct digits *d, const struct conv *conv, bool negative, bool zero)
{
	if (conv->type == 'd') {
		if (negative)
			d->prefix[0] = '-';
		else if (conv->flags & (FLAG_PLUS | FLAG_SPACE))
			d->prefix[0] = conv->flags & FLAG_PLUS ? '+' : ' ';
	} else if (conv->type == 'p' ||
		   (conv->flags & FLAG_ALT && !zero && (conv->type | 0x20) == 'x')) {
		d->prefix[0] = '0';
		d->prefix[1] = conv->type == 'X' ? 'X' : 'x';
	}
}

/*
 * Count the zeros before the digits: those for the precision, one for an octal number with #, or
 * those that fill the width.
 */
static void set_zeros(struct digits *d, const struct conv *conv)
{
	u32 least = conv->has_precision && conv->type != 'p' ? conv->precision : 1;

	if (conv->type == 'o' && conv->flags & FLAG_ALT && least <= d->n)
		least = d->n + 1;
	if (conv->flags & FLAG_ZERO && !(conv->flags & FLAG_LEFT) && !conv->has_precision &&
	    conv->width > strlen(d->prefix) && least < conv->width - strlen(d->prefix))
		least = conv->width - (u32)strlen(d->prefix);
	d->zeros = least > d->n ? least - d->n : 0;
}

static u32 base_of(char type)
{
	if (type == 'd' || type == 'u')
		return 10;
	return type == 'o' ? 8 : 16;
}

static void put_number(struct out *o, const struct conv *conv, u64 value)
{
	struct digits d = { .n = 0 };
	bool negative;
	const char *s;
	u32 n, fill;

	value = ax_extend(conv->type == 'd' ? AX_OP_ext : AX_OP_zero_ext, value, conv->bytes * 8U);
	negative = conv->type == 'd' && value >> 63;
	make_digits(&d, negative ? 0 - value : value, base_of(conv->type), conv->type == 'X');
	set_prefix(&d, conv, negative, !value);
	set_zeros(&d, conv);

	n = (u32)strlen(d.prefix) + d.zeros + d.n;
	fill = conv->width > n ? conv->width - n : 0;
	if (!(conv->flags & FLAG_LEFT))
		pad(o, ' ', fill);
	for (s = d.prefix; *s; s++)
		put(o, *s);
	pad(o, '0', d.zeros);
	while (d.n)
		put(o, d.digit[--d.n]);
	if (conv->flags & FLAG_LEFT)
		pad(o, ' ', fill);
}

/* Pad the last @n bytes of the text with blanks to the conversion's width, as its flags say. */
static void justify(struct out *o, const struct conv *conv, u32 n)
{
	u32 fill = conv->width > n ? conv->width - n : 0;
	char *at = o->text + o->len - n;

	if (fill > room(o))
		fill = room(o);
	if (!(conv->flags & FLAG_LEFT)) {
		memmove(at + fill, at, n);
		memset(at, ' ', fill);
	} else {
		memset(at + n, ' ', fill);
	}
	o->len += fill;
}

/* Write a byte of foreign text as 1, 2 or 4 characters; return the number of characters. */
static u32 escape(u8 byte, char *text)
{
	static const char bytes[] = "\a\b\t\n\v\f\r\\";
	static const char names[] = "abtnvfr\\";
	const char *at = memchr(bytes, byte, sizeof(bytes) - 1);

	text[0] = '\\';
	if (at) {
		text[1] = names[at - bytes];
		return 2;
	}
	if (byte < ' ' || byte > '~') {
		text[1] = (char)('0' + (byte >> 6));
		text[2] = (char)('0' + (byte >> 3 & 7));
		text[3] = (char)('0' + (byte & 7));
		return 4;
	}
	text[0] = (char)byte;
	return 1;
}

/*
 * Append a byte of a string that comes from the traced kernel, such as a name of a file or process.
 * Whoever chose the name must not control the terminal that shows the text, or split a line: escape
 * every byte that is not a plain character, as in GDB's strings. The format itself comes from GDB's
 * user and is not escaped. Neither is the output of %#s, which is for programs that know where each
 * string ends.
 * Return: false if the byte or its escape does not fit; then nothing was appended.
 */
static bool put_foreign(struct out *o, const struct conv *conv, u8 byte)
{
	char text[4] = { (char)byte };
	u32 n = conv->flags & FLAG_ALT ? 1 : escape(byte, text);

	if (n > room(o))
		return false;
	memcpy(o->text + o->len, text, n);
	o->len += n;
	return true;
}

static void put_byte(struct out *o, const struct conv *conv, u64 value)
{
	u32 before = o->len;

	if ((u8)value)
		put_foreign(o, conv, (u8)value);
	justify(o, conv, o->len - before);
}

/*
 * Append the string at *@addr. Read it byte by byte: a read past the NUL could reach a page that is
 * not mapped.
 * Return: false if a byte cannot be read; *@addr is its address.
 */
static bool put_string(struct out *o, const struct conv *conv, struct ax_env *env, u64 *addr)
{
	u32 max = conv->has_precision ? conv->precision : AX_PRINT_MAX;
	u32 before = o->len;
	u32 n;
	u8 c;

	for (n = 0; n < max && room(o); n++, ++*addr) {
		if (env->ops->read(env->ctx, &c, *addr, 1))
			return false;
		if (!c || !put_foreign(o, conv, c))
			break;
	}
	justify(o, conv, o->len - before);
	return true;
}

static bool put_conv(struct out *o, const struct conv *conv, struct ax_env *env, u64 *value)
{
	if (conv->type == 's')
		return put_string(o, conv, env, value);
	if (conv->type == 'c')
		put_byte(o, conv, *value);
	else
		put_number(o, conv, *value);
	return true;
}

int ax_format_print(struct ax_env *env, const struct ax_insn *insn, const u64 *top)
{
	struct cursor c = { .fmt = insn->data, .len = insn->data_len - 1U };
	struct out o = { .text = env->text };
	struct conv conv;
	u64 value;
	char byte;

	while (c.pos < c.len) {
		/*
		 * The format is verified: this cannot fail, and there are as many arguments as
		 * conversions.
		 */
		next_piece(&c, &conv, &byte);
		if (conv.type == '%') {
			put(&o, byte);
			continue;
		}
		value = *--top;
		if (!put_conv(&o, &conv, env, &value))
			return ax_fail(env, insn, AX_E_BAD_ADDRESS, value, 1);
	}
	o.text[o.len] = '\0';
	env->ops->print(env->ctx, o.text, o.len);
	return 0;
}
