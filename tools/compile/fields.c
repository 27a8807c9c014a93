// SPDX-License-Identifier: GPL-2.0-only
/* Find numbers in packets of definitions: addresses, constants of expressions, digits in texts. */
#include "agentexpr/ax.h"
#include "base/parse.h"
#include "fields.h"

enum { TEXT_DIGITS_LEAST = 6 }; /* fewer digits in a source text are not an address */

struct search {
	const char *packet;
	struct gtp_in in;
	void (*found)(void *ctx, enum field_kind kind, u32 at, u32 digits);
	void *ctx;
};

static u32 here(const struct search *s)
{
	return (u32)(s->in.p - s->packet);
}

static u32 skip_digits(struct search *s)
{
	u32 from = here(s);

	while (gtp_hex_digit(gtp_in_peek(&s->in)) >= 0)
		s->in.p++;
	return here(s) - from;
}

static void number(struct search *s)
{
	u32 at = here(s), digits = skip_digits(s);

	if (digits)
		s->found(s->ctx, FIELD_NUMBER, at, digits);
}

/*
 * pass - skip the text up to and including the next @c; if there is no @c, skip everything and
 * return false
 */
static bool pass(struct search *s, char c)
{
	while (!gtp_in_end(&s->in))
		if (*s->in.p++ == c)
			return true;
	return false;
}

/* Find the fields in an expression, the "LEN,HEX" after an X. */
static void expression(struct search *s)
{
	static u8 code[AX_MAX_LEN];
	struct ax_insn insn;
	u32 len, pc, at;

	if (!gtp_in_hex32(&s->in, &len) || !gtp_in_char(&s->in, ',') || len > sizeof(code))
		return;
	at = here(s);
	if (!gtp_in_bytes(&s->in, code, len))
		return;
	for (pc = 0; pc < len && !ax_decode(code, len, pc, &insn); pc = insn.next)
		if (insn.op == AX_OP_const32 || insn.op == AX_OP_const64)
			s->found(s->ctx, FIELD_OPERAND, at + 2 * (pc + 1),
				 2 * (insn.next - pc - 1));
}

/* Find the fields in a sequence of actions: Rmask, Mbase,offset,length and Xlength,hex. */
static void actions(struct search *s)
{
	while (!gtp_in_end(&s->in)) {
		char letter = *s->in.p++;

		if (letter == 'X') {
			expression(s);
		} else if (letter == 'R') {
			skip_digits(s);
		} else if (letter == 'M' && pass(s, ',')) {
			number(s);
			pass(s, ',');
			skip_digits(s);
		}
	}
}

/*
 * Find the fields in E|D:STEP:PASS and the following options. Only the condition can have an
 * address.
 */
static void definition(struct search *s)
{
	while (pass(s, ':'))
		if (gtp_in_char(&s->in, 'X'))
			expression(s);
}

/* Find the fields in TYPE:START:LENGTH:HEX: the numbers in hex in the text that HEX encodes. */
static void source(struct search *s)
{
	const char *digit;
	u32 at, run = 0;
	u8 c;

	if (!pass(s, ':') || !pass(s, ':') || !pass(s, ':'))
		return;
	for (at = here(s); gtp_in_bytes(&s->in, &c, 1); at += 2) {
		digit = strchr("0123456789abcdef", c);
		if (c && digit) {
			run++;
			continue;
		}
		if (run >= TEXT_DIGITS_LEAST)
			s->found(s->ctx, FIELD_TEXT, at - 2 * run, run);
		run = 0;
	}
	if (run >= TEXT_DIGITS_LEAST)
		s->found(s->ctx, FIELD_TEXT, at - 2 * run, run);
}

/* Find the field in N:ADDR, and let @rest find the fields in the following text. */
static void placed(struct search *s, void (*rest)(struct search *s))
{
	if (!pass(s, ':'))
		return;
	number(s);
	if (rest && gtp_in_char(&s->in, ':'))
		rest(s);
}

static const struct {
	const char *name;
	void (*rest)(struct search *s);
} packets[] = {
	{ "QTDP:-", actions }, { "QTDP:", definition }, { "QTDPsrc:", source },
	{ "QTEnable:", NULL }, { "QTDisable:", NULL },	{ "QTDV:", NULL },
};

void fields_find(const char *packet, u32 len,
		 void (*found)(void *ctx, enum field_kind kind, u32 at, u32 digits), void *ctx)
{
	struct search s = { .packet = packet, .found = found, .ctx = ctx };
	u32 i;

	gtp_in_init(&s.in, packet, len);
	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		if (!gtp_in_word(&s.in, packets[i].name))
			continue;
		placed(&s, packets[i].rest);
		return;
	}
}
