// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hands the lines of dprintfs from all CPUs to GDB's console, the kernel's trace or its log.
 *
 * The reader holds gtp_lock. A hit only puts its line into the ring of its CPU.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/topology.h>

#include "base/compat.h"
#include "hit/variable.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/lines.h"
#include "session/dprintf.h"

enum {
	AT_ONCE = 2000, /* most lines in one call, because the call holds gtp_lock */
	/*
	 * Most lines in one call for the kernel's log, because printk may wait for a slow serial
	 * console.
	 */
	LOG_AT_ONCE = 20,
	LOG_A_SECOND = 200,
	TEXT_MAX = AX_PRINT_MAX + 160,
};

static DEFINE_PER_CPU(struct gtp_lines *, this_lines);
static struct gtp_lines **rings; /* by CPU; NULL for a CPU that was offline */

int gtp_lines_get(void *ctx, struct gtp_why *why)
{
	unsigned int id;

	if (!rings)
		rings = gtp_mem_alloc(array_size(nr_cpu_ids, sizeof(*rings)));
	for_each_online_cpu(id) {
		if (rings && !rings[id])
			rings[id] = gtp_mem_alloc_node(sizeof(*rings[id]), cpu_to_node(id));
		if (!rings || !rings[id]) {
			gtp_why(why, "no memory for the text of dprintfs, %zu KiB on each CPU",
				sizeof(**rings) >> 10);
			return -ENOMEM;
		}
		WRITE_ONCE(per_cpu(this_lines, id), rings[id]);
	}
	return 0;
}

void gtp_lines_exit(void)
{
	unsigned int id;

	for (id = 0; rings && id < nr_cpu_ids; id++)
		gtp_mem_free(rings[id]);
	gtp_mem_free(rings);
}

bool gtp_lines_hit(const struct gtp_line *line, const void *text)
{
	struct gtp_lines *r = this_cpu_read(this_lines);

	return r && gtp_lines_put(r, line, text);
}

/* --- printing one line --- */

/* Append the text of a line; if @bare is set, leave out the newline at its end. */
static void put_text(struct gtp_out *out, const struct gtp_line *line, bool bare)
{
	const char *text = (const char *)(line + 1);
	u32 len = line->len;
	char words[128];

	if (line->failed) {
		ax_error_format((const struct ax_error *)text, words, sizeof(words));
		gtp_out_printf(out, "dprintf at %pS failed: %s%s", (void *)line->addr, words,
			       bare ? "" : "\n");
		return;
	}
	if (bare && len && text[len - 1] == '\n')
		len--;
	gtp_out_text(out, text, len);
}

/*
 * Append the hit's task, CPU and time, because the columns of the trace and the log show those of
 * the reader.
 */
static void put_origin(struct gtp_out *out, const struct gtp_line *line)
{
	u32 ns;
	u64 s = div_u64_rem(line->time, NSEC_PER_SEC, &ns);

	gtp_out_printf(out, "%llu.%06u cpu %u pid %d: ", s, ns / 1000, line->cpu, line->pid);
}

static bool to_trace(struct gtp_out *out, const struct gtp_line *line)
{
	put_origin(out, line);
	put_text(out, line, true);
	/* gtp_trace_puts() returns 0 while the trace's option "printk" is off. */
	return gtp_trace_puts(line->addr, out->buf);
}

/* True if one more line may go to the kernel's log in this second. */
static bool log_takes(void)
{
	static unsigned long since;
	static u32 n;

	if (!n || time_after(jiffies, since + HZ)) {
		since = jiffies;
		n = 0;
	}
	return n++ < LOG_A_SECOND;
}

static bool to_log(struct gtp_out *out, const struct gtp_line *line)
{
	if (!log_takes())
		return false;
	put_origin(out, line);
	put_text(out, line, true);
	pr_info("%ps: %s\n", (void *)line->addr, out->buf);
	return true;
}

static bool to_console(struct gtp_stub *stub, struct gtp_out *out, const struct gtp_line *line)
{
	put_text(out, line, false);
	gtp_stub_print(stub, out->buf);
	return true;
}

