// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests definitions of tracepoints: every field is checked, every refusal names the position,
 * nothing is left half defined, and nothing leaks.
 */
#include "define_case.h"

static int source(struct world *w, const char *text)
{
	char *copy = strdup(text);
	int rc;

	w->why.text[0] = '\0';
	rc = gtp_tracepoint_add_source(w->list, w->mem, copy, &w->why);
	free(copy);
	return rc;
}

static const char *piece(const struct gtp_tracepoint *tp, u32 n)
{
	static char buf[512];

	int len;

	buf[0] = '\0';
	len = gtp_tracepoint_piece(tp, n, buf, sizeof(buf));
	assert_int_equal(len, strlen(buf));
	return buf;
}

static void what_gdb_sends(void **state)
{
	struct world *w = *state;
	const struct gtp_action *a;

	assert_int_equal(define(w, "1:ffffffff81000000:E:0:5:Xc,2600052a4019162022031327-"), 0);
	assert_non_null(w->tp);
	assert_int_equal(w->tp->num, 1);
	assert_true(w->tp->addr == 0xffffffff81000000);
	assert_true(w->tp->enabled && w->tp->defining);
	assert_int_equal(w->tp->pass, 5);
	assert_int_equal(w->tp->cond->ax.len, 12);
	assert_int_equal(w->tp->slot, GTP_SLOT_NONE);

	assert_int_equal(act(w, "1:ffffffff81000000:R0fffffffffffffff-"), 0);
	assert_int_equal(act(w, "1:ffffffff81000000:M-1,ffffffff81200050,4X00000001,27-"), 0);
	assert_int_equal(act(w, "1:ffffffff81000000:X0000000B,2481200000162022500c27-"), 0);
	assert_int_equal(act(w, "1:ffffffff81000000:X00000008,2c00012e00012927"), 0);
	assert_false(w->tp->defining);
	assert_int_equal(w->tp->nactions, 5);

	a = w->tp->actions;
	assert_int_equal(a->kind, GTP_ACTION_REGS);
	assert_true(a->mask == GTP_REGS_KNOWN);
	a = a->next;
	assert_int_equal(a->kind, GTP_ACTION_MEM);
	assert_int_equal(a->base, -1);
	assert_true(a->offset == 0xffffffff81200050);
	assert_int_equal(a->len, 4);
	a = a->next;
	assert_int_equal(a->kind, GTP_ACTION_EXPR);
	assert_int_equal(a->expr->ax.len, 1);
	assert_int_equal(a->expr->ax.code[0], 0x27);
	a = a->next->next;
	assert_int_equal(a->expr->ax.flags, AX_F_GETS_TSV | AX_F_COLLECTS);
	assert_null(a->next);
}

static void upload(void **state)
{
	struct world *w = *state;
	struct gtp_tracepoint *tp;

	assert_int_equal(define(w, "2a:ffffffff81000000:D:0:1f:X3,220127-"), 0);
	tp = w->tp;
	assert_int_equal(act(w, "2a:ffffffff81000000:R0aM6,fffffffffffffff8,10X00000001,27"), 0);
	assert_int_equal(source(w, "2a:ffffffff81000000:at:0:8:7666735f72656164"), 0);
	assert_int_equal(source(w, "2a:ffffffff81000000:cmd:0:3:656e64"), 0);
	assert_int_equal(source(w, "2a:ffffffff81000000:cmd:0:3:656e64"), 0);

	assert_string_equal(piece(tp, 0), "T2a:ffffffff81000000:D:0:1f:X3,220127");
	assert_string_equal(piece(tp, 1), "A2a:ffffffff81000000:R0a");
	assert_string_equal(piece(tp, 2), "A2a:ffffffff81000000:M6,fffffffffffffff8,10");
	assert_string_equal(piece(tp, 3), "A2a:ffffffff81000000:X00000001,27");
	assert_string_equal(piece(tp, 4), "Z2a:ffffffff81000000:at:0:8:7666735f72656164");
	/* Two equal lines of commands are both kept, unless GDB repeats the whole definition. */
	assert_string_equal(piece(tp, 5), "Z2a:ffffffff81000000:cmd:0:3:656e64");
	assert_string_equal(piece(tp, 6), "Z2a:ffffffff81000000:cmd:0:3:656e64");
	assert_string_equal(piece(tp, 7), "");
	assert_string_equal(piece(tp, U32_MAX), "");
}

