/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For a hit in a program, translates addresses of file spaces (base/space.h) to addresses of the
 * task that was hit.
 */
#ifndef _GTP_USER_KERNEL_H
#define _GTP_USER_KERNEL_H

#include <linux/percpu.h>

#include "base/regs.h"
#include "base/space.h"
#include "hit/ustack.h"

/**
 * struct gtp_user_place - a place in a file, the same for all tasks
 * @here: the address of the place in the file's space
 * @from_code: the distance of the place from the beginning of the file's code
 * @code_bytes: the size of the file's code
 * @says: where the return address is at the place, as gtp_ustack_judge() says; for $ustack
 */
struct gtp_user_place {
	u64 here;
	u64 from_code, code_bytes;
	enum gtp_ustack_at says;
};

/**
 * struct gtp_user_hit - a hit of a task at a place
 * @place: the place
 * @at: the address of the place in the task
 * @regs: the task's registers there
 */
struct gtp_user_hit {
	const struct gtp_user_place *place;
	u64 at;
	const struct gtp_regs *regs;
};

/* The hit in a program that this CPU handles; the task does not leave the CPU during the hit. */
DECLARE_PER_CPU(struct gtp_user_hit *, gtp_user_now);

/**
 * gtp_user_address() - translate an address of a file space for the task that was hit
 * @user: the hit; NULL if it is not in a program
 * @addr: the address
 * @task: receives the address in the task
 *
 * A file's segments keep their distances wherever the file is loaded.
 * Return: false if it is not known where the task has that part of the file.
 */
static inline bool gtp_user_address(const struct gtp_user_hit *user, u64 addr, u64 *task)
{
	if (!user || !gtp_space_is_same(addr, user->place->here))
		return false;
	*task = addr - user->place->here + user->at;
	return true;
}

#endif /* _GTP_USER_KERNEL_H */
