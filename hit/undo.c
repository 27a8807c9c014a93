// SPDX-License-Identifier: GPL-2.0-only
/* Decides whether a hit that reads memory that is not paged in can be undone and repeated. */
#include "hit/undo.h"

static bool is_key(const struct gtp_run *run, u64 num)
{
	return run->tsvs.slot[num] && run->tsvs.slot[num]->key_words;
}

/*
 * True if no read of this expression follows an effect, of this expression or of an earlier one of
 * the tracepoint. @acted is true if there was an effect so far; update it. Jumps only go forward,
 * so instructions run in the order of the code.
 *
 * Setting a key is not an effect, because the repeated hit sets it again; so return false if an
 * expression reads a key. Also return false for string keys and stacks: if their memory is not
 * paged in, the hit does not fail but continues with a part of them.
 */
static bool reads_first(const struct gtp_run *run, const struct ax_verified *v, bool *acted)
{
	struct ax_insn insn = { 0 };

	while (ax_next_reached(v, &insn)) {
		switch (insn.op) {
		case AX_OP_ref8:
		case AX_OP_ref16:
		case AX_OP_ref32:
		case AX_OP_ref64:
		case AX_OP_trace:
		case AX_OP_trace_quick:
		case AX_OP_trace16:
		case AX_OP_tracenz:
			if (*acted)
				return false;
			break;
		case AX_OP_getv:
		case AX_OP_tracev:
			if (insn.operand == GTP_TSV_USTACK || insn.operand == GTP_TSV_BT ||
			    is_key(run, insn.operand))
				return false;
			break;
		case AX_OP_setv:
			if (run->tsvs.ways[insn.operand] == AX_TSV_STRING)
				return false;
			*acted |= !is_key(run, insn.operand);
			break;
		case AX_OP_printf:
			return false;
		default:
			break;
		}
	}
	return true;
}

bool gtp_hit_undoable(const struct gtp_run *run, const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;
	bool acted = false;

	/*
	 * With @pass_errors a hit continues after an error, and repeating it would count that
	 * twice.
	 */
	if (run->pass_errors || tp->pass || tp->dprintf || tp->sdata)
		return false;
	if (tp->cond && !reads_first(run, &tp->cond->ax, &acted))
		return false;
	for (a = tp->actions; a; a = a->next) {
		if (a->kind == GTP_ACTION_MEM && acted)
			return false;
		if (a->expr && !reads_first(run, &a->expr->ax, &acted))
			return false;
	}
	return true;
}