static void a_piece_is_cut_to_the_buffer(void **state)
{
	struct world *w = *state;
	char *buf = malloc(9);

	assert_int_equal(define(w, "1:ffffffff81000000:E:0:0:X3,220127"), 0);
	assert_int_equal(gtp_tracepoint_piece(w->tp, 0, buf, 9), 8);
	assert_string_equal(buf, "T1:fffff");
	free(buf);
}

static const struct refusal {
	const char *text;
	int rc;
	const char *why;
} refused_definitions[] = {
	{ "", -EINVAL, "QTDP: tracepoint number is not a hex number at column 6" },
	{ "-", -EINVAL, "QTDP: tracepoint number is not a hex number at column 6" },
	{ "x", -EINVAL, "QTDP: tracepoint number is not a hex number at column 6" },
	{ "0:1:E:0:0", -EINVAL, "QTDP: tracepoint number 0 is not in 1 to 65534" },
	{ "ffff:1:E:0:0", -EINVAL, "QTDP: tracepoint number 65535 is not in 1 to 65534" },
	{ "100000000:1:E:0:0", -EINVAL, "QTDP: tracepoint number is not a hex number at column 6" },
	{ "1", -EINVAL, "QTDP: no colon after the tracepoint number at column 7" },
	{ "1:", -EINVAL, "QTDP: address is not a hex number at column 8" },
	{ "1:10000000000000000:E:0:0", -EINVAL, "QTDP: address is not a hex number at column 8" },
	{ "1:ab", -EINVAL, "QTDP: no colon after the address at column 10" },
	{ "1:ab:", -EINVAL, "QTDP: neither E nor D at column 11" },
	{ "1:ab:e:0:0", -EINVAL, "QTDP: neither E nor D at column 11" },
	{ "1:ab:E", -EINVAL, "QTDP: no colon after E or D at column 12" },
	{ "1:ab:E:", -EINVAL, "QTDP: step count is not a hex number at column 13" },
	{ "1:ab:E:0", -EINVAL, "QTDP: no colon after the step count at column 14" },
	{ "1:ab:E:0:-", -EINVAL, "QTDP: pass count is not a hex number at column 15" },
	{ "1:ab:E:0:g", -EINVAL, "QTDP: pass count is not a hex number at column 15" },
	{ "1:ab:E:0:0 ", -EINVAL, "QTDP: unexpected text at column 16" },
	{ "1:ab:E:0:0:", -EINVAL, "QTDP: unknown field at column 17" },
	{ "1:ab:E:0:0:Q5", -EINVAL, "QTDP: unknown field at column 17" },
	{ "1:ab:E:0:0--", -EINVAL, "QTDP: unexpected text at column 16" },
	{ "3:ab:E:1:0", -EOPNOTSUPP,
	  "while-stepping is not supported: use gtp path, and delete this action of tracepoint 3" },
	{ "3:ab:E:0:0:Fx", -EINVAL,
	  "QTDP: length of the instruction is not a hex number at column 18" },
	{ "3:ab:E:0:0:X", -EINVAL,
	  "QTDP: length of the expression is not a hex number at column 18" },
	{ "3:ab:E:0:0:X0,", -EINVAL, "QTDP: the expression is empty or too long at column 19" },
	{ "3:ab:E:0:0:X4001,27", -EINVAL,
	  "QTDP: the expression is empty or too long at column 22" },
	{ "3:ab:E:0:0:Xffffffff,27", -EINVAL,
	  "QTDP: the expression is empty or too long at column 26" },
	{ "3:ab:E:0:0:X3:220127", -EINVAL,
	  "QTDP: no comma after the expression's length at column 19" },
	{ "3:ab:E:0:0:X4,220127", -EINVAL,
	  "QTDP: the expression is shorter than its length says at column 20" },
	{ "3:ab:E:0:0:X3,22012", -EINVAL,
	  "QTDP: the expression is shorter than its length says at column 20" },
	{ "3:ab:E:0:0:X3,22x127", -EINVAL, "QTDP: the expression is not hex at column 20" },
	{ "3:ab:E:0:0:X3,22012727", -EINVAL, "QTDP: unexpected text at column 26" },
	{ "3:ab:E:0:0:X3,220127:X3,220127", -EINVAL, "QTDP: second condition at column 28" },
	/* reg 5; trace_quick 4; end */
	{ "3:ab:E:0:0:X6,2600050d0427", -EINVAL,
	  "tracepoint 3, condition: a condition cannot collect" },
};

