// SPDX-License-Identifier: GPL-2.0-only
/*
 * gtp_jit_test.ko: the compiler and its arena in a module of their own. Expressions, such as the
 * vectors, are tested through /proc/gtp_jit_test. Random programs and bad addresses are tested by
 * the module's init function, so the module does not load if one of these tests fails.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kernel/base/mem_kernel.h"
#include "kernel/jit/exec_kernel.h"
#include "tests/jit/jit_test.h"
#include "tests/jit/jit_test_parts.h"

static unsigned int programs = 2000;
module_param(programs, uint, 0400);
MODULE_PARM_DESC(programs, "random programs to run when loaded (default: 2000)");

static unsigned int first = 1;
module_param(first, uint, 0400);
MODULE_PARM_DESC(first, "number of the first of them (default: 1)");

/* Allocate memory, like kernel/base/mem_kernel.c in gdbtp.ko. */
void *gtp_mem_alloc(size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

void gtp_mem_free(const void *p)
{
	kvfree(p);
}

static DEFINE_MUTEX(lock);
static struct jit_test_request *request;
static struct jit_test_reply *reply;
static u32 reply_size;

ax_jit_fn jit_test_compile(const struct ax_verified *v, const struct ax_jit_target *w, u64 pc,
			   u32 *len)
{
	struct ax_jit_request req = { .v = v, .target = w, .pc = pc };
	struct gtp_jit_code code;
	int err;

	gtp_jit_reset();
	if (gtp_jit_open())
		return NULL;
	err = gtp_jit_compile(&req, &code);
	gtp_jit_close();
	*len = code.len;
	return err ? NULL : code.fn;
}

int jit_test_request(struct ax_jit_request *req, ax_jit_fn *fn, u32 *frame_bytes)
{
	struct gtp_jit_code code;
	int err = gtp_jit_open();

	if (err)
		return err;
	err = gtp_jit_compile(req, &code);
	gtp_jit_close();
	*fn = err ? NULL : code.fn;
	if (frame_bytes)
		*frame_bytes = err ? 0 : code.frame_bytes;
	return err;
}

static int fill_world(struct axenv *e, const struct jit_test_request *r)
{
	const u8 *bytes = r->bytes + r->code_len;
	const u8 *end = (const u8 *)r + r->size;
	u32 i;

	if (r->nmaps > AXENV_MAPS || r->ntsvs > AXENV_TSVS || r->room > AXENV_LOG_MAX)
		return -EINVAL;
	for (i = 0; i < r->nmaps; i++) {
		if (r->maps[i].len > (u64)(end - bytes) ||
		    !axenv_map(e, r->maps[i].addr, bytes, (u32)r->maps[i].len))
			return -EINVAL;
		bytes += r->maps[i].len;
	}
	for (i = 0; i < r->ntsvs; i++)
		axenv_tsv(e, (u16)r->tsvs[i].num, r->tsvs[i].value, false);
	e->regs = r->regs;
	e->room = r->room;
	e->ax.pc = r->pc;
	return 0;
}

static void fill_reply(const struct axenv *e, int ret, u64 value)
{
	u32 i;

	reply->ret = ret;
	reply->value = value;
	reply->err = e->ax.err;
	reply->log_len = e->log_len;
	reply->printed_len = e->printed_len;
	for (i = 0; i < AXENV_TSVS; i++)
		reply->tsvs[i] = e->tsvs[i].value;
	memcpy(reply->bytes, e->log, e->log_len);
	memcpy(reply->bytes + e->log_len, e->printed, e->printed_len);
	reply_size = (u32)sizeof(*reply) + e->log_len + e->printed_len;
}

static int evaluate(const struct jit_test_request *r, struct axenv *e)
{
	struct ax_point *points = kvmalloc_array(r->code_len + 1, sizeof(*points), GFP_KERNEL);
	struct ax_verified v;
	struct ax_error err;
	struct ax_jit_target w = *gtp_jit_target();
	ax_jit_fn fn = NULL;
	u64 value = 0;
	u32 len;
	int ret;

	if (!points)
		return -ENOMEM;
	/*
	 * Load memory only by calls: the memory of a vector is in axenv, not at its address in the
	 * kernel.
	 */
	w.fast = false;
	w.nvars = 0; /* the values of variables are in axenv, too */
	if (ax_verify(r->bytes, r->code_len, r->kind, points, &v, &err) == AX_OK)
		fn = jit_test_compile(&v, &w, r->pc, &len);
	if (fn) {
		axenv_reset(e);
		ret = ax_jit_run(fn, &e->ax, &value);
		fill_reply(e, ret, value);
	}
	kvfree(points);
	return fn ? 0 : -EINVAL;
}

static int handle(const struct jit_test_request *r)
{
	struct axenv *e = axenv_new();
	int err = fill_world(e, r);

	if (!err)
		err = evaluate(r, e);
	axenv_free(e);
	return err;
}

static ssize_t test_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	int err = -EINVAL;

	if (n < sizeof(*request) || n > JIT_TEST_MAX)
		return -EINVAL;
	mutex_lock(&lock);
	reply_size = 0;
	if (copy_from_user(request, from, n))
		err = -EFAULT;
	else if (request->size == n && request->code_len <= n - sizeof(*request))
		err = handle(request);
	mutex_unlock(&lock);
	return err ? err : (ssize_t)n;
}

static ssize_t test_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	ssize_t got;

	mutex_lock(&lock);
	got = simple_read_from_buffer(to, n, pos, reply, reply_size);
	mutex_unlock(&lock);
	return got;
}

static const struct proc_ops ops = {
	.proc_write = test_write,
	.proc_read = test_read,
	.proc_lseek = default_llseek,
};

static int run_own_tests(void)
{
	int err = jit_test_addresses();

	if (!err)
		err = jit_test_random(first, programs);
	return err;
}

static int __init test_init(void)
{
	int err = gtp_jit_init();

	if (err)
		return err;
	request = kvmalloc(JIT_TEST_MAX, GFP_KERNEL);
	reply = kvzalloc(JIT_TEST_MAX, GFP_KERNEL);
	err = request && reply ? run_own_tests() : -ENOMEM;
	if (!err && !proc_create("gtp_jit_test", 0600, NULL, &ops))
		err = -ENOMEM;
	if (err) {
		kvfree(request);
		kvfree(reply);
	}
	return err;
}

static void __exit test_exit(void)
{
	remove_proc_entry("gtp_jit_test", NULL);
	kvfree(request);
	kvfree(reply);
}

module_init(test_init);
module_exit(test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of gdbtp's compiler in the kernel");
