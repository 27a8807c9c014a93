// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/gtp_target: a line written to it makes calls; reading shows the number of calls so far and
 * addresses of functions and data. Lines:
 *
 *	call add A B | call obj N [COUNT] | call str TEXT | call leaf N | call irq N | call locals N
 *	call nap MILLISECONDS | call chain N | call ptr HEX | call user TEXT | call noprobe N
 *	call expr N				gtp_target_expr, with values made of N
 *	call out N | call recurse DEPTH | call tail N | call eight N | call triple N
 *	call stack N | call irqstack N		irqstack: from an interrupt
 *	call regs SEED entry|deep|body|event	gtp_target_regs_call(), with values of SEED in all
 *					registers
 *	call exit N				a task calls gtp_target_exit() and ends there
 *	crowd COUNT [DEPTH]			COUNT tasks call gtp_target_wait() and stay there,
 *					each in DEPTH nested calls of gtp_target_sink()
 *	release				all of these tasks return
 *	call event N				hit tracepoints gtp_target_many and gtp_target_bare
 *	call context task|bh|soft|hard|kthread	gtp_target_context() there; NMIs call it, too
 *	call watch N VALUE | call unwatch N	gtp_target_write(), gtp_target_read()
 *	call watchint VALUE | call watchu8 VALUE
 *	call begin N | call finish N | call guarded MILLISECONDS | call leak N | call unleak N
 *					see gtp_target_pair.c
 *	loop leaf|add|obj|event|watch|pair|mix|busy COUNT	COUNT times on every CPU at once;
 *					mix adds calls from timer interrupts, and goes on
 *					until some have come on each CPU; busy calls
 *					gtp_target_leaf(), and delays RCU tasks meanwhile
 *	end *				end the loop that is running
 *	nmi COUNT *				NMIs on all other CPUs, each hits gtp_target_count
 *	at HEX *				call this address, at or inside gtp_target_obj()
 *	hold START END SITE *		preempt a task in that code until the jump at SITE is
 *					removed: see gtp_target_hold()
 *	poke HEX BYTE *			write a byte of this module's text,
 *					as code that patches text does
 *
 * A write returns when the calls have been made. Lines with * work while another line is running;
 * all others wait for it. For a line that is not understood the error is EINVAL.
 */
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "gtp_target.h"
#include "gtp_target_expr.h"

enum {
	LINE_MAX_LEN = 512,
	COUNT_LIMIT = 2 * 1000 * 1000 * 1000,
	NMI_LIMIT = 100000,
};

static DEFINE_MUTEX(lock);

/*
 * struct order - a line written to the file; @user: the address of the line in the writer's user
 * memory
 */
struct order {
	char line[LINE_MAX_LEN];
	const char __user *user;
};

#define COUNT(name) gtp_target_count(GTP_TARGET_COUNT_##name)

static int call_add(struct order *o, const char *args)
{
	long a, b;

	if (sscanf(args, "%ld %ld", &a, &b) != 2)
		return -EINVAL;
	COUNT(add);
	gtp_target_add(a, b);
	return 0;
}

static int call_obj(struct order *o, const char *args)
{
	unsigned int n, count = 1, i;

	if (sscanf(args, "%u %u", &n, &count) < 1 || n >= GTP_TARGET_OBJS || count > COUNT_LIMIT)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		COUNT(obj);
		gtp_target_obj(&gtp_target_objs[n], n);
	}
	return 0;
}

static int call_str(struct order *o, const char *args)
{
	COUNT(str);
	gtp_target_str(args);
	return 0;
}

static int call_user(struct order *o, const char *args)
{
	COUNT(user);
	gtp_target_user((const char __force *)o->user + (args - o->line));
	return 0;
}

static int call_leaf(struct order *o, const char *args)
{
	long n;

	if (kstrtol(args, 0, &n))
		return -EINVAL;
	COUNT(leaf);
	gtp_target_leaf(n);
	return 0;
}

static int call_nap(struct order *o, const char *args)
{
	unsigned int ms;

	if (kstrtouint(args, 0, &ms) || ms > 60 * 1000)
		return -EINVAL;
	COUNT(nap);
	gtp_target_nap(ms);
	return 0;
}

static long irq_number;

static void in_interrupt_now(struct irq_work *work)
{
	COUNT(irq);
	gtp_target_note_stack(GTP_TARGET_STACK_IRQ);
	gtp_target_irq(irq_number);
}

