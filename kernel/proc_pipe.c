// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/gtpframe_pipe: delivers the frames of the current run soon after they are written, each
 * frame once.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/uio.h>
#include <linux/workqueue.h>

#include "export/stream.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/host.h"
#include "kernel/proc.h"
#include "probe/self.h"

enum {
	PIECE = SZ_256K,
	/*
	 * A hit does not wake the reader, because the hit may be in the code that wakes tasks. So
	 * the reader polls, and takes frames now and then, or when a buffer fills.
	 */
	LOOK_MS = 4,
	SWEEP_MS = 20,
};

/**
 * struct reader - the one open of /proc/gtpframe_pipe
 * @lock: one read at a time; taken before gtp_lock
 * @in: the run, once there is one; under gtp_lock, like the next two
 * @attached: @in is open
 * @epoch: the epoch of the session's frames when the file was opened
 * @was_on: a run was active when the file was opened; a run that was over by then is not read
 * @swept: time of the last sweep, in jiffies
 * @piece: PIECE bytes to copy to the user; under @lock
 * @wait: for poll; woken by @look
 * @look: work that runs while a task polls
 */
struct reader {
	struct mutex lock; /* guards @piece */
	struct gtp_stream in;
	bool attached;
	u64 epoch;
	bool was_on;
	unsigned long swept;
	u8 *piece;
	wait_queue_head_t wait;
	struct delayed_work look;
};

static struct proc_dir_entry *entry;
static bool taken; /* under gtp_lock: there is a reader */

static void look(struct work_struct *work)
{
	wake_up_all(&container_of(work, struct reader, look.work)->wait);
}

/* --- open and release --- */

static void reader_free(struct reader *r)
{
	gtp_mem_free(r->piece);
	gtp_mem_free(r);
}

static struct reader *reader_create(void)
{
	struct reader *r = gtp_mem_alloc(sizeof(*r));

	if (!r)
		return NULL;
	r->piece = gtp_mem_alloc(PIECE);
	if (!r->piece) {
		reader_free(r);
		return NULL;
	}
	mutex_init(&r->lock);
	init_waitqueue_head(&r->wait);
	INIT_DELAYED_WORK(&r->look, look);
	return r;
}

/* become_reader - make this open file the one reader; under gtp_lock */
static int become_reader(struct reader *r)
{
	if (taken)
		return -EBUSY;
	taken = true;
	gtp_host_settle();
	r->epoch = gtp_host.trace.epoch;
	r->was_on = gtp_trace_running(&gtp_host.trace);
	gtp_self_set(GTP_SELF_READER, task_tgid(current));
	return 0;
}

static int open_reader(struct file *file)
{
	struct reader *r = reader_create();
	int err;

	if (!r)
		return -ENOMEM;
	err = mutex_lock_interruptible(&gtp_lock) ? -ERESTARTSYS : 0;
	if (!err) {
		err = become_reader(r);
		mutex_unlock(&gtp_lock);
	}
	if (!err) {
		file->private_data = r;
		return 0;
	}
	reader_free(r);
	return err;
}