static void definitions_are_refused(void **state)
{
	struct world *w = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refused_definitions); i++) {
		const struct refusal *r = &refused_definitions[i];

		assert_int_equal(define(w, r->text), r->rc);
		assert_string_equal(w->why.text, r->why);
		assert_null(w->tp);
		assert_null(w->list->first);
		assert_int_equal(w->list->count, 0);
	}
}

static void the_verifier_speaks_through(void **state)
{
	const char *want =
		"tracepoint 3, action 2 (X): add at byte 2: needs 2 values, the stack has 1";
	struct world *w = *state;

	/* A valid action is not a valid condition. */
	assert_int_equal(define(w, "3:ab:E:0:0:X1,27"), -EINVAL);
	assert_non_null(strstr(w->why.text, "3, condition: end at byte 0: a condition must leave"));
	/* const8 1; add */
	assert_int_equal(define(w, "3:ab:E:0:0:X4,22010227"), -EINVAL);
	assert_string_equal(
		w->why.text,
		"tracepoint 3, condition: add at byte 2: needs 2 values, the stack has 1");
	assert_int_equal(define(w, "3:ab:E:0:0-"), 0);
	assert_int_equal(act(w, "3:ab:R01X00000004,22010227"), -EINVAL);
	assert_string_equal(w->why.text, want);
	assert_null(w->list->first);
}

static const struct refusal refused_actions[] = {
	{ "Q", -EINVAL, "QTDP: unknown action at column 12" },
	{ ":", -EINVAL, "QTDP: unknown action at column 12" },
	{ "R", -EINVAL, "QTDP: register mask is not a hex number at column 13" },
	{ "R-", -EINVAL, "QTDP: register mask is not a hex number at column 13" },
	{ "R01Z", -EINVAL, "QTDP: unknown action at column 15" },
	{ "M", -EINVAL, "QTDP: base register is neither a hex number nor -1 at column 13" },
	{ "M-2,0,4", -EINVAL, "QTDP: base register is neither a hex number nor -1 at column 13" },
	{ "M5", -EINVAL, "QTDP: no comma after the base register at column 14" },
	{ "M14,0,4", -EINVAL, "tracepoint 7, action 1 (M): register 20 is not known at a hit" },
	{ "M-1,x", -EINVAL, "QTDP: offset is not a hex number at column 16" },
	{ "M-1,0", -EINVAL, "QTDP: no comma after the offset at column 17" },
	{ "M-1,0,", -EINVAL, "QTDP: length is not a hex number at column 18" },
	{ "R1M-1,0,0", -EINVAL,
	  "tracepoint 7, action 2 (M): collects 0 bytes; 1 to 1048576 are possible" },
	{ "M-1,0,100001", -EINVAL,
	  "tracepoint 7, action 1 (M): collects 1048577 bytes; 1 to 1048576 are possible" },
	{ "SR01", -EOPNOTSUPP,
	  "while-stepping is not supported: use gtp path, and delete this action of tracepoint 7" },
	{ "X1", -EINVAL, "QTDP: no comma after the expression's length at column 14" },
	{ "X00000002,27", -EINVAL,
	  "QTDP: the expression is shorter than its length says at column 22" },
};

