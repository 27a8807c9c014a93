// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace state variables: defines the built-in ones, handles GDB's definitions, and uploads all of
 * them.
 */
#include "base/parse.h"
#include "tracepoint/tsv.h"

static const char *const builtin_name[GTP_TSV_NR_BUILTIN] = {
	[GTP_TSV_CPU_ID] = "cpu_id",
	[GTP_TSV_CLOCK] = "clock",
	[GTP_TSV_CURRENT_TASK] = "current_task",
	[GTP_TSV_CURRENT_TASK_PID] = "current_task_pid",
	[GTP_TSV_RET] = "ret",
	[GTP_TSV_LATENCY] = "latency",
	[GTP_TSV_ENTRY_CLOCK] = "entry_clock",
	[GTP_TSV_KRET] = "kret",
	[GTP_TSV_HARDIRQ_COUNT] = "hardirq_count",
	[GTP_TSV_SOFTIRQ_COUNT] = "softirq_count",
	[GTP_TSV_IRQ_COUNT] = "irq_count",
	[GTP_TSV_CURRENT_TASK_USER] = "current_task_user",
	[GTP_TSV_TASK_PT_REGS] = "task_pt_regs",
	[GTP_TSV_XTIME_SEC] = "xtime_sec",
	[GTP_TSV_XTIME_NSEC] = "xtime_nsec",
	[GTP_TSV_RDTSC] = "rdtsc",
	[GTP_TSV_CPU_NUMBER] = "cpu_number",
	[GTP_TSV_SELF_TRACE] = "self_trace",
	[GTP_TSV_ENABLE] = "enable",
	[GTP_TSV_DISABLE] = "disable",
	[GTP_TSV_KSTACK] = "kstack",
	[GTP_TSV_BT] = "bt",
	[GTP_TSV_USTACK] = "ustack",
	[GTP_TSV_WATCH_ADDR] = "watch_addr",
	[GTP_TSV_WATCH_VAL] = "watch_val",
	[GTP_TSV_WATCH_PREV_VAL] = "watch_prev_val",
};

static struct gtp_tsv *new_tsv(struct gtp_tsvs *tsvs, const struct gtp_mem *mem, u16 num)
{
	struct gtp_tsv *v = mem->alloc(mem->ctx, sizeof(*v));

	if (v)
		v->num = num;
	tsvs->slot[num] = v;
	return v;
}

int gtp_tsvs_init(struct gtp_tsvs *tsvs, const struct gtp_mem *mem)
{
	u16 num;

	memset(tsvs, 0, sizeof(*tsvs));
	for (num = GTP_TSV_CPU_ID; num < GTP_TSV_NR_BUILTIN; num++) {
		struct gtp_tsv *v = new_tsv(tsvs, mem, num);

		if (!v) {
			gtp_tsvs_exit(tsvs, mem);
			return -ENOMEM;
		}
		v->builtin = true;
		memcpy(v->name, builtin_name[num], strlen(builtin_name[num]));
	}
	tsvs->ways[GTP_TSV_SELF_TRACE] = AX_TSV_SWITCH;
	tsvs->ways[GTP_TSV_ENABLE] = AX_TSV_SWITCH;
	tsvs->ways[GTP_TSV_DISABLE] = AX_TSV_SWITCH;
	tsvs->ways[GTP_TSV_BT] = AX_TSV_BLOCKS;
	/* hit/returns.h and hit/watched.h store the following in @local of struct gtp_cpu. */
	tsvs->ways[GTP_TSV_RET] = AX_TSV_LOCAL;
	tsvs->ways[GTP_TSV_LATENCY] = AX_TSV_LOCAL;
	tsvs->ways[GTP_TSV_ENTRY_CLOCK] = AX_TSV_LOCAL;
	tsvs->ways[GTP_TSV_KRET] = AX_TSV_LOCAL;
	tsvs->ways[GTP_TSV_WATCH_ADDR] = AX_TSV_LOCAL;
	tsvs->ways[GTP_TSV_WATCH_VAL] = AX_TSV_LOCAL;
	tsvs->ways[GTP_TSV_WATCH_PREV_VAL] = AX_TSV_LOCAL;
	return 0;
}

static void drop_from(struct gtp_tsvs *tsvs, const struct gtp_mem *mem, u32 first)
{
	u32 num;

	for (num = first; num < GTP_TSV_MAX; num++) {
		mem->free(mem->ctx, tsvs->slot[num]);
		tsvs->slot[num] = NULL;
		tsvs->ways[num] = AX_TSV_CALL;
	}
}

