// SPDX-License-Identifier: GPL-2.0-only
/* /proc/gtp: the file that GDB opens as if it were a serial line. */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/termios.h>
#include <linux/uaccess.h>

#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/host.h"
#include "kernel/kernel_target.h"
#include "kernel/lines.h"
#include "kernel/outq.h"
#include "kernel/proc.h"
#include "probe/self.h"

enum { CHUNK = 4096 };

/**
 * struct session - one open of /proc/gtp
 * @stub: the connection's stub; under gtp_lock
 * @out: replies that GDB has not read yet
 * @write_lock: one writer at a time, so that packets of two threads do not mix; also guards @in
 * @read_lock: one reader at a time; also guards @bounce
 * @in: bytes copied from the writer's memory for @stub, so that no fault is taken under gtp_lock
 * @bounce: bytes to copy to the reader's memory, so that no fault is taken under @out's spinlock
 * @due: bytes at the end of a packet whose other bytes have been read; under @read_lock
 * @answered: where in @out the answer to the last packet ends; under gtp_lock
 */
struct session {
	struct gtp_stub stub;
	struct gtp_outq out;
	struct mutex write_lock; /* guards @in */
	struct mutex read_lock;	 /* guards @bounce, @due */
	u8 in[CHUNK];
	u8 bounce[CHUNK];
	u32 due;
	u64 answered;
};

static struct proc_dir_entry *entry;

static void send_bytes(void *ctx, const void *bytes, u32 len)
{
	struct session *s = ctx;

	gtp_outq_put(&s->out, bytes, len);
}

static bool has_room(struct gtp_stub *stub)
{
	return gtp_outq_used(&container_of(stub, struct session, stub)->out) < GTP_OUTQ_TEXT_MAX;
}

static int may_open(const struct file *file)
{
	int err = gtp_proc_allowed();

	if (err)
		return err;
	/* cat /proc/gtp would take the connection from GDB and wait forever. */
	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) != (FMODE_READ | FMODE_WRITE))
		return -EINVAL;
	return 0;
}

static struct session *session_create(void)
{
	struct session *s = gtp_mem_alloc(sizeof(*s));

	if (!s)
		return NULL;
	mutex_init(&s->write_lock);
	mutex_init(&s->read_lock);
	if (gtp_outq_init(&s->out))
		goto err_session;
	if (gtp_stub_init(&s->stub, &gtp_host.trace, &gtp_kernel_target, send_bytes, s))
		goto err_outq;
	return s;

err_outq:
	gtp_outq_exit(&s->out);
err_session:
	gtp_mem_free(s);
	return NULL;
}

/* connect - make this open file the connection; under gtp_lock */
static int connect(struct file *file)
{
	struct session *s;

	if (gtp_host.stub)
		return -EBUSY;
	s = session_create();
	if (!s)
		return -ENOMEM;
	file->private_data = s;
	gtp_host.stub = &s->stub;
	gtp_host.has_room = has_room;
	gtp_self_set(GTP_SELF_GDB, task_tgid(current));
	return 0;
}

/*
 * Open the file. The reference to the module makes rmmod say "in use" while a GDB is connected,
 * instead of removing the file while GDB has it open.
 */
static int gtp_open(struct inode *inode, struct file *file)
{
	int err = may_open(file);

	if (err)
		return err;
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	err = mutex_lock_interruptible(&gtp_lock);
	if (!err) {
		err = connect(file);
		mutex_unlock(&gtp_lock);
	}
	if (err) {
		module_put(THIS_MODULE);
		return err;
	}
	/*
	 * A stream has no position, so reads and writes share no lock on it: a read that waits must
	 * not block a write.
	 */
	return stream_open(inode, file);
}

/*
 * Close the connection: the last descriptor is closed, and GDB may have died at any point. No other
 * call on this file is in progress.
 *
 * After module_put() the module may begin to unload while this function still has to return. The
 * module's exit first removes the /proc entry, and that waits until this release has returned.
 */
static int gtp_release(struct inode *inode, struct file *file)
{
	struct session *s = file->private_data;

	mutex_lock(&gtp_lock);
	gtp_host.stub = NULL;
	gtp_self_set(GTP_SELF_GDB, NULL);
	gtp_stub_exit(&s->stub);
	gtp_lines_forget(&gtp_host.trace);
	gtp_host_forget_files();
	mutex_unlock(&gtp_lock);
	gtp_outq_exit(&s->out);
	gtp_mem_free(s);
	module_put(THIS_MODULE);
	return 0;
}

