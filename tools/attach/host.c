// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host of a stub whose target is a process: implements the functions that the stub needs with
 * those in user/process/.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bounded.h"
#include "host.h"
#include "user/process/link_map.h"

/*
 * Report once that a page of the process could not be read in time. GDB shows standard error at
 * once.
 */
static void tell_late(struct host *h, u64 addr)
{
	if (!h->late)
		warnx("process %u: the page at 0x%llx does not come: its file system hangs",
		      h->process.pid, addr);
	h->late = true;
}

/* --- functions that the stub calls --- */

/* struct span - a piece of memory */
struct span {
	u64 addr;
	u32 len;
};

static int read_span(void *ctx, const void *arg, struct gtp_text *out)
{
	struct host *h = ctx;
	const struct span *span = arg;
	void *bytes = malloc(span->len ? span->len : 1);
	int err = bytes ? gtp_process_read(&h->process, bytes, span->addr, span->len) : -ENOMEM;

	return err ? err : bounded_put(out, bytes, span->len);
}

static int read_memory(void *ctx, void *dst, u64 addr, u32 len)
{
	struct host *h = ctx;
	const struct span span = { addr, len };
	int err = bounded_call(read_span, h, &span, BOUNDED_READ_MS, &h->read);

	if (err == -ETIMEDOUT)
		tell_late(h, addr);
	if (!err)
		memcpy(dst, h->read.bytes, len);
	return err ? -EFAULT : 0;
}

static int refuse_write(void *ctx, u64 addr, const void *src, u32 len)
{
	return -EPERM;
}

static const char *release(void *ctx)
{
	static struct utsname uts;

	return uname(&uts) ? "unknown" : uts.release;
}

static int refuse_save(void *ctx, const char *name, struct gtp_why *why)
{
	gtp_why(why, "there is no folder for trace files here: use tsave without -r");
	return -EOPNOTSUPP;
}

static u64 now_ms(void *ctx)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

static u32 get_pid(void *ctx)
{
	const struct host *h = ctx;

	return h->process.pid;
}

static bool is_gone(void *ctx, struct gtp_why *why)
{
	const struct host *h = ctx;

	return gtp_process_is_gone(&h->process, why);
}

static bool has_thread(void *ctx, u32 tid)
{
	const struct host *h = ctx;

	return gtp_process_has_thread(&h->process, tid);
}

static void get_live(void *ctx, u32 tid, struct gtp_live *live)
{
	const struct host *h = ctx;

	gtp_process_live(&h->process, tid, live);
}

static int find_event(void *ctx, const void *arg, struct gtp_text *out)
{
	const struct host *h = ctx;
	const u64 *addr = arg;

	return gtp_link_map_is_event(&h->process, *addr) ? 0 : -ENOENT;
}

static bool is_library_event(void *ctx, u64 addr)
{
	struct host *h = ctx;

	return !bounded_call(find_event, h, &addr, BOUNDED_READ_MS, &h->read);
}

/*
 * Report once that a list is incomplete. Write to standard error, which GDB shows. A console packet
 * of the stub would have to wait, because GDB accepts console packets only before the replies to a
 * few of its packets.
 */
static void tell_cut(struct host *h, enum gtp_object which, bool cut)
{
	if (cut && !h->cut[which])
		warnx("process %u has more %s than are shown: the others are left out",
		      h->process.pid, which == GTP_OBJECT_THREADS ? "threads" : "libraries");
	h->cut[which] = cut;
}

/* struct list - the beginning of the result of list_libraries(); the text of the list follows */
struct list {
	u64 sum;
	bool cut;
	struct gtp_why why;
};

static int list_libraries(void *ctx, const void *arg, struct gtp_text *out)
{
	struct host *h = ctx;
	struct gtp_text text = { 0 };
	struct list list = { .sum = h->libraries };
	int err;

	/*
	 * Compute the checksum before reading the list of libraries. If the list changes in
	 * between, a needless report to GDB is possible, but no change is missed.
	 */
	gtp_link_map_sum(&h->process, &list.sum);
	err = gtp_objects_make(&h->process, GTP_OBJECT_LIBRARIES, &text, &list.why);
	list.cut = text.cut;
	if (bounded_put(out, &list, sizeof(list)) ||
	    (!err && bounded_put(out, text.bytes, text.len)))
		return -ENOMEM;
	return err;
}

static int make_libraries(struct host *h, struct gtp_text *text, struct gtp_why *why)
{
	int err = bounded_call(list_libraries, h, NULL, BOUNDED_LIST_MS, text);
	struct list list;

	if (text->len < sizeof(list)) {
		gtp_why(why, "the libraries of process %u cannot be read in time", h->process.pid);
		return err ? err : -EIO;
	}
	memcpy(&list, text->bytes, sizeof(list));
	text->len -= sizeof(list);
	memmove(text->bytes, text->bytes + sizeof(list), text->len);
	h->libraries = list.sum;
	*why = list.why;
	if (!err)
		tell_cut(h, GTP_OBJECT_LIBRARIES, list.cut);
	return err;
}

/*
 * Read a part of a text that GDB reads in several packets. All replies contain parts of the text as
 * it was at the first packet.
 */
static s64 read_object(void *ctx, enum gtp_object which, u64 from, void *dst, u32 len,
		       struct gtp_why *why)
{
	struct host *h = ctx;
	struct gtp_text *text = &h->object[which];
	int err;