static int pipe_open(struct inode *inode, struct file *file)
{
	int err = gtp_proc_allowed();

	if (err)
		return err;
	/* The reference makes rmmod say "in use", as with /proc/gtp. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	err = open_reader(file);
	if (!err)
		return stream_open(inode, file);
	module_put(THIS_MODULE);
	return err;
}

static int pipe_release(struct inode *inode, struct file *file)
{
	struct reader *r = file->private_data;

	cancel_delayed_work_sync(&r->look);
	mutex_lock(&gtp_lock);
	gtp_self_set(GTP_SELF_READER, NULL);
	if (r->attached)
		gtp_stream_close(&r->in);
	taken = false;
	mutex_unlock(&gtp_lock);
	reader_free(r);
	module_put(THIS_MODULE);
	return 0;
}

/* --- the run to read; under gtp_lock --- */

/* True if the session's frames are those of a run that began after the file was opened. */
static bool is_new(const struct reader *r)
{
	return gtp_host.trace.epoch != r->epoch;
}

/*
 * True if a run has begun since the file was opened, or was active then. That run may be over by
 * now.
 */
static bool has_run(const struct reader *r)
{
	return gtp_host.trace.stop != GTP_STOP_NEVER_RUN && (r->was_on || is_new(r));
}

/* True if GDB has a frame selected: until GDB deselects it, a finished run's frames are kept. */
static bool gdb_looks(void)
{
	return !gtp_trace_running(&gtp_host.trace) && gtp_host.stub &&
	       gtp_stub_has_frame(gtp_host.stub);
}

static bool sweep_is_due(const struct reader *r)
{
	if (gtp_stream_ended(&r->in) || gtp_stream_left(&r->in) || !gtp_stream_waits(&r->in) ||
	    gdb_looks())
		return false;
	return gtp_stream_urgent(&r->in) ||
	       time_after_eq(jiffies, r->swept + msecs_to_jiffies(SWEEP_MS));
}

static bool is_readable(const struct reader *r)
{
	if (!r->attached)
		return has_run(r);
	return gtp_stream_left(&r->in) || gtp_stream_ended(&r->in) || sweep_is_due(r);
}

/*
 * Reschedule during a sweep. Not gtp_progress(), which would report the reader's work to GDB as
 * progress of GDB's request.
 */
static void reschedule(void *ctx, const char *what, u32 done, u32 total)
{
	cond_resched();
}

static int attach(struct reader *r)
{
	struct gtp_why why;
	int err = gtp_stream_open(&r->in, &gtp_host.trace, is_new(r), reschedule, &why);

	if (err) {
		pr_notice_ratelimited("gdbtp: /proc/gtpframe_pipe: %s\n", why.text);
		return err;
	}
	r->attached = true;
	/* Let the first read sweep at once, for frames that exist already. */
	r->swept = jiffies - msecs_to_jiffies(SWEEP_MS);
	return 0;
}

/* take_piece - take bytes of the stream; return 0 at the end, -EAGAIN if there are none yet */
static ssize_t take_piece(struct reader *r, size_t len)
{
	ssize_t n;
	int err;

	/* The process that reads may not be the one that has opened the file. */
	gtp_self_set(GTP_SELF_READER, task_tgid(current));
	gtp_host_settle();
	if (!is_readable(r))
		return -EAGAIN;
	err = r->attached ? 0 : attach(r);
	if (!err && sweep_is_due(r)) {
		err = gtp_stream_sweep(&r->in);
		r->swept = jiffies;
	}
	if (err)
		return err;
	n = gtp_stream_read(&r->in, r->piece, len);
	/*
	 * If the CPUs' clocks differ, a sweep may leave all frames that it finds to the next sweep.
	 */
	return n || gtp_stream_ended(&r->in) ? n : -EAGAIN;
}

/* --- read and poll --- */

static ssize_t read_piece(struct reader *r, size_t len)
{
	ssize_t n;

	if (mutex_lock_interruptible(&gtp_lock))
		return -ERESTARTSYS;
	n = take_piece(r, len);
	mutex_unlock(&gtp_lock);
	return n;
}

/*
 * Read as much as fits and is available, until a signal. The header is returned alone: so a reader
 * that stops after the header has taken no frames.
 */
static ssize_t read_pieces(struct reader *r, struct iov_iter *to)
{
	bool knew = r->in.read_header;
	size_t done = 0;

	while (iov_iter_count(to) && r->in.read_header == knew) {
		ssize_t n = read_piece(r, min_t(size_t, iov_iter_count(to), PIECE));

		if (n <= 0)
			return done ? done : n;
		/*
		 * Copying to user memory may sleep until a page is read from disk: do not hold
		 * gtp_lock.
		 */
		if (copy_to_iter(r->piece, n, to) != n)
			return done ? done : -EFAULT;
		done += n;
		if (signal_pending(current))
			break;
	}
	return done;
}

static ssize_t pipe_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct reader *r = iocb->ki_filp->private_data;
	bool wait = !(iocb->ki_filp->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT);
	ssize_t n;

	/* Do not wait for splice: it holds its pipe's lock, which the other end may need. */
	wait = wait && user_backed_iter(to);
	if (mutex_lock_interruptible(&r->lock))
		return -ERESTARTSYS;
	while ((n = read_pieces(r, to)) == -EAGAIN && wait) {
		if (signal_pending(current)) {
			n = -ERESTARTSYS;
			break;
		}
		schedule_timeout_interruptible(msecs_to_jiffies(LOOK_MS));
	}
	mutex_unlock(&r->lock);
	return n;
}

/*
 * Report whether there is something to read. Only try gtp_lock: arming may hold it for a long time,
 * and there is nothing to read meanwhile.
 */
static __poll_t pipe_poll(struct file *file, poll_table *wait)
{
	struct reader *r = file->private_data;
	bool readable = false;

	poll_wait(file, &r->wait, wait);
	if (mutex_trylock(&gtp_lock)) {
		gtp_host_settle();
		readable = is_readable(r);
		mutex_unlock(&gtp_lock);
	}
	if (readable)
		return EPOLLIN | EPOLLRDNORM;
	schedule_delayed_work(&r->look, msecs_to_jiffies(LOOK_MS));
	return 0;
}

static const struct proc_ops pipe_ops = {
	.proc_open = pipe_open,
	.proc_release = pipe_release,
	.proc_read_iter = pipe_read_iter,
	.proc_poll = pipe_poll,
};

int gtp_proc_pipe_init(void)
{
	entry = proc_create("gtpframe_pipe", 0400, NULL, &pipe_ops);
	return entry ? 0 : -ENOMEM;
}

void gtp_proc_pipe_exit(void)
{
	proc_remove(entry);
}
