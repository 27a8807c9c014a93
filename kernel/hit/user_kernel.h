/* SPDX-License-Identifier: GPL-2.0-only */
/* A hit in a program: what addresses of file spaces mean in the task that was hit. */
#ifndef _GTP_USER_KERNEL_H
#define _GTP_USER_KERNEL_H

#include <linux/percpu.h>

#include "base/space.h"
#include "hit/ustack.h"

/**
 * struct gtp_user_hit - where the task has the file that was hit
 * @here: the place of the hit, an address of a file space
 * @at: where the task has it
 * @file: where the task has the file's code
 * @file_bytes: its bytes
 * @says: of the instruction there
 */
struct gtp_user_hit {
	u64 here;
	u64 at;
	u64 file, file_bytes;
	enum gtp_ustack_at says;
};

/* The hit in a program that this CPU handles; the task does not leave the CPU meanwhile. */
DECLARE_PER_CPU(struct gtp_user_hit *, gtp_user_now);

/**
 * gtp_user_address() - translate an address of a file space for the task that was hit
 * @user: the hit; NULL: none in a program
 * @addr: the address
 * @task: receives where the task has it
 *
 * A file's segments keep their distances wherever it is loaded.
 * Return: false if the task's part of that file is not known.
 */
static inline bool gtp_user_address(const struct gtp_user_hit *user, u64 addr, u64 *task)
{
	if (!user || !gtp_space_is_same(addr, user->here))
		return false;
	*task = addr - user->here + user->at;
	return true;
}

#endif /* _GTP_USER_KERNEL_H */
