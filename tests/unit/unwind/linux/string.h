/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_unwind.c: includes the C library's <string.h>. */
#include <string.h>