	if (!from) {
		if (which == GTP_OBJECT_LIBRARIES)
			err = make_libraries(h, text, why);
		else
			err = gtp_objects_make(&h->process, which, text, why);
		if (err)
			return err;
		if (which == GTP_OBJECT_THREADS)
			tell_cut(h, which, text->cut);
	}
	if (from >= text->len)
		return 0;
	if (len > text->len - from)
		len = (u32)(text->len - from);
	memcpy(dst, text->bytes + from, len);
	return len;
}

static int file_open(void *ctx, const char *path)
{
	struct host *h = ctx;

	return gtp_process_files_open(&h->files, &h->process, path);
}

static int file_stat(void *ctx, u32 fd, struct gtp_file_stat *st)
{
	const struct host *h = ctx;

	return gtp_process_files_stat(&h->files, fd, st);
}

static int file_close(void *ctx, u32 fd)
{
	struct host *h = ctx;

	return gtp_process_files_end(&h->files, fd);
}

static s64 file_read(void *ctx, u32 fd, u64 from, void *dst, u32 len)
{
	const struct host *h = ctx;

	return gtp_process_files_read(&h->files, fd, from, dst, len);
}

static s64 file_link(void *ctx, const char *path, char *dst, u32 len)
{
	const struct host *h = ctx;

	return gtp_process_files_link(&h->process, path, dst, len);
}

static const struct gtp_process_ops process_ops = {
	.pid = get_pid,
	.is_gone = is_gone,
	.has_thread = has_thread,
	.live = get_live,
	.is_library_event = is_library_event,
	.object = read_object,
	.open = file_open,
	.stat = file_stat,
	.close = file_close,
	.pread = file_read,
	.readlink = file_link,
};

static const struct gtp_stub_ops stub_ops = {
	.read = read_memory,
	.write = refuse_write,
	.release = release,
	.save = refuse_save,
	.now_ms = now_ms,
	.process = &process_ops,
};

static const struct gtp_hit_ops hit_ops = { .read = read_memory };

/* --- the connection to GDB --- */

static void send_bytes(void *ctx, const void *bytes, u32 len)
{
	struct host *h = ctx;
	u32 done = 0;

	while (done < len && !h->broken) {
		ssize_t n = write(STDOUT_FILENO, (const u8 *)bytes + done, len - done);

		if (n > 0)
			done += (u32)n;
		else if (n < 0 && errno != EINTR)
			h->broken = true;
	}
}

static int sum_libraries(void *ctx, const void *arg, struct gtp_text *out)
{
	const struct host *h = ctx;
	u64 sum;
	int err = gtp_link_map_sum(&h->process, &sum);

	return err ? err : bounded_put(out, &sum, sizeof(sum));
}

/*
 * True if the list of libraries has changed. Checks so rarely that the checks take at most 5 % of
 * the time.
 */
static bool libraries_change(struct host *h, u64 *sum)
{
	u64 begin = now_ms(h), end;
	int err;

	if (begin < h->look_ms)
		return false;
	err = bounded_call(sum_libraries, h, NULL, BOUNDED_LIST_MS, &h->read);
	if (!err)
		memcpy(sum, h->read.bytes, sizeof(*sum));
	end = now_ms(h);
	h->look_ms = end + 20 * (end - begin);
	return !err && *sum != h->libraries;
}

/* Look at the process's filters so rarely that it takes at most 5 % of the time. */
static void look_at_agent(struct host *h)
{
	u64 begin = now_ms(h), end;

	if (begin < h->agent_ms)
		return;
	agent_look(h->agent);
	end = now_ms(h);
	h->agent_ms = end + 20 * (end - begin);
}

bool host_looks(const struct host *h)
{
	return h->stub.waiting || h->agent->in;
}

void host_look(struct host *h)
{
	struct gtp_why why = { "" };
	u64 sum;

	look_at_agent(h);
	if (!h->stub.waiting)
		return;
	if (gtp_process_is_gone(&h->process, &why)) {
		gtp_stub_gone(&h->stub, &why);
		return;
	}
	if (!libraries_change(h, &sum))
		return;
	h->libraries = sum;
	gtp_stub_libraries(&h->stub);
}

int host_init(struct host *h, u32 pid, struct gtp_why *why)
{
	int err = gtp_process_open(&h->process, pid, why);

	if (err)
		return err;
	gtp_process_files_init(&h->files);
	h->agent = &h->in_process;
	err = agent_init(h->agent, &h->process, &hit_ops, h, why);
	if (err)
		goto close_process;
	err = -ENOMEM;
	gtp_why(why, "out of memory");
	if (gtp_stub_init(&h->stub, h->agent->trace, &stub_ops, send_bytes, h))
		goto exit_agent;
	return 0;

exit_agent:
	agent_exit(h->agent);
close_process:
	gtp_process_close(&h->process);
	return err;
}

void host_exit(struct host *h)
{
	u32 i;

	gtp_stub_exit(&h->stub);
	agent_exit(h->agent);
	for (i = 0; i < ARRAY_SIZE(h->object); i++)
		free(h->object[i].bytes);
	free(h->read.bytes);
	gtp_process_files_close(&h->files);
	gtp_process_close(&h->process);
}