static DEFINE_IRQ_WORK(from_irq, in_interrupt_now);

static int call_irq(struct order *o, const char *args)
{
	if (kstrtol(args, 0, &irq_number))
		return -EINVAL;
	irq_work_queue(&from_irq);
	irq_work_sync(&from_irq);
	return 0;
}

static int call_locals(struct order *o, const char *args)
{
	long n;

	if (kstrtol(args, 0, &n))
		return -EINVAL;
	COUNT(locals);
	gtp_target_locals(n);
	return 0;
}

static int call_chain(struct order *o, const char *args)
{
	long n;

	if (kstrtol(args, 0, &n))
		return -EINVAL;
	COUNT(chain_a);
	gtp_target_chain_a(n);
	return 0;
}

static int call_ptr(struct order *o, const char *args)
{
	unsigned long p;

	if (kstrtoul(args, 16, &p))
		return -EINVAL;
	COUNT(ptr);
	gtp_target_ptr((const void *)p);
	return 0;
}

static int call_watch(struct order *o, const char *args)
{
	unsigned int n;
	long value;

	if (sscanf(args, "%u %ld", &n, &value) != 2 || n >= GTP_TARGET_WATCHED)
		return -EINVAL;
	COUNT(watch);
	gtp_target_write(n, value);
	return 0;
}

static int call_unwatch(struct order *o, const char *args)
{
	unsigned int n;

	if (kstrtouint(args, 0, &n) || n >= GTP_TARGET_WATCHED)
		return -EINVAL;
	gtp_target_read(n);
	return 0;
}

static int call_watchint(struct order *o, const char *args)
{
	int value;

	if (kstrtoint(args, 0, &value))
		return -EINVAL;
	gtp_target_write_int(value);
	return 0;
}

static int call_watchu8(struct order *o, const char *args)
{
	u8 value;

	if (kstrtou8(args, 0, &value))
		return -EINVAL;
	gtp_target_write_u8(value);
	return 0;
}

static int call_noprobe(struct order *o, const char *args)
{
	long n;

	if (kstrtol(args, 0, &n))
		return -EINVAL;
	COUNT(noprobe);
	gtp_target_noprobe(n);
	return 0;
}

static int call_event(struct order *o, const char *args)
{
	int n;

	if (kstrtoint(args, 0, &n))
		return -EINVAL;
	gtp_target_event_many(n);
	return 0;
}

static int call_context(struct order *o, const char *args)
{
	return gtp_target_call_context(args);
}

static int call_expr(struct order *o, const char *args)
{
	unsigned int seed;

	if (kstrtouint(args, 0, &seed))
		return -EINVAL;
	gtp_target_expr_call(seed);
	return 0;
}

static int call_out(struct order *o, const char *args)
{
	long out = 1000;
	int n;

	if (kstrtoint(args, 0, &n))
		return -EINVAL;
	COUNT(out);
	gtp_target_out(n, &out);
	return 0;
}

static int call_recurse(struct order *o, const char *args)
{
	unsigned int depth, i;

	if (kstrtouint(args, 0, &depth) || depth > 600)
		return -EINVAL;
	for (i = 0; i <= depth; i++)
		COUNT(recurse);
	gtp_target_recurse(depth);
	return 0;
}

static int call_tail(struct order *o, const char *args)
{
	long n;

	if (kstrtol(args, 0, &n))
		return -EINVAL;
	COUNT(tail);
	COUNT(add);
	gtp_target_tail(n);
	return 0;
}

static int call_eight(struct order *o, const char *args)
{
	long n;

	if (kstrtol(args, 0, &n))
		return -EINVAL;
	COUNT(eight);
	gtp_target_eight(n, 0, 0, 0, 0, 0, n, n + 1);
	return 0;
}

static int call_triple(struct order *o, const char *args)
{
	struct gtp_target_triple t;
	long n;

	if (kstrtol(args, 0, &n))
		return -EINVAL;
	t = (struct gtp_target_triple){ n, n + 1, n + 2 };
	COUNT(triple);
	gtp_target_triple(t, n);
	return 0;
}

static int call_stack(struct order *o, const char *args)
{
	COUNT(stack);
	gtp_target_stack(1);
	return 0;
}