/*
 * Wait until the client reads. A client that sends and never reads waits here, so that its replies
 * cannot fill the memory. GDB never waits here: it reads the answer to each packet before it sends
 * the next one.
 */
static int wait_for_room(struct session *s, bool nonblock)
{
	if (gtp_outq_broken(&s->out))
		return -EIO;
	if (!gtp_outq_full(&s->out))
		return 0;
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(s->out.wait, !gtp_outq_full(&s->out));
}

/*
 * feed - pass bytes to the stub until all are taken or the reader has enough to read; return the
 * number of bytes taken
 */
static int feed(struct session *s, const u8 *bytes, u32 len)
{
	u32 n = 0;

	if (mutex_lock_interruptible(&gtp_lock))
		return -ERESTARTSYS;
	/*
	 * Feed one byte at a time, because each byte may complete a packet, which the stub answers
	 * at once. Stop before the next packet if the queue of replies is full or the client was
	 * killed.
	 */
	do {
		gtp_stub_feed(&s->stub, bytes + n, 1);
	} while (++n < len && !gtp_outq_full(&s->out) && !fatal_signal_pending(current));
	s->answered = s->out.head;
	mutex_unlock(&gtp_lock);
	return n;
}

/*
 * Handle a piece of a write. A client that acknowledges each packet writes '+' while most of an
 * answer's packets still wait to be read, so a '+' must not wait for room. A '+' never starts an
 * answer.
 */
static int write_chunk(struct session *s, u32 len, bool nonblock, u32 *taken)
{
	int n;

	for (*taken = 0; *taken < len; *taken += n) {
		n = s->in[*taken] == '+' ? 0 : wait_for_room(s, nonblock);
		if (!n)
			n = feed(s, s->in + *taken, len - *taken);
		if (n < 0)
			return n;
	}
	return 0;
}

/*
 * True for a ^C alone. GDB waits for a reply before it sends the next packet, but a ^C may come
 * meanwhile. While the packet is still being handled, that ^C must take effect at once.
 */
static bool is_interrupt(const char __user *buf, size_t len)
{
	char c;

	return len == 1 && !get_user(c, buf) && c == '\x03';
}

/*
 * Take @read_lock and gtp_lock, so that no reader is in the middle of replies that will be dropped,
 * and no packet is half queued. The holder of gtp_lock may work for a long time, and a reader must
 * get its progress reports meanwhile.
 */
static int lock_out(struct session *s)
{
	for (;;) {
		if (mutex_lock_interruptible(&s->read_lock))
			return -ERESTARTSYS;
		if (mutex_trylock(&gtp_lock))
			return 0;
		mutex_unlock(&s->read_lock);
		if (mutex_lock_interruptible(&gtp_lock))
			return -ERESTARTSYS;
		mutex_unlock(&gtp_lock);
	}
}

/*
 * Drop an unread answer. GDB reads the answer to a packet before it sends the next one. If it did
 * not, its user has pressed ^C: GDB says Quit, and would mistake the unread answer for the answer
 * to its next packet, and so on. A packet always starts at the beginning of a write.
 */
static int forget_answer(struct session *s)
{
	if (s->in[0] != '$' || !gtp_outq_used(&s->out))
		return 0;
	if (lock_out(s))
		return -ERESTARTSYS;
	/* If the answer has been read, all that may be left is a report of progress. */
	if (s->out.tail < s->answered)
		gtp_stub_unread(&s->stub);
	gtp_outq_take(&s->out, gtp_outq_used(&s->out));
	s->due = 0;
	mutex_unlock(&gtp_lock);
	mutex_unlock(&s->read_lock);
	return 0;
}

/*
 * Handle a write. The stream may be split anywhere. Bytes taken before a signal are reported as a
 * short write, never as 0.
 */
static ssize_t gtp_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct session *s = file->private_data;
	bool nonblock = file->f_flags & O_NONBLOCK;
	size_t done = 0;
	int err = 0;

	if (!mutex_trylock(&s->write_lock)) {
		if (is_interrupt(buf, len)) {
			gtp_interrupt();
			return len;
		}
		if (mutex_lock_interruptible(&s->write_lock))
			return -ERESTARTSYS;
	}
	gtp_interrupt_forget();
	while (done < len && !err) {
		u32 part = min_t(size_t, len - done, CHUNK), taken;

		if (copy_from_user(s->in, buf + done, part)) {
			err = -EFAULT;
			break;
		}
		if (!done)
			err = forget_answer(s);
		if (err)
			break;
		err = write_chunk(s, part, nonblock, &taken);
		done += taken;
		if (!err && signal_pending(current))
			break;
		cond_resched();
	}
	mutex_unlock(&s->write_lock);
	return done ? (ssize_t)done : err;
}

