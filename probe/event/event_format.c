// SPDX-License-Identifier: GPL-2.0-only
/* Describes an event's fields as text, from the table of fields that TRACE_EVENT generates. */
#include <linux/align.h>

#include "kernel/base/mem_kernel.h"
#include "probe/event/event_format.h"

int gtp_event_id(const struct gtp_event *ev, char *buf, size_t size)
{
	if (ev->call)
		return scnprintf(buf, size, "%s:%s", ev->call->class->system,
				 trace_event_name(ev->call));
	return scnprintf(buf, size, "raw:%s", ev->tp->name);
}

/*
 * True if the entry is a field. The table ends with NULL, or with an entry for a function that
 * defines the other fields.
 */
static bool is_field(const struct trace_event_fields *f)
{
	return f && f->type && f->type != TRACE_FUNCTION_TYPE;
}

static const struct trace_event_fields *first_field(const struct gtp_event *ev)
{
	return ev->call ? ev->call->class->fields_array : NULL;
}

/* Put a field's type. LEN in "char[LEN]" may be the name of a constant: put its value, ->len. */
static void put_type(struct gtp_out *out, const struct trace_event_fields *f)
{
	const char *bracket = f->len > 0 ? strchr(f->type, '[') : NULL;

	if (bracket)
		gtp_out_printf(out, "%.*s[%d]", (int)(bracket - f->type), f->type, f->len);
	else
		gtp_out_printf(out, "%s", f->type);
}

void gtp_event_extra(const struct gtp_event *ev, struct gtp_out *out)
{
	const struct trace_event_fields *f;

	for (f = first_field(ev); is_field(f); f++) {
		if (out->len)
			gtp_out_printf(out, " ");
		put_type(out, f);
		gtp_out_printf(out, " %s;", f->name);
	}
}

static void put_common(struct gtp_out *out)
{
#define COMMON(field, type)                                                                        \
	gtp_out_printf(out, "%zu %zu %d common_%s %s\n", offsetof(struct trace_entry, field),      \
		       sizeof_field(struct trace_entry, field), (type)(-1) < (type)1, #field,      \
		       #type)
	COMMON(type, unsigned short);
	COMMON(flags, unsigned char);
	COMMON(preempt_count, unsigned char);
	COMMON(pid, int);
#undef COMMON
}

/*
 * Put the fields with their offsets. The kernel computes the offsets in the same way when it
 * defines the event.
 */
static void put_fields(struct gtp_out *out, const struct gtp_event *ev)
{
	const struct trace_event_fields *f;
	u32 offset = sizeof(struct trace_entry);

	for (f = first_field(ev); is_field(f); f++) {
		offset = ALIGN(offset, f->align);
		gtp_out_printf(out, "%u %d %d %s ", offset, f->size, f->is_signed, f->name);
		put_type(out, f);
		gtp_out_printf(out, "\n");
		offset += f->size;
	}
}

struct gtp_sdata_format *gtp_event_format(const struct gtp_event *ev, u64 addr)
{
	struct gtp_sdata_format *format = gtp_mem_alloc(sizeof(*format) + GTP_SDATA_TEXT_MAX + 1);
	struct gtp_sdata_format *exact;
	struct gtp_out out;

	if (!format)
		return NULL;
	gtp_out_init(&out, format->text, GTP_SDATA_TEXT_MAX + 1);
	out.len = gtp_event_id(ev, out.buf, out.size);
	gtp_out_printf(&out, "\n");
	put_common(&out);
	put_fields(&out, ev);

	exact = gtp_mem_alloc(sizeof(*exact) + out.len + 1);
	if (exact) {
		exact->addr = addr;
		exact->len = out.len;
		memcpy(exact->text, out.buf, out.len);
	}
	gtp_mem_free(format);
	return exact;
}
