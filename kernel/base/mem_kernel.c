// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation of the module goes through this file, so that a test can make any one of them
 * fail.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "kernel/base/mem_kernel.h"

/*
 * Each allocation decrements this, and the one that reaches 0 fails. Atomic, because calls on two
 * of our /proc files may allocate at the same time.
 */
static atomic_t fail_countdown = ATOMIC_INIT(0);

static int fail_alloc_set(const char *val, const struct kernel_param *kp)
{
	unsigned int n;
	int err = kstrtouint(val, 0, &n);

	if (!err)
		atomic_set(&fail_countdown, n);
	return err;
}

static int fail_alloc_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&fail_countdown));
}

static const struct kernel_param_ops fail_alloc_ops = {
	.set = fail_alloc_set,
	.get = fail_alloc_get,
};

module_param_cb(fail_alloc, &fail_alloc_ops, NULL, 0600);
MODULE_PARM_DESC(fail_alloc, "for tests: this many allocations from now, one fails (0: none)");

static bool must_fail(void)
{
	return atomic_read(&fail_countdown) && atomic_dec_if_positive(&fail_countdown) == 0;
}

/**
 * gtp_mem_alloc_node() - allocate zeroed memory near a node's CPUs
 * @bytes: the size
 * @node: the node, or NUMA_NO_NODE
 *
 * Context: may sleep. Return: memory for gtp_mem_free(), or NULL; a failure is not logged.
 */
void *gtp_mem_alloc_node(size_t bytes, int node)
{
	if (must_fail())
		return NULL;
	return kvzalloc_node(bytes, GFP_KERNEL | __GFP_NOWARN, node);
}

void *gtp_mem_alloc(size_t bytes)
{
	return gtp_mem_alloc_node(bytes, NUMA_NO_NODE);
}

void gtp_mem_free(const void *p)
{
	kvfree(p);
}

static void *mem_alloc(void *ctx, size_t bytes)
{
	return gtp_mem_alloc(bytes);
}

static void mem_free(void *ctx, void *p)
{
	gtp_mem_free(p);
}

const struct gtp_mem gtp_mem = {
	.alloc = mem_alloc,
	.free = mem_free,
};