static void actions_are_refused_as_a_whole(void **state)
{
	struct world *w = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refused_actions); i++) {
		const struct refusal *r = &refused_actions[i];
		char text[64];

		assert_int_equal(define(w, "7:ab:E:0:0-"), 0);
		snprintf(text, sizeof(text), "7:ab:%s", r->text);
		assert_int_equal(act(w, text), r->rc);
		assert_string_equal(w->why.text, r->why);
		assert_null(w->list->first);
	}
	assert_int_equal(act(w, "7:ab:R01"), -ENOENT);
	assert_string_equal(w->why.text,
			    "QTDP: actions for tracepoint 7 at 0xab, which is not defined");
	assert_int_equal(act(w, "x"), -EINVAL);
	assert_string_equal(w->why.text, "QTDP: tracepoint number is not a hex number at column 7");
}

static void forms_that_are_accepted(void **state)
{
	struct world *w = *state;
	struct gtp_action *a;
	char wide[157];
	int i;

	assert_int_equal(define(w, "7:ab:E:0:0-"), 0);
	/*
	 * Actions with a mask of 596 registers, with only unknown registers, or with the largest
	 * block; and no action.
	 */
	memset(wide, 'f', sizeof(wide) - 1);
	memcpy(wide, "7:ab:R", 6);
	memcpy(wide + 150, "00001-", 7);
	assert_int_equal(act(w, wide), 0);
	assert_int_equal(act(w, "7:ab:R10000000000000000000-"), 0);
	assert_int_equal(act(w, "7:ab:-"), 0);
	assert_int_equal(act(w, "7:ab:M-1,0,100000M13,0,1"), 0);
	a = w->tp->actions;
	assert_true(a->mask == 1);
	assert_true(a->next->mask == 0);
	assert_true(a->next->next->len == GTP_FRAME_MAX);
	assert_int_equal(a->next->next->next->base, GTP_REG_SS);

	/*
	 * A definition may announce actions that are never sent. Actions that were not announced
	 * are ignored.
	 */
	assert_int_equal(define(w, "7:ac:E:0:0"), 0);
	assert_int_equal(act(w, "7:ac:R01"), 0);
	assert_null(w->tp->actions);

	assert_int_equal(w->list->count, 2);
	for (i = 0; i < 3; i++) {
		assert_int_equal(act(w, "7:ab:R01"), 0);
		assert_int_equal(w->list->first->nactions, 4);
	}
}

static void bounds(void **state)
{
	struct world *w = *state;
	char text[64];
	u32 i;

	assert_int_equal(define(w, "7:ab:E:0:0-"), 0);
	for (i = 0; i < GTP_ACTIONS_MAX; i++)
		assert_int_equal(act(w, "7:ab:R01-"), 0);
	assert_int_equal(act(w, "7:ab:R01-"), -EINVAL);
	assert_string_equal(w->why.text, "tracepoint 7 has more than 1024 actions");
	assert_null(w->list->first);

	for (i = 1; i <= GTP_TRACEPOINTS_MAX; i++) {
		snprintf(text, sizeof(text), "%x:ab:E:0:0", i);
		assert_int_equal(define(w, text), 0);
	}
	assert_int_equal(define(w, "fffe:ab:E:0:0"), -EINVAL);
	assert_string_equal(w->why.text, "16384 tracepoints are defined, more are not possible");
	assert_int_equal(define(w, "1:ab:E:0:0"), 0);
	assert_null(w->tp);
}

