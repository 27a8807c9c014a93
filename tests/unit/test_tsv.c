// SPDX-License-Identifier: GPL-2.0-only
/* Tests trace state variables: checks of definitions, built-in variables, and the upload to GDB. */
#include <setjmp.h>
#include <stdlib.h>
#include "fake_target.h"
#include <cmocka.h>

struct world {
	struct fake f;
	struct gtp_tsvs *tsvs;
	struct gtp_why why;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_int_equal(fake_init(&w->f), 0);
	w->tsvs = &w->f.trace.run.tsvs;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	assert_int_equal(fake_exit(&w->f), 0);
	free(w);
	return 0;
}

static int define(struct world *w, const char *text)
{
	char *copy = strdup(text);
	int rc;

	w->why.text[0] = '\0';
	rc = gtp_tsvs_define(w->tsvs, &w->f.mem, copy, &w->why);
	free(copy);
	return rc;
}

static const char *piece(struct world *w, u32 n)
{
	static char buf[256];
	int len;

	buf[0] = '\0';
	len = gtp_tsvs_piece(w->tsvs, n, buf, sizeof(buf));
	assert_int_equal(len, strlen(buf));
	return buf;
}

/* Return the number of built-in variables, which come before the user's in the upload. */
static u32 builtins(const struct world *w)
{
	u32 n = 0;

	for (u32 num = 0; num < GTP_TSV_MAX; num++)
		n += w->tsvs->slot[num] && w->tsvs->slot[num]->builtin;
	return n;
}

static void built_in(void **state)
{
	static const char *const rows[] = {
		"1:0:1:6370755f6964",			    /* cpu_id */
		"2:0:1:636c6f636b",			    /* clock */
		"3:0:1:63757272656e745f7461736b",	    /* current_task */
		"4:0:1:63757272656e745f7461736b5f706964",   /* current_task_pid */
		"5:0:1:726574",				    /* ret */
		"6:0:1:6c6174656e6379",			    /* latency */
		"7:0:1:656e7472795f636c6f636b",		    /* entry_clock */
		"8:0:1:6b726574",			    /* kret */
		"9:0:1:686172646972715f636f756e74",	    /* hardirq_count */
		"a:0:1:736f66746972715f636f756e74",	    /* softirq_count */
		"b:0:1:6972715f636f756e74",		    /* irq_count */
		"c:0:1:63757272656e745f7461736b5f75736572", /* current_task_user */
		"d:0:1:7461736b5f70745f72656773",	    /* task_pt_regs */
		"e:0:1:7874696d655f736563",		    /* xtime_sec */
		"f:0:1:7874696d655f6e736563",		    /* xtime_nsec */
		"10:0:1:7264747363",			    /* rdtsc */
		"11:0:1:6370755f6e756d626572",		    /* cpu_number */
		"12:0:1:73656c665f7472616365",		    /* self_trace */
		"13:0:1:656e61626c65",			    /* enable */
		"14:0:1:64697361626c65",		    /* disable */
		"15:0:1:6b737461636b",			    /* kstack */
		"16:0:1:6274",				    /* bt */
		"17:0:1:75737461636b",			    /* ustack */
		"18:0:1:77617463685f61646472",		    /* watch_addr */
		"19:0:1:77617463685f76616c",		    /* watch_val */
		"1a:0:1:77617463685f707265765f76616c",	    /* watch_prev_val */
	};
	struct world *w = *state;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(piece(w, i), rows[i]);
	assert_string_equal(piece(w, i), "");
	assert_int_equal(i, builtins(w));
	assert_int_equal(gtp_tsvs_known(w->tsvs, GTP_TSV_CPU_ID, false), AX_OK);
	assert_int_equal(gtp_tsvs_known(w->tsvs, GTP_TSV_CPU_ID, true), AX_E_READ_ONLY_TSV);
	assert_int_equal(gtp_tsvs_known(w->tsvs, GTP_TSV_KRET, true), AX_E_READ_ONLY_TSV);
	assert_int_equal(gtp_tsvs_known(w->tsvs, GTP_TSV_DISABLE, true), AX_OK);
	assert_int_equal(gtp_tsvs_known(w->tsvs, GTP_TSV_RDTSC, true), AX_E_READ_ONLY_TSV);
	assert_int_equal(gtp_tsvs_known(w->tsvs, 0, false), AX_E_UNKNOWN_TSV);
	assert_int_equal(gtp_tsvs_known(w->tsvs, 0xffff, true), AX_E_UNKNOWN_TSV);

	/* GDB sends back the definitions of built-in variables that it has uploaded. */
	assert_int_equal(define(w, "1:0000000000000000:1:6370755f6964"), 0);
	assert_true(w->tsvs->slot[1]->builtin);
}

