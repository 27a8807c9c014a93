// SPDX-License-Identifier: GPL-2.0-only
/* Parse and verify the expressions in packets that define tracepoints and dprintfs. */
#include "tracepoint/def.h"

int gtp_def_bad(struct gtp_def *d, const char *what)
{
	gtp_why(d->why, "%s: %s at column %u", d->packet, what, gtp_in_column(&d->in));
	return -EINVAL;
}

/*
 * Allocate an expression in one piece with its bytecode and with the verifier's struct ax_point for
 * each byte.
 */
static struct gtp_expr *new_expr(struct gtp_def *d, u32 len, struct ax_point **points, u8 **code)
{
	size_t bytes = sizeof(struct gtp_expr) + len * sizeof(struct ax_point) + len;
	struct gtp_expr *e = gtp_tracepoint_part(d->list, d->tp, d->mem, bytes, d->why);

	if (!e)
		return NULL;
	*points = (struct ax_point *)(e + 1);
	*code = (u8 *)(*points + len);
	return e;
}

static int refuse_expr(struct gtp_def *d, const char *where, const struct ax_error *err)
{
	char text[128], title[GTP_TITLE_MAX];

	ax_error_format(err, text, sizeof(text));
	gtp_why(d->why, "%s, %s: %s", gtp_tracepoint_title(d->tp, title), where, text);
	return -EINVAL;
}

int gtp_def_expr(struct gtp_def *d, enum ax_kind kind, const char *where, struct gtp_expr **out)
{
	char title[GTP_TITLE_MAX];
	struct ax_point *points;
	struct ax_error err;
	struct gtp_expr *e;
	u8 *code;
	u32 len;
	int rc;

	if (!gtp_in_hex32(&d->in, &len))
		return gtp_def_bad(d, "length of the expression is not a hex number");
	if (!len || len > AX_MAX_LEN)
		return gtp_def_bad(d, "the expression is empty or too long");
	if (d->tp->code_bytes + len > GTP_CODE_MAX) {
		gtp_why(d->why, "the expressions of %s have more than %u bytes in all",
			gtp_tracepoint_title(d->tp, title), GTP_CODE_MAX);
		return -EINVAL;
	}
	if (!gtp_in_char(&d->in, ','))
		return gtp_def_bad(d, "no comma after the expression's length");
	if (gtp_in_left(&d->in) < 2 * (size_t)len)
		return gtp_def_bad(d, "the expression is shorter than its length says");
	e = new_expr(d, len, &points, &code);
	if (!e)
		return -ENOMEM;
	if (!gtp_in_bytes(&d->in, code, len)) {
		rc = gtp_def_bad(d, "the expression is not hex");
		goto err_free;
	}
	if (ax_verify(code, len, kind, points, &e->ax, &err)) {
		rc = refuse_expr(d, where, &err);
		goto err_free;
	}
	d->tp->code_bytes += len;
	*out = e;
	return 0;

err_free:
	d->mem->free(d->mem->ctx, e);
	return rc;
}

int gtp_def_condition(struct gtp_def *d, struct gtp_expr **out)
{
	char title[GTP_TITLE_MAX];
	int rc = gtp_def_expr(d, AX_CONDITION, "condition", out);

	if (rc)
		return rc;
	/* When a condition runs, there is no frame yet into which it could collect. */
	if ((*out)->ax.flags & AX_F_COLLECTS) {
		gtp_why(d->why, "%s, condition: a condition cannot collect",
			gtp_tracepoint_title(d->tp, title));
		return -EINVAL;
	}
	return 0;
}