static void stack_now(struct irq_work *work)
{
	COUNT(stack);
	gtp_target_stack(2);
}

static DEFINE_IRQ_WORK(stack_from_irq, stack_now);

static int call_irqstack(struct order *o, const char *args)
{
	irq_work_queue(&stack_from_irq);
	irq_work_sync(&stack_from_irq);
	return 0;
}

static int call_exit(struct order *o, const char *args)
{
	long n;

	return kstrtol(args, 0, &n) ? -EINVAL : gtp_target_exits(n);
}

static int call_regs(struct order *o, const char *args)
{
	char where[8];
	u32 seed;

	if (sscanf(args, "%u %7s", &seed, where) != 2)
		return -EINVAL;
	return gtp_target_regs_call(seed, where);
}

static const struct {
	const char *name;
	int (*run)(struct order *o, const char *args);
} calls[] = {
	{ "add ", call_add },		{ "obj ", call_obj },
	{ "str ", call_str },		{ "user ", call_user },
	{ "leaf ", call_leaf },		{ "irq ", call_irq },
	{ "locals ", call_locals },	{ "chain ", call_chain },
	{ "ptr ", call_ptr },		{ "noprobe ", call_noprobe },
	{ "nap ", call_nap },		{ "event ", call_event },
	{ "expr ", call_expr },		{ "out ", call_out },
	{ "recurse ", call_recurse },	{ "tail ", call_tail },
	{ "eight ", call_eight },	{ "triple ", call_triple },
	{ "exit ", call_exit },		{ "stack ", call_stack },
	{ "irqstack ", call_irqstack }, { "context ", call_context },
	{ "regs ", call_regs },		{ "watch ", call_watch },
	{ "unwatch ", call_unwatch },	{ "watchint ", call_watchint },
	{ "watchu8 ", call_watchu8 },
};

static int do_call(struct order *o, const char *what)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (strstarts(what, calls[i].name))
			return calls[i].run(o, what + strlen(calls[i].name));
	}
	return gtp_target_pair_call(what);
}

static int do_loop(const char *args)
{
	char what[16];
	u64 count;

	if (sscanf(args, "%15s %llu", what, &count) != 2 || count > COUNT_LIMIT)
		return -EINVAL;
	return gtp_target_loop(what, count);
}

static int call_at(u64 addr)
{
	/* clang-format off */
	long (*fn)(struct gtp_target_obj *obj, long n) = (void *)addr;
	/* clang-format on */

	fn(&gtp_target_objs[3], 3);
	return 0;
}

static int poke(u64 addr, u8 byte)
{
	struct page *page;
	u8 *view;

	if (!within_module(addr, THIS_MODULE))
		return -EINVAL;
	page = vmalloc_to_page((void *)addr);
	view = vmap(&page, 1, VM_MAP, PAGE_KERNEL);
	if (!view)
		return -ENOMEM;
	WRITE_ONCE(view[offset_in_page(addr)], byte);
	vunmap(view);
	return 0;
}

static int obey(struct order *o)
{
	int err = -EINVAL;
	u32 nmis, count, depth = 0;
	u64 addr, end, site;
	u8 byte;

	/* Obey these commands without the mutex, so that they work during "call" and "loop". */
	if (sscanf(o->line, "nmi %u", &nmis) == 1)
		return nmis > NMI_LIMIT ? -EINVAL : gtp_target_nmi(nmis);
	if (sscanf(o->line, "at %llx", &addr) == 1)
		return call_at(addr);
	if (sscanf(o->line, "hold %llx %llx %llx", &addr, &end, &site) == 3)
		return gtp_target_hold(addr, end, site);
	if (!strcmp(o->line, "end")) {
		gtp_target_loop_end();
		return 0;
	}
	if (sscanf(o->line, "poke %llx %hhx", &addr, &byte) == 2)
		return poke(addr, byte);
	if (mutex_lock_interruptible(&lock))
		return -ERESTARTSYS;
	if (!strcmp(o->line, "release")) {
		gtp_target_release();
		err = 0;
	}
	if (strstarts(o->line, "call "))
		err = do_call(o, o->line + 5);
	else if (strstarts(o->line, "loop "))
		err = do_loop(o->line + 5);
	else if (sscanf(o->line, "crowd %u %u", &count, &depth) >= 1)
		err = gtp_target_crowd(count, depth);
	if (!err)
		gtp_target_counter++;
	mutex_unlock(&lock);
	return err;
}

