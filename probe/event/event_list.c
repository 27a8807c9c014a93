// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints of the kernel and its modules, and the names of their events.
 *
 * A tracepoint's struct has its name and its marker, the address by which GDB names it. The events
 * of the kernel itself can be found only by name, in the file available_events of tracefs, which is
 * read once, when names are first needed. A module's events are in its struct module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/uio.h>

#include "kernel/base/mem_kernel.h"
#include "probe/event/event_list.h"

DEFINE_MUTEX(gtp_events_lock); /* guards the list of modules and the armed probes */

/* The tracepoints of the kernel itself, sorted by name; once @named is set, by system and name. */
static struct gtp_event *core;
static u32 ncore;
static bool named;

/* struct events_module - a module that has tracepoints */
struct events_module {
	struct list_head list;
	struct module *mod;
};

static LIST_HEAD(modules);

/*
 * Return the tracepoint's marker, the address of __traceiter_EVENT(), whose DWARF names the
 * arguments.
 */
u64 gtp_event_marker(const struct tracepoint *tp)
{
	return (u64)tp->iterator;
}

/* --- the kernel's own tracepoints --- */

static void count_one(struct tracepoint *tp, void *n)
{
	++*(u32 *)n;
}

static void add_one(struct tracepoint *tp, void *room)
{
	if (ncore < *(u32 *)room)
		core[ncore++].tp = tp;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct gtp_event *)a)->tp->name,
		      ((const struct gtp_event *)b)->tp->name);
}

static const char *system_of(const struct gtp_event *ev)
{
	return ev->call ? ev->call->class->system : "raw";
}

static int by_id(const void *a, const void *b)
{
	int order = strcmp(system_of(a), system_of(b));

	return order ? order : by_name(a, b);
}

static struct gtp_event *core_by_name(const char *name)
{
	u32 low = 0, high = ncore;

	while (low < high) {
		u32 mid = low + (high - low) / 2;
		int order = strcmp(name, core[mid].tp->name);

		if (!order)
			return &core[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

/*
 * True if TRACE_EVENT made this event for this tracepoint. Other code may attach events of its own.
 */
static bool belongs(const struct trace_event_call *call, const struct tracepoint *tp)
{
	return (call->flags & TRACE_EVENT_FL_TRACEPOINT) && call->tp == tp && call->class->probe;
}

static void name_core(const char *system, const char *event)
{
	struct gtp_event *ev = core_by_name(event);
	struct trace_event_file *file;

	if (!ev || ev->call)
		return;
	/* trace_get_event_file() is slow: call it only for events whose tracepoint is in @core. */
	file = trace_get_event_file(NULL, system, event);
	if (IS_ERR(file))
		return;
	if (belongs(file->event_call, ev->tp) &&
	    !(file->event_call->flags & TRACE_EVENT_FL_DYNAMIC) && !file->event_call->module)
		ev->call = file->event_call;
	trace_put_event_file(file);
}

/* --- ftrace's list of names --- */

/* Open available_events by a mount of our own: tracefs may be mounted anywhere or nowhere. */
static struct file *open_names(struct vfsmount **mnt)
{
	struct file_system_type *type = get_fs_type("tracefs");
	struct path root;
	struct file *file;

	if (!type)
		return ERR_PTR(-ENODEV);
	*mnt = kern_mount(type);
	if (IS_ERR(*mnt))
		return ERR_CAST(*mnt);
	root = (struct path){ .mnt = *mnt, .dentry = (*mnt)->mnt_root };
	file = file_open_root(&root, "available_events", O_RDONLY, 0);
	if (IS_ERR(file))
		kern_unmount(*mnt);
	return file;
}

/*
 * Read a part of available_events. The file's ->read() accepts only user memory, so read from its
 * seq_file, which has no such limit.
 */
static ssize_t read_names(struct file *file, loff_t *pos, char *buf, size_t size)
{
	struct kvec vec = { .iov_base = buf, .iov_len = size };
	struct iov_iter iter;
	struct kiocb iocb;
	ssize_t n;

	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, size);
	init_sync_kiocb(&iocb, file);
	iocb.ki_pos = *pos;
	n = seq_read_iter(&iocb, &iter);
	*pos = iocb.ki_pos;
	return n;
}

static void take_line(char *line)
{
	char *event = strchr(line, ':');

	if (!event)
		return;
	*event++ = '\0';
	name_core(line, event);
}

/* take_lines - parse the complete lines; move the rest to the front and return its length */
static size_t take_lines(char *buf, size_t len)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', buf + len - line))) {
		*end = '\0';
		take_line(line);
		line = end + 1;
	}
	len -= line - buf;
	memmove(buf, line, len);
	return len;
}

static void read_all_names(struct file *file, char *buf, size_t size)
{
	size_t have = 0;
	loff_t pos = 0;
	ssize_t n;

	while ((n = read_names(file, &pos, buf + have, size - have)) > 0) {
		have = take_lines(buf, have + n);
		if (have == size)
			break;
	}
}

/*
 * Read the names of all events. If that fails, the tracepoints can be used only as raw:NAME, and
 * the next call of name_all() tries again.
 */
static void name_all(void)
{
	char *buf;
	struct vfsmount *mnt;
	struct file *file;

	if (named)
		return;
	buf = gtp_mem_alloc(PAGE_SIZE);
	file = buf ? open_names(&mnt) : ERR_PTR(-ENOMEM);
	if (!IS_ERR(file)) {
		read_all_names(file, buf, PAGE_SIZE);
		filp_close(file, NULL);
		kern_unmount(mnt);
		sort(core, ncore, sizeof(*core), by_id, NULL);
		named = true;
	}
	gtp_mem_free(buf);
}

/* --- tracepoints of modules --- */