static void expressions_in_all(void **state)
{
	enum { HEAD = 11, LEN = 0x2000 };
	struct world *w = *state;
	char *text = malloc(HEAD + 2 * LEN + 2);
	u32 i;

	/* const8 0; pop; ...; end */
	strcpy(text, "7:ab:X2000,");
	for (i = 0; i + 4 < LEN; i += 3)
		strcpy(text + HEAD + 2 * i, "220029");
	for (; i < LEN; i++)
		strcpy(text + HEAD + 2 * i, "27");
	strcat(text, "-");
	assert_int_equal(define(w, "7:ab:E:0:0-"), 0);
	for (i = 0; i < GTP_CODE_MAX / LEN; i++)
		assert_int_equal(act(w, text), 0);
	assert_int_equal(act(w, "7:ab:X1,27"), -EINVAL);
	assert_string_equal(w->why.text,
			    "the expressions of tracepoint 7 have more than 262144 bytes in all");
	assert_null(w->list->first);
	free(text);
}

/* A client that repeats itself must not fill the memory. */
static void parts_are_bounded(void **state)
{
	enum { HEX = 16000 };
	struct world *w = *state;
	char *text = malloc(HEX + 64);
	u32 taken = 0;
	int n, rc;

	n = sprintf(text, "7:ab:cmd:0:%x:", HEX / 2);
	memset(text + n, '6', HEX);
	text[n + HEX] = '\0';
	assert_int_equal(define(w, "7:ab:E:0:0-"), 0);
	assert_int_equal(define(w, "8:ab:E:0:0-"), 0);
	do {
		text[0] = taken % 2 ? '7' : '8';
		rc = source(w, text);
	} while (!rc && ++taken * HEX < 2 * GTP_PARTS_MAX);
	assert_int_equal(rc, -ENOMEM);
	assert_in_range(taken * HEX, GTP_PARTS_MAX - GTP_PARTS_MAX / 16, GTP_PARTS_MAX);
	assert_non_null(strstr(w->why.text, "in all; delete some tracepoints"));

	/*
	 * A second action of this size is refused. Its tracepoint is removed, which frees memory.
	 */
	memcpy(text, "7:ab:X00001F3E,", 15);
	memset(text + 15, '2', 2 * 0x1f3e);
	text[15 + 2 * 0x1f3e] = '\0';
	assert_int_equal(act(w, text), -ENOMEM);
	assert_non_null(strstr(w->why.text, "delete some tracepoints"));
	assert_null(gtp_tracepoint_find(w->list, 7, 0xab));
	assert_int_equal(act(w, "8:ab:R01-"), 0);
	free(text);
}

static void a_repetition_changes_nothing(void **state)
{
	struct world *w = *state;
	struct gtp_tracepoint *tp;

	assert_int_equal(define(w, "1:ab:E:0:0:X3,220127-"), 0);
	tp = w->tp;
	assert_int_equal(act(w, "1:ab:R01-"), 0);
	assert_int_equal(source(w, "1:ab:at:0:1:66"), 0);

	/*
	 * The same number at another address is another tracepoint, and so is another number at the
	 * same address.
	 */
	assert_int_equal(define(w, "1:ac:E:0:0"), 0);
	assert_non_null(w->tp);
	assert_int_equal(define(w, "2:ab:E:0:0"), 0);
	assert_non_null(w->tp);

	assert_int_equal(define(w, "1:ab:D:0:9-"), 0);
	assert_null(w->tp);
	assert_int_equal(act(w, "1:ab:R02"), 0);
	assert_int_equal(source(w, "1:ab:at:0:1:66"), 0);
	assert_true(tp->enabled);
	assert_int_equal(tp->pass, 0);
	assert_int_equal(tp->nactions, 1);
	assert_false(tp->defining);
	assert_null(tp->sources->next);
	assert_int_equal(w->list->count, 3);
}