static ssize_t target_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct order *o;
	int err;

	if (!len || len >= LINE_MAX_LEN)
		return -EINVAL;
	o = kzalloc(sizeof(*o), GFP_KERNEL);
	if (!o)
		return -ENOMEM;
	o->user = buf;
	err = copy_from_user(o->line, buf, len) ? -EFAULT : 0;
	strreplace(o->line, '\n', '\0');
	if (!err)
		err = obey(o);
	kfree(o);
	return err ? err : len;
}

static void show_places(struct seq_file *m)
{
#define PLACE(name) seq_printf(m, "addr %s %lx\n", #name, (unsigned long)(name))
	PLACE(gtp_target_add);
	PLACE(gtp_target_obj);
	PLACE(gtp_target_str);
	PLACE(gtp_target_leaf);
	PLACE(gtp_target_nap);
	PLACE(gtp_target_irq);
	PLACE(gtp_target_locals);
	PLACE(gtp_target_chain_a);
	PLACE(gtp_target_chain_b);
	PLACE(gtp_target_chain_c);
	PLACE(gtp_target_ptr);
	PLACE(gtp_target_user);
	PLACE(gtp_target_noprobe);
	PLACE(gtp_target_out);
	PLACE(gtp_target_recurse);
	PLACE(gtp_target_tail);
	PLACE(gtp_target_eight);
	PLACE(gtp_target_triple);
	PLACE(gtp_target_wait);
	PLACE(gtp_target_exit);
	PLACE(gtp_target_stack);
	PLACE(gtp_target_context);
	PLACE(gtp_target_regs);
	PLACE(gtp_target_regs_body);
	PLACE(gtp_target_objs);
	PLACE(gtp_target_array);
	PLACE(gtp_target_banner);
#undef PLACE
	seq_printf(m, "addr gtp_target_marker %lx\n", gtp_target_marker());
	seq_printf(m, "addr gtp_target_list %lx\n", (unsigned long)&gtp_target_list);
	seq_printf(m, "addr gtp_target_counter %lx\n", (unsigned long)&gtp_target_counter);
}

static int target_show(struct seq_file *m, void *unused)
{
	static const char *const names[] = {
#define X(name) #name,
		GTP_TARGET_FUNCTIONS(X)
#undef X
	};
	int i;

	for (i = 0; i < GTP_TARGET_COUNTS; i++)
		seq_printf(m, "count %s %llu\n", names[i], gtp_target_counted(i));
	for (i = 0; gtp_target_stack_nth(i); i++)
		seq_printf(m, "stack %d %ps\n", i, gtp_target_stack_nth(i));
	seq_printf(m, "value gtp_target_counter %ld\n", READ_ONCE(gtp_target_counter));
	seq_printf(m, "value regs_inside %lld\n", gtp_target_regs_wrong_inside());
	seq_printf(m, "value regs_after %lld\n", gtp_target_regs_wrong_after());
	seq_printf(m, "value regs_rsp %lld\n", gtp_target_regs_rsp());
	gtp_target_pair_show(m);
	show_places(m);
	return 0;
}

/*
 * If a string that is too long for this parameter is written, the kernel runs the .cold part of a
 * function.
 */
static char word[8];
module_param_string(word, word, sizeof(word), 0600);
MODULE_PARM_DESC(word, "nothing looks at it");

static int target_open(struct inode *inode, struct file *file)
{
	return single_open(file, target_show, NULL);
}

static const struct proc_ops target_ops = {
	.proc_open = target_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = target_write,
};

static int __init target_init(void)
{
	int err = gtp_target_stack_init();

	if (err)
		return err;
	gtp_target_fill();
	if (proc_create("gtp_target", 0600, NULL, &target_ops))
		return 0;
	gtp_target_stack_exit();
	return -ENOMEM;
}

static void __exit target_exit(void)
{
	remove_proc_entry("gtp_target", NULL);
	gtp_target_release();
	irq_work_sync(&from_irq);
	gtp_target_pair_exit();
	gtp_target_stack_exit();
}

module_init(target_init);
module_exit(target_exit);
MODULE_DESCRIPTION("functions and data that gdbtp's tests know by value");
MODULE_LICENSE("GPL");