static bool hand_over(struct gtp_trace *t, struct gtp_stub *stub, const struct gtp_line *line)
{
	char text[TEXT_MAX];
	struct gtp_out out;

	gtp_out_init(&out, text, sizeof(text));
	switch (t->dprintfs.to) {
	case GTP_DPRINTF_TRACE:
		return to_trace(&out, line);
	case GTP_DPRINTF_LOG:
		return to_log(&out, line);
	default:
		return to_console(stub, &out, line);
	}
}

/* --- lines of all CPUs --- */

static void tell_dropped(struct gtp_trace *t, struct gtp_stub *stub, u64 limited)
{
	u64 n = limited;
	char text[120];
	u32 i;

	for (i = 0; i < nr_cpu_ids; i++)
		if (rings[i])
			n += gtp_lines_dropped(rings[i]);
	if (!n)
		return;
	snprintf(text, sizeof(text), "[%llu lines of dprintf were dropped: they came too fast]", n);
	if (t->dprintfs.to == GTP_DPRINTF_TRACE)
		gtp_trace_puts(_THIS_IP_, text);
	else if (t->dprintfs.to == GTP_DPRINTF_LOG)
		pr_info_ratelimited("%s\n", text);
	else
		gtp_stub_printf(stub, "%s\n", text);
}

static void nothing(void *unused)
{
}

/*
 * Return a time before which all hits have put their lines. Read the clock, then wait until each
 * CPU was seen between two hits: by then, every hit that began before that time has put its line.
 */
static u64 settled_until(const struct gtp_trace *t)
{
	u64 now = 0;
	u32 i;

	for (i = 0; i < t->run.ncpus; i++) {
		struct gtp_cpu *cpu = t->run.cpus[i];

		if (!cpu)
			continue;
		if (!now)
			now = gtp_hit_now_ns(cpu);
		gtp_cpu_between_hits(NULL, cpu, nothing, NULL);
	}
	return now ? now : U64_MAX;
}

static void see_all(void)
{
	u32 i;

	for (i = 0; i < nr_cpu_ids; i++)
		if (rings[i])
			gtp_lines_see(rings[i]);
}

enum gtp_lines_left gtp_lines_drain(struct gtp_trace *t, struct gtp_stub *stub,
				    bool (*has_room)(struct gtp_stub *stub))
{
	bool console = t->dprintfs.to == GTP_DPRINTF_CONSOLE;
	u32 most = t->dprintfs.to == GTP_DPRINTF_LOG ? LOG_AT_ONCE : AT_ONCE, n;
	struct gtp_lines *r = NULL;
	u64 limited = 0, before = 0;

	lockdep_assert_held(&gtp_lock);
	if (!rings || (console && !(stub && stub->waiting)))
		return GTP_LINES_NONE;
	if (gtp_lines_wait(rings, nr_cpu_ids))
		before = settled_until(t);
	for (n = 0; n < most; n++) {
		if (console && !has_room(stub))
			return GTP_LINES_MORE;
		r = gtp_lines_oldest(rings, nr_cpu_ids, before);
		if (!r)
			break;
		if (hand_over(t, stub, gtp_lines_first(r)))
			t->dprintfs.printed++;
		else
			limited++;
		gtp_lines_next(r);
	}
	see_all();
	t->dprintfs.limited += limited;
	tell_dropped(t, stub, limited);
	if (r)
		return GTP_LINES_MORE;
	return gtp_lines_wait(rings, nr_cpu_ids) ? GTP_LINES_FRESH : GTP_LINES_NONE;
}

void gtp_lines_forget(struct gtp_trace *t)
{
	struct gtp_lines *r;

	lockdep_assert_held(&gtp_lock);
	if (!rings || t->dprintfs.to != GTP_DPRINTF_CONSOLE || gtp_dprintf_any(t))
		return;
	while ((r = gtp_lines_oldest(rings, nr_cpu_ids, U64_MAX))) {
		t->dprintfs.limited++;
		gtp_lines_next(r);
	}
}
