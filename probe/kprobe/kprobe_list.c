// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's lists of kprobes, armed or not, and of code that must not be probed.
 *
 * A kprobe that is registered but disabled (as those of kprobe_events are at first) leaves no trace
 * in the text, and may be armed at any time. The kernel lists all of them in debugfs. If debugfs is
 * not mounted or hides addresses, a disabled kprobe of our own at the same address finds it: the
 * kernel chains all kprobes of one address.
 *
 * The list stays open while jumps exist. The task that removes them may be a kernel worker, because
 * a run can end by itself, and a worker need not see the debugfs that GDB's task sees.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/sort.h>

#include "kernel/base/mem_kernel.h"
#include "probe/policy/debugfs.h"
#include "probe/kprobe/kprobe_list.h"
#include "probe/policy/debugfs_text.h"
#include "probe/policy/probe_test.h"

/* struct array - a growing array; its elements have @each bytes and begin with the u64 sort key */
struct array {
	void *at;
	u32 n, room, each;
};

static struct array probes = { .each = sizeof(u64) };
static struct array ranges = { .each = sizeof(struct gtp_debugfs_range) };
static bool probes_told, ranges_told, ranges_asked;
static bool was_read;
static struct file *list; /* NULL: not open */

static int add(struct array *a, const void *element)
{
	void *at;
	u32 room;

	if (a->n == a->room) {
		room = a->room ? 2 * a->room : 512;
		at = gtp_mem_alloc((size_t)room * a->each);
		if (!at)
			return -ENOMEM;
		if (a->n)
			memcpy(at, a->at, (size_t)a->n * a->each);
		gtp_mem_free(a->at);
		a->at = at;
		a->room = room;
	}
	memcpy(a->at + (size_t)a->n++ * a->each, element, a->each);
	return 0;
}

static void clear(struct array *a)
{
	gtp_mem_free(a->at);
	a->at = NULL;
	a->n = 0;
	a->room = 0;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* below - return the number of elements whose key is below @key */
static u32 below(const struct array *a, u64 key)
{
	u32 low = 0, high = a->n;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (*(const u64 *)(a->at + (size_t)mid * a->each) < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- the list of kprobes --- */

static int keep_probe(void *ctx, const char *line, u32 len)
{
	u64 addr = gtp_debugfs_probe(line, len);

	return addr ? add(&probes, &addr) : -EPERM;
}

static int read_list(void)
{
	struct file *file = list ? list : gtp_debugfs_open("/sys/kernel/debug/kprobes/list");

	if (IS_ERR(file))
		return PTR_ERR(file);
	list = file;
	return gtp_debugfs_lines(list, keep_probe, NULL);
}

int gtp_kprobe_list_read(void)
{
	int err;

	gtp_probe_test_end();
	clear(&probes);
	err = read_list();
	probes_told = !err;
	if (probes_told)
		sort(probes.at, probes.n, probes.each, compare, NULL);
	else
		clear(&probes);
	was_read = err != -ENOMEM;
	return was_read ? 0 : err;
}

int gtp_kprobe_list_need(void)
{
	return was_read ? 0 : gtp_kprobe_list_read();
}

/*
 * Wait until registrations in progress, which hold kprobe_mutex, are complete: disable_kprobe() of
 * an unregistered kprobe takes that mutex before it fails.
 */
void gtp_kprobe_list_flush(void)
{
	struct kprobe none = { .addr = NULL };

	disable_kprobe(&none);
}

bool gtp_kprobe_list_settle(void)
{
	gtp_kprobe_list_flush();
	return !gtp_kprobe_list_read();
}

/*
 * True if another kprobe is at the address, found by registering a test kprobe. If the kernel
 * refuses the test kprobe (not the start of an instruction, or blacklisted), there is no other
 * kprobe either.
 */
static bool is_tried(u64 addr)
{
	bool company = false;
	int err = gtp_probe_test(addr, NULL, &company);

	if (err)
		return err != -EILSEQ && err != -EINVAL && err != -ENOENT;
	return company;
}

bool gtp_kprobe_list_in(u64 start, u64 end)
{
	if (probes_told)
		return below(&probes, start) < below(&probes, end);
	for (; start < end; start++) {
		if (is_tried(start))
			return true;
		cond_resched();
	}
	return false;
}

/* --- the blacklist --- */

static int keep_range(void *ctx, const char *line, u32 len)
{
	struct gtp_debugfs_range r;

	return gtp_debugfs_range(line, len, &r) ? add(&ranges, &r) : -EPERM;
}

/*
 * Read the blacklist. Every kernel has blacklisted code: an empty list means that it cannot be
 * read.
 */
static void read_ranges(void)
{
	struct file *file = gtp_debugfs_open("/sys/kernel/debug/kprobes/blacklist");
	struct gtp_debugfs_range *r;
	u32 i;

	ranges_asked = true;
	if (IS_ERR(file))
		return;
	ranges_told = !gtp_debugfs_lines(file, keep_range, NULL) && ranges.n;
	gtp_debugfs_close(file);
	if (!ranges_told)
		return;
	sort(ranges.at, ranges.n, ranges.each, compare, NULL);
	/*
	 * The ranges may overlap: give each the highest end among itself and all ranges before it.
	 */
	for (r = ranges.at, i = 1; i < ranges.n; i++)
		r[i].end = max(r[i].end, r[i - 1].end);
}

static bool is_listed(u64 addr)
{
	const struct gtp_debugfs_range *r = ranges.at;
	u32 n = below(&ranges, addr + 1);

	return n && addr < r[n - 1].end;
}

static bool is_part_of_listed(const char *name)
{
	const struct gtp_debugfs_range *r = ranges.at;
	u32 hash, i;

	if (!strchr(name, '.'))
		return false;
	hash = gtp_debugfs_hash(name);
	for (i = 0; i < ranges.n; i++) {
		if (r[i].name == hash)
			return true;
	}
	return false;
}

int gtp_kprobe_list_blacklisted(u64 addr, const char *name)
{
	if (!ranges_asked)
		read_ranges();
	if (!ranges_told)
		return -ENOENT;
	return is_listed(addr) || is_part_of_listed(name);
}

void gtp_kprobe_list_forget(void)
{
	was_read = false;
	gtp_probe_test_end();
	clear(&probes);
	clear(&ranges);
	probes_told = false;
	ranges_told = false;
	ranges_asked = false;
}

void gtp_kprobe_list_close(void)
{
	gtp_kprobe_list_forget();
	if (list)
		gtp_debugfs_close(list);
	list = NULL;
}