static bool readable(const struct session *s)
{
	return gtp_outq_used(&s->out) || gtp_outq_broken(&s->out);
}

/*
 * packet_end - return the end of a packet in @bounce; 0 if there is none. The packet's checksum may
 * be beyond @n
 */
static u32 packet_end(const struct session *s, u32 n)
{
	const u8 *hash = s->due ? NULL : memchr(s->bounce, '#', n);

	return hash ? (u32)(hash - s->bounce) + 3 : s->due;
}

/*
 * read_some - read queued bytes; return 0 if there are none. Bytes that could not be copied stay
 * queued
 *
 * Read at most one packet, because GDB keeps any bytes that it reads beyond one. After a ^C, GDB
 * would mistake such bytes for the answer to its next packet, or GDB would be left with half of an
 * answer whose end forget_answer() drops.
 */
static ssize_t read_some(struct session *s, char __user *buf, size_t len)
{
	u32 n, end;

	if (mutex_lock_interruptible(&s->read_lock))
		return -ERESTARTSYS;
	n = gtp_outq_peek(&s->out, s->bounce, min_t(size_t, len, CHUNK));
	end = packet_end(s, n);
	if (end && end < n)
		n = end;
	if (n && copy_to_user(buf, s->bounce, n)) {
		mutex_unlock(&s->read_lock);
		return -EFAULT;
	}
	gtp_outq_take(&s->out, n);
	s->due = end ? end - n : 0;
	mutex_unlock(&s->read_lock);
	return n;
}

/*
 * Handle a read. Never return 0, which would tell GDB that the line is closed. After poll() has
 * reported data, a read finds data.
 */
static ssize_t gtp_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct session *s = file->private_data;
	ssize_t n;

	while (len) {
		n = read_some(s, buf, len);
		if (n)
			return n;
		if (gtp_outq_broken(&s->out))
			return -EIO;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(s->out.wait, readable(s)))
			return -ERESTARTSYS;
	}
	return 0;
}

/*
 * Report what is ready, never EPOLLPRI or EPOLLERR: GDB also polls for exceptions and would take
 * them for input.
 */
static __poll_t gtp_poll(struct file *file, poll_table *wait)
{
	struct session *s = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &s->out.wait, wait);
	if (readable(s))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!gtp_outq_full(&s->out))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

/* The settings of a raw line at some speed, for programs that read back what they have set. */
static const struct termios2 line_settings = {
	.c_cflag = B9600 | CS8 | CREAD | CLOCAL,
	.c_ispeed = 9600,
	.c_ospeed = 9600,
};

/*
 * Accept the settings of a serial line: if a file is neither a pipe nor a socket, GDB treats it as
 * a serial line and sets its speed. There is nothing to set, but an error would make GDB warn. On
 * every x86 ABI struct termios is the first part of struct termios2.
 */
static long gtp_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *to = (void __user *)arg;

	switch (cmd) {
	case TCGETS:
		return copy_to_user(to, &line_settings, sizeof(struct termios)) ? -EFAULT : 0;
	case TCGETS2:
		return copy_to_user(to, &line_settings, sizeof(line_settings)) ? -EFAULT : 0;
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
	case TCSETS2:
	case TCSETSW2:
	case TCSETSF2:
	case TCFLSH:
	case TCSBRK:
		return 0;
	default:
		return -ENOTTY;
	}
}

static long __maybe_unused gtp_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return gtp_ioctl(file, cmd, (unsigned long)compat_ptr(arg));
}

static const struct proc_ops gtp_proc_ops = {
	.proc_open = gtp_open,
	.proc_release = gtp_release,
	.proc_read = gtp_read,
	.proc_write = gtp_write,
	.proc_poll = gtp_poll,
	.proc_ioctl = gtp_ioctl,
#ifdef CONFIG_COMPAT
	.proc_compat_ioctl = gtp_compat_ioctl,
#endif
};

/* Create the file in /proc. From then on users can connect. */
int gtp_proc_gtp_init(void)
{
	BUILD_BUG_ON(offsetof(struct termios2, c_ispeed) != sizeof(struct termios));
	entry = proc_create("gtp", 0600, NULL, &gtp_proc_ops);
	return entry ? 0 : -ENOMEM;
}

void gtp_proc_gtp_exit(void)
{
	proc_remove(entry);
}
