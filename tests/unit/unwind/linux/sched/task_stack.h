/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_unwind.c: the address and the size of the task's stack. */
#ifndef _TEST_LINUX_SCHED_TASK_STACK_H
#define _TEST_LINUX_SCHED_TASK_STACK_H

#define THREAD_SIZE 0x4000UL
#define PAGE_ALIGN(addr) (((addr) + 0xfff) & ~0xfffUL)
#define task_stack_page(task) ((void *)0x10000)

#endif /* _TEST_LINUX_SCHED_TASK_STACK_H */