static void sources_are_refused(void **state)
{
	static const struct refusal rows[] = {
		{ "", -EINVAL, "QTDPsrc: tracepoint number is not a hex number at column 9" },
		{ "1:", -EINVAL, "QTDPsrc: address is not a hex number at column 11" },
		{ "1:ab:", -EINVAL, "QTDPsrc: kind of source is not a short word at column 14" },
		{ "1:ab:AT:0:1:66", -EINVAL,
		  "QTDPsrc: kind of source is not a short word at column 14" },
		{ "1:ab:abcdefghijklmnop:0:1:66", -EINVAL,
		  "QTDPsrc: kind of source is not a short word at column 29" },
		{ "1:ab:at:x", -EINVAL, "QTDPsrc: start is not a hex number at column 17" },
		{ "1:ab:at:0:x", -EINVAL, "QTDPsrc: length is not a hex number at column 19" },
		{ "1:ab:at:0:1:6", -EINVAL, "QTDPsrc: source text is not hex at column 21" },
		{ "1:ab:at:0:1:6x", -EINVAL, "QTDPsrc: source text is not hex at column 21" },
		{ "9:ab:at:0:1:66", -ENOENT, "QTDPsrc: there is no tracepoint 9 at 0xab" },
	};
	struct world *w = *state;
	size_t i;

	assert_int_equal(define(w, "1:ab:E:0:0"), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(source(w, rows[i].text), rows[i].rc);
		assert_string_equal(w->why.text, rows[i].why);
		assert_null(w->tp->sources);
	}
	assert_int_equal(source(w, "1:ab:cond:0:0:"), 0);
	assert_string_equal(piece(w->tp, 1), "Z1:ab:cond:0:0:");
}

/*
 * The n-th allocation fails, for every n until none does: there is an error message, and nothing is
 * left.
 */
static void without_memory(void **state)
{
	struct world *w = *state;
	u32 n;

	for (n = 1;; n++) {
		s32 live = w->f.live;
		int rc;

		w->f.fail_alloc = w->f.allocs + n;
		rc = define(w, "1:ab:E:0:0:X3,220127-");
		if (!rc)
			rc = act(w, "1:ab:R01M-1,0,4X00000001,27");
		if (!rc)
			rc = source(w, "1:ab:at:0:1:66");
		w->f.fail_alloc = 0;
		if (!rc)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_non_null(strstr(w->why.text, "no memory for "));
		gtp_tracepoints_clear(w->list, w->mem);
		assert_int_equal(w->f.live, live);
	}
	/* tracepoint, condition, three actions, one expression, source */
	assert_int_equal(n, 8);
}

/*
 * Packets with bytes changed, added and removed may get any reply, but must not cause a bad memory
 * access or a leak.
 */
static void mutations(void **state)
{
	static const char *const seeds[] = {
		"1:ffffffff81000000:E:0:5:Xc,2600052a4019162022031327-",
		"1:ffffffff81000000:R0fM-1,ffffffff81200050,4X0000000B,2481200000162022500c27-",
		"1:ffffffff81000000:cond:0:e:66696c652d3e706964203d3d2033",
	};
	static const char alphabet[] = "0123456789abcdefEDXRMLSF:,-;gG\x01\xff";
	struct world *w = *state;
	unsigned int seed = 20231121;
	int round, i;

	print_message("seed %u\n", seed);
	for (round = 0; round < 20000; round++) {
		char text[128];

		strcpy(text, seeds[rand_r(&seed) % 3]);
		for (i = rand_r(&seed) % 3; i >= 0; i--)
			text[(size_t)rand_r(&seed) % strlen(text)] =
				alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
		if (rand_r(&seed) % 4 == 0)
			text[(size_t)rand_r(&seed) % (strlen(text) + 1)] = '\0';
		if (!text[0])
			continue;
		define(w, text);
		act(w, text);
		source(w, text);
		if (w->list->count > 50)
			gtp_tracepoints_clear(w->list, w->mem);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_gdb_sends),
		T(upload),
		T(a_piece_is_cut_to_the_buffer),
		T(definitions_are_refused),
		T(the_verifier_speaks_through),
		T(actions_are_refused_as_a_whole),
		T(forms_that_are_accepted),
		T(bounds),
		T(expressions_in_all),
		T(parts_are_bounded),
		T(a_repetition_changes_nothing),
		T(sources_are_refused),
		T(without_memory),
		T(mutations),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
