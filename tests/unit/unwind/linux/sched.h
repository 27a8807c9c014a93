/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_unwind.c: the task whose stack is unwound. */
#ifndef _TEST_LINUX_SCHED_H
#define _TEST_LINUX_SCHED_H

#define current ((void *)1)

#endif /* _TEST_LINUX_SCHED_H */