static void users(void **state)
{
	struct world *w = *state;
	const struct gtp_tsv *v;

	assert_int_equal(define(w, "4a:fffffffffffffff9:0:636e74"), 0);
	v = w->tsvs->slot[0x4a];
	assert_string_equal(v->name, "cnt");
	assert_true(v->initial == -7 && v->value == -7);
	assert_string_equal(piece(w, builtins(w)), "4a:fffffffffffffff9:0:636e74");
	assert_int_equal(gtp_tsvs_known(w->tsvs, 0x4a, true), AX_OK);
	assert_int_equal(gtp_tsvs_known(w->tsvs, 0x49, false), AX_E_UNKNOWN_TSV);

	/* Defining a number again changes the variable's value and name, but not its slot. */
	assert_int_equal(define(w, "4a:3:0:6e"), 0);
	assert_ptr_equal(w->tsvs->slot[0x4a], v);
	assert_string_equal(v->name, "n");
	assert_true(v->value == 3);

	w->tsvs->slot[0x4a]->value = 99;
	gtp_tsvs_reset(w->tsvs);
	assert_true(v->value == 3);

	/* A GDB that has opened the file of a recorded run defines $lost. */
	assert_int_equal(define(w, "200:0:1:6c6f7374"), 0);
	assert_int_equal(define(w, "77:0:1:6c6f7374"), 0);
	assert_int_equal(gtp_tsvs_known(w->tsvs, 0x77, false), AX_E_UNKNOWN_TSV);

	assert_int_equal(define(w, "1ff:0:0:7a"), 0);
	gtp_tsvs_clear(w->tsvs, &w->f.mem);
	assert_null(w->tsvs->slot[0x4a]);
	assert_null(w->tsvs->slot[511]);
	assert_non_null(w->tsvs->slot[GTP_TSV_CURRENT_TASK_PID]);
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} rows[] = {
		{ "", "QTDV: number is not a hex number at column 6" },
		{ "x:0:0:61", "QTDV: number is not a hex number at column 6" },
		{ "9", "QTDV: number is not a hex number at column 7" },
		{ "9:", "QTDV: initial value is not a hex number at column 8" },
		{ "9:0:", "QTDV: the built-in mark is not a hex number at column 10" },
		{ "9:0:0:6", "QTDV: name is not hex at column 12" },
		{ "9:0:0:6g", "QTDV: name is not hex at column 12" },
		{ "9:0:0:", "QTDV: name is not of letters, digits and _ at column 12" },
		{ "9:0:0:6120", "QTDV: name is not of letters, digits and _ at column 12" },
		{ "9:0:0:610062", "QTDV: name is not of letters, digits and _ at column 12" },
		{ "49:0:0:6c6f7374",
		  "$lost says what a recorded run has lost; give your variable another name" },
		{ "200:0:1:6c6f73", "trace state variable $los: number 512 is not in 1 to 511" },
		{ "0:0:0:61", "trace state variable $a: number 0 is not in 1 to 511" },
		{ "200:0:0:61", "trace state variable $a: number 512 is not in 1 to 511" },
		{ "2:0:0:61", "trace state variable 2 is the built-in $clock here, not $a" },
		{ "1:0:1:636c6f636b",
		  "trace state variable 1 is the built-in $cpu_id here, not $clock" },
		{ "49:0:1:61", "there is no built-in trace state variable $a here" },
	};
	struct world *w = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(define(w, rows[i].text), -EINVAL);
		assert_string_equal(w->why.text, rows[i].why);
		assert_string_equal(piece(w, builtins(w)), "");
	}
}

static void longest_name(void **state)
{
	struct world *w = *state;
	char text[160] = "49:0:0:";
	int i;

	for (i = 0; i < 63; i++)
		strcat(text, "5a");
	assert_int_equal(define(w, text), 0);
	assert_int_equal(strlen(w->tsvs->slot[0x49]->name), 63);
	strcat(text, "5a");
	assert_int_equal(define(w, text), -EINVAL);
	assert_string_equal(w->why.text, "QTDV: name is longer than 63 characters at column 13");
}

static void without_memory(void **state)
{
	struct world *w = *state;
	struct gtp_tsvs fresh;
	s32 live = w->f.live;
	u32 n;

	for (n = 1; n <= builtins(w); n++) {
		w->f.fail_alloc = w->f.allocs + n;
		assert_int_equal(gtp_tsvs_init(&fresh, &w->f.mem), -ENOMEM);
		assert_int_equal(w->f.live, live);
	}
	w->f.fail_alloc = w->f.allocs + 1;
	assert_int_equal(define(w, "49:0:0:61"), -ENOMEM);
	assert_string_equal(w->why.text, "no memory for trace state variable $a");
	assert_string_equal(piece(w, builtins(w)), "");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(built_in), T(users), T(refused), T(longest_name), T(without_memory),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