static struct tracepoint *nth_of(const struct module *mod, u32 n)
{
	return tracepoint_ptr_deref(&mod->tracepoints_ptrs[n]);
}

static struct trace_event_call *call_of(const struct module *mod, const struct tracepoint *tp)
{
	u32 i;

	for (i = 0; i < mod->num_trace_events; i++)
		if (belongs(mod->trace_events[i], tp))
			return mod->trace_events[i];
	return NULL;
}

void gtp_event_forget(const struct module *mod)
{
	struct events_module *m, *next;

	lockdep_assert_held(&gtp_events_lock);
	list_for_each_entry_safe(m, next, &modules, list) {
		if (m->mod != mod)
			continue;
		list_del(&m->list);
		gtp_mem_free(m);
	}
}

static void remember(struct module *mod)
{
	struct events_module *m = gtp_mem_alloc(sizeof(*m));

	if (!m) {
		pr_warn("no memory for the tracepoints of module %s\n", mod->name);
		return;
	}
	m->mod = mod;
	mutex_lock(&gtp_events_lock);
	list_add_tail(&m->list, &modules);
	mutex_unlock(&gtp_events_lock);
}

/*
 * Update the list when a module's tracepoints are added or removed; also called for modules that
 * are already loaded. The module notifier (kernel/unload.c) runs earlier and handles unloading. But
 * it may have run for a module before tracepoint_notifier was registered: such a module is reported
 * here as loaded and then as going.
 */
static int tracepoints_changed(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tpm = data;

	if (state == MODULE_STATE_COMING) {
		remember(tpm->mod);
	} else if (state == MODULE_STATE_GOING) {
		mutex_lock(&gtp_events_lock);
		gtp_event_forget(tpm->mod);
		mutex_unlock(&gtp_events_lock);
	}
	return NOTIFY_DONE;
}

static struct notifier_block tracepoint_notifier = {
	.notifier_call = tracepoints_changed,
};

/* --- all tracepoints --- */

static bool find_core(u64 addr, struct gtp_event *ev)
{
	u32 i;

	for (i = 0; i < ncore; i++) {
		if (gtp_event_marker(core[i].tp) == addr) {
			*ev = core[i];
			return true;
		}
	}
	return false;
}

static bool find_listed(u64 addr, struct gtp_event *ev)
{
	struct events_module *m;
	u32 i;

	if (find_core(addr, ev))
		return true;
	list_for_each_entry(m, &modules, list) {
		for (i = 0; i < m->mod->num_tracepoints; i++) {
			ev->tp = nth_of(m->mod, i);
			if (gtp_event_marker(ev->tp) != addr)
				continue;
			ev->call = call_of(m->mod, ev->tp);
			return true;
		}
	}
	return false;
}

bool gtp_event_find(u64 addr, struct gtp_event *ev)
{
	lockdep_assert_held(&gtp_events_lock);
	name_all();
	return find_listed(addr, ev);
}

bool gtp_event_is_marker(void *ctx, u64 addr)
{
	struct gtp_event ev;
	bool found;

	mutex_lock(&gtp_events_lock);
	found = find_listed(addr, &ev);
	mutex_unlock(&gtp_events_lock);
	return found;
}

static bool nth(u32 n, struct gtp_event *ev)
{
	struct events_module *m;

	if (n < ncore) {
		*ev = core[n];
		return true;
	}
	n -= ncore;
	list_for_each_entry(m, &modules, list) {
		if (n < m->mod->num_tracepoints) {
			ev->tp = nth_of(m->mod, n);
			ev->call = call_of(m->mod, ev->tp);
			return true;
		}
		n -= m->mod->num_tracepoints;
	}
	return false;
}

int gtp_event_marker_nth(u32 n, u64 *addr, char *text, size_t size, const char **extra)
{
	struct gtp_event ev;
	struct gtp_out out;
	int len;
	bool found;

	mutex_lock(&gtp_events_lock);
	if (!n)
		name_all(); /* sorts @core, whose order must not change while a list is read */
	found = nth(n, &ev);
	if (found) {
		len = gtp_event_id(&ev, text, size);
		gtp_out_init(&out, text + len + 1, size - len - 1);
		gtp_event_extra(&ev, &out);
		*addr = gtp_event_marker(ev.tp);
		*extra = out.buf;
	}
	mutex_unlock(&gtp_events_lock);
	return found ? 0 : -ENOENT;
}

int gtp_event_marker_at(u64 addr)
{
	struct gtp_event ev;
	int n = 0;

	mutex_lock(&gtp_events_lock);
	name_all();
	while (nth(n, &ev) && gtp_event_marker(ev.tp) != addr)
		n++;
	if (!nth(n, &ev))
		n = -ENOENT;
	mutex_unlock(&gtp_events_lock);
	return n;
}

int gtp_event_list_init(void)
{
	u32 room = 0;
	int err;

	for_each_kernel_tracepoint(count_one, &room);
	core = gtp_mem_alloc(array_size(room + 1, sizeof(*core)));
	if (!core)
		return -ENOMEM;
	for_each_kernel_tracepoint(add_one, &room);
	sort(core, ncore, sizeof(*core), by_name, NULL);
	err = register_tracepoint_module_notifier(&tracepoint_notifier);
	if (err)
		gtp_mem_free(core);
	return err;
}

void gtp_event_list_exit(void)
{
	struct events_module *m, *next;

	unregister_tracepoint_module_notifier(&tracepoint_notifier);
	mutex_lock(&gtp_events_lock);
	list_for_each_entry_safe(m, next, &modules, list) {
		list_del(&m->list);
		gtp_mem_free(m);
	}
	mutex_unlock(&gtp_events_lock);
	gtp_mem_free(core);
}
