/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_unwind.c: declares struct module. */
#ifndef _TEST_LINUX_MODULE_H
#define _TEST_LINUX_MODULE_H

struct module;

#endif /* _TEST_LINUX_MODULE_H */
