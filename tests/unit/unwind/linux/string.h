/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_unwind.c: the C library's header. */
#include <string.h>