void gtp_tsvs_exit(struct gtp_tsvs *tsvs, const struct gtp_mem *mem)
{
	drop_from(tsvs, mem, 0);
}

void gtp_tsvs_clear(struct gtp_tsvs *tsvs, const struct gtp_mem *mem)
{
	drop_from(tsvs, mem, GTP_TSV_NR_BUILTIN);
}

void gtp_tsvs_reset(struct gtp_tsvs *tsvs)
{
	u32 num;

	for (num = GTP_TSV_NR_BUILTIN; num < GTP_TSV_MAX; num++)
		if (tsvs->slot[num])
			WRITE_ONCE(tsvs->slot[num]->value, tsvs->slot[num]->initial);
}

enum ax_err gtp_tsvs_known(void *ctx, u16 tsv, bool sets)
{
	const struct gtp_tsvs *tsvs = ctx;

	if (tsv >= GTP_TSV_MAX || !tsvs->slot[tsv])
		return AX_E_UNKNOWN_TSV;
	if (sets && tsvs->slot[tsv]->builtin && tsvs->ways[tsv] != AX_TSV_SWITCH)
		return AX_E_READ_ONLY_TSV;
	return AX_OK;
}

/* --- the packet QTDV --- */

static int bad(struct gtp_why *why, const struct gtp_in *in, const char *what)
{
	gtp_why(why, "QTDV: %s at column %u", what, gtp_in_column(in));
	return -EINVAL;
}

/* struct qtdv - the fields of one QTDV packet */
struct qtdv {
	u32 num;
	u64 initial;
	u32 builtin;
	char name[GTP_TSV_NAME_MAX];
};

static bool is_name(const char *name)
{
	const char *p;

	for (p = name; *p; p++)
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') &&
		    !(*p >= '0' && *p <= '9') && *p != '_')
			return false;
	return p > name;
}

static int read_packet(struct qtdv *q, struct gtp_in *in, struct gtp_why *why)
{
	int n;

	if (!gtp_in_hex32(in, &q->num) || !gtp_in_char(in, ':'))
		return bad(why, in, "number is not a hex number");
	if (!gtp_in_hex64(in, &q->initial) || !gtp_in_char(in, ':'))
		return bad(why, in, "initial value is not a hex number");
	if (!gtp_in_hex32(in, &q->builtin) || !gtp_in_char(in, ':'))
		return bad(why, in, "the built-in mark is not a hex number");
	n = gtp_hex_decode((u8 *)q->name, sizeof(q->name) - 1, in->p, gtp_in_left(in));
	if (n == -EINVAL)
		return bad(why, in, "name is not hex");
	if (n < 0)
		return bad(why, in, "name is longer than 63 characters");
	q->name[n] = '\0';
	/* A NUL inside the name would hide the rest of the name. */
	if (!is_name(q->name) || strlen(q->name) != (size_t)n)
		return bad(why, in, "name is not of letters, digits and _");
	return 0;
}

/*
 * Check a definition of a built-in variable. GDB defines the built-in variables again, as qTfV has
 * reported them: accept only the same definition.
 */
static int check_builtin(const struct gtp_tsvs *tsvs, const struct qtdv *q, struct gtp_why *why)
{
	const struct gtp_tsv *v = tsvs->slot[q->num];

	if (v && v->builtin && q->builtin && !strcmp(v->name, q->name))
		return 0;
	if (v && v->builtin && !strcmp(v->name, q->name))
		gtp_why(why, "$%s has its value from the hit here; give your variable another name",
			q->name);
	else if (v && v->builtin)
		gtp_why(why, "trace state variable %u is the built-in $%s here, not $%s", q->num,
			v->name, q->name);
	else
		gtp_why(why, "there is no built-in trace state variable $%s here", q->name);
	return -EINVAL;
}

struct prefix {
	const char *text;
	u8 way;
	u8 key_words;
	u8 pair;
};

/*
 * Prefixes of names: two for per-CPU variables, as in KGTP, those of keys, that of tasks, and those
 * of pairs.
 */
static const struct prefix prefixes[] = {
	{ "p_", AX_TSV_LOCAL, 0, 0 },
	{ "per_cpu_", AX_TSV_LOCAL, 0, 0 },
	{ "key_", AX_TSV_LOCAL, 1, 0 },
	{ "keystr_", AX_TSV_STRING, GTP_AGGR_STRING / 8, 0 },
	{ "task_", AX_TSV_TASK, 0, 0 },
	{ "pair_start_", AX_TSV_START, 0, GTP_TSV_PAIR_START },
	{ "pair_end_", AX_TSV_END, 0, GTP_TSV_PAIR_END },
	{ "pair_since_", AX_TSV_LOCAL, 0, GTP_TSV_PAIR_SINCE },
	{ "pair_kept_", AX_TSV_LOCAL, 0, GTP_TSV_PAIR_KEPT },
};

