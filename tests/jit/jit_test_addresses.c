// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests loads of every width from every kind of bad address, in every context in which a hit can
 * happen.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <asm/vsyscall.h>

#include "kernel/base/mem_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/jit/exec_kernel.h"
#include "tests/jit/jit_test_parts.h"

enum { WIDTHS = 4, ROWS = 32 };

/*
 * struct row - an address; @readable: 8 bytes at the address can be read, and a load must return
 * @value, or its low bytes
 */
static struct row {
	u64 addr;
	bool readable;
	u64 value;
} row[ROWS];
static u32 rows;

static struct ax_ops ops;
static ax_jit_fn snippet[WIDTHS];
static u32 failed;
static const char *context;

static void add(u64 addr, bool readable, u64 value)
{
	row[rows++] = (struct row){ addr, readable, value };
}

/* List the addresses to test. The vmalloc area @area ends with a page that is not mapped. */
static void list_addresses(u8 *area)
{
	u64 end = (u64)area + PAGE_SIZE;

	memset(area, 0x5a, PAGE_SIZE);
	add((u64)area, true, 0x5a5a5a5a5a5a5a5a);
	add((u64)area + 1, true, 0x5a5a5a5a5a5a5a5a);
	add(end - 8, true, 0x5a5a5a5a5a5a5a5a);
	add(end, false, 0);
	add(end + 1, false, 0);
	add(0, false, 0);
	add(8, false, 0);
	add(0x1000, false, 0); /* an address below all mappings */
	add(0x7ffffffff000, false, 0);
	add(0x800000000000, false, 0); /* the next four are not canonical */
	add(0x7fffffffffffffff, false, 0);
	add(0x8000000000000000, false, 0);
	add(0xff00000000000000, false, 0);
	add(VSYSCALL_ADDR, false, 0);
	add(VSYSCALL_ADDR + 4, false, 0);
	add(VSYSCALL_ADDR + PAGE_SIZE, false, 0);
	add(0xfffffffffffff000, false, 0); /* error pointers, as of ERR_PTR() */
	add(0xffffffffffffffff, false, 0);
	add(0xffffffffffffff80, false, 0);
}

static void complain(const struct row *r, u32 width, int ret, u64 value)
{
	failed++;
	pr_err("%s: %u bytes at 0x%llx: %d, 0x%llx\n", context, 1 << width, r->addr, ret, value);
}

static u64 low(u64 value, u32 width)
{
	return width == 3 ? value : value & (BIT_ULL(8 << width) - 1);
}

static void load_one(const struct row *r, u32 width)
{
	struct gtp_regs regs = { .rdi = r->addr };
	struct ax_env env = { .ops = &ops, .regs = &regs };
	u64 value = 99;
	int ret = ax_jit_run(snippet[width], &env, &value);

	if (r->readable ? ret || value != low(r->value, width) :
			  ret != -EINVAL || value || env.err.code != AX_E_BAD_ADDRESS ||
				  env.err.arg != r->addr || env.err.arg2 != 1U << width)
		complain(r, width, ret, value);
}

static void load_all(void *unused)
{
	u32 i, width;

	for (i = 0; i < rows; i++)
		for (width = 0; width < WIDTHS; width++)
			load_one(&row[i], width);
}

static void from_softirq(struct tasklet_struct *t)
{
	load_all(NULL);
}

static void from_irq_work(struct irq_work *w)
{
	load_all(NULL);
}

static DECLARE_TASKLET(softirq, from_softirq);
static DEFINE_IRQ_WORK(irq_work, from_irq_work);

static void in_every_context(void)
{
	unsigned long flags;

	context = "task";
	load_all(NULL);
	context = "preemption off";
	preempt_disable();
	load_all(NULL);
	preempt_enable();
	context = "interrupts off";
	local_irq_save(flags);
	load_all(NULL);
	local_irq_restore(flags);
	context = "every CPU's interrupt";
	on_each_cpu(load_all, NULL, 1);
	context = "softirq";
	tasklet_schedule(&softirq);
	tasklet_kill(&softirq);
	context = "irq_work";
	irq_work_queue(&irq_work);
	irq_work_sync(&irq_work);
}

static int compile_loads(void)
{
	/* reg 5; ref8, ref16, ref32 or ref64, whose opcodes are consecutive; end */
	static u8 code[WIDTHS][5];
	struct ax_point points[5];
	struct ax_verified v;
	struct ax_jit_request req = { .v = &v };
	struct gtp_jit_code snip;
	struct ax_error err;
	u32 width;
	int ret;

	gtp_jit_reset();
	ret = gtp_jit_open();
	if (ret)
		return ret;
	for (width = 0; width < WIDTHS && !ret; width++) {
		u8 *c = code[width];

		c[0] = AX_OP_reg;
		c[2] = 5;
		c[3] = (u8)(AX_OP_ref8 + width);
		c[4] = AX_OP_end;
		ax_verify(c, sizeof(code[0]), AX_CONDITION, points, &v, &err);
		ret = gtp_jit_compile(&req, &snip);
		snippet[width] = snip.fn;
	}
	gtp_jit_close();
	return ret;
}

int jit_test_addresses(void)
{
	u8 *area = vmalloc(PAGE_SIZE);
	int err = area ? compile_loads() : -ENOMEM;

	ops.read = gtp_access_read;
	if (!err) {
		list_addresses(area);
		in_every_context();
		if (failed)
			err = -EPROTO;
		else
			pr_info("%u addresses, every width, six contexts\n", rows);
	}
	vfree(area);
	return err;
}