static int name_says(const char *name, struct prefix *what, struct gtp_why *why)
{
	struct gtp_aggr_shape shape;
	const char *bad = gtp_aggr_parse(name, &shape);
	u32 i;

	if (bad) {
		gtp_why(why, "trace state variable $%s: %s", name, bad);
		return -EINVAL;
	}
	*what = (struct prefix){ .way = shape.kind ? AX_TSV_UPDATE : AX_TSV_CALL };
	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i].text);

		if (!strncmp(name, prefixes[i].text, n) && name[n])
			*what = prefixes[i];
	}
	return 0;
}

/*
 * True for $lost, which GDB knows if it has read the file of a recorded run. GDB may send it with
 * another number; the caller ignores such a definition.
 */
static bool is_lost(const struct qtdv *q)
{
	return q->builtin && !strcmp(q->name, "lost");
}

static int refuse_lost(const struct qtdv *q, struct gtp_why *why)
{
	if (strcmp(q->name, "lost"))
		return 0;
	gtp_why(why, "$lost says what a recorded run has lost; give your variable another name");
	return -EINVAL;
}

static int refuse_rename(const struct gtp_tsvs *tsvs, const struct qtdv *q, struct gtp_why *why)
{
	const struct gtp_tsv *v = tsvs->slot[q->num];

	if (!tsvs->in_use || !v || !strcmp(v->name, q->name))
		return 0;
	gtp_why(why, "trace state variable %u is $%s in the run that goes on; tstop first", q->num,
		v->name);
	return -EBUSY;
}

int gtp_tsvs_define(struct gtp_tsvs *tsvs, const struct gtp_mem *mem, const char *text,
		    struct gtp_why *why)
{
	struct gtp_tsv *v;
	struct gtp_in in;
	struct prefix what;
	struct qtdv q;
	bool known;
	int rc;

	gtp_in_init(&in, text, strlen(text));
	in.skipped = strlen("QTDV:");
	rc = read_packet(&q, &in, why);
	if (rc)
		return rc;
	if (is_lost(&q))
		return 0;
	if (!q.num || q.num >= GTP_TSV_MAX) {
		gtp_why(why, "trace state variable $%s: number %u is not in 1 to %u", q.name, q.num,
			GTP_TSV_MAX - 1);
		return -EINVAL;
	}
	if (q.builtin || q.num < GTP_TSV_NR_BUILTIN)
		return check_builtin(tsvs, &q, why);
	rc = refuse_lost(&q, why);
	if (!rc)
		rc = name_says(q.name, &what, why);
	if (!rc)
		rc = refuse_rename(tsvs, &q, why);
	if (rc)
		return rc;
	known = tsvs->in_use && tsvs->slot[q.num];
	v = tsvs->slot[q.num] ?: new_tsv(tsvs, mem, (u16)q.num);
	if (!v) {
		gtp_why(why, "no memory for trace state variable $%s", q.name);
		return -ENOMEM;
	}
	memcpy(v->name, q.name, sizeof(v->name));
	v->initial = (s64)q.initial;
	WRITE_ONCE(v->value, v->initial);
	v->key_words = what.key_words;
	v->pair = what.pair;
	/*
	 * During a run the name of a variable cannot change. So keep its enum ax_tsv_way, which
	 * gtp_added_begin() may have changed at the start of the run.
	 */
	if (!known)
		tsvs->ways[q.num] = what.way;
	return 0;
}

int gtp_tsvs_piece(const struct gtp_tsvs *tsvs, u32 n, char *buf, size_t size)
{
	const struct gtp_tsv *v = NULL;
	struct gtp_out out;
	u32 num;

	for (num = 0; num < GTP_TSV_MAX; num++) {
		v = tsvs->slot[num];
		if (v && !n--)
			break;
	}
	if (num == GTP_TSV_MAX)
		return 0;
	gtp_out_init(&out, buf, size);
	gtp_out_printf(&out, "%x:%llx:%d:", v->num, (u64)v->initial, v->builtin);
	gtp_out_hex(&out, v->name, strlen(v->name));
	return (int)out.len;
}
