/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The image: the agent's code as one piece that can lie at any address.
 *
 * The image begins with a struct gtp_agent_head. Its code is position-independent. Its constant
 * tables of functions contain addresses: at each of these words the host adds the image's address.
 * Nothing else in it is ever written: there is no data, and the process maps it without write
 * permission.
 */
#ifndef _GTP_AGENT_IMAGE_H
#define _GTP_AGENT_IMAGE_H

#include "base/base.h"

#define GTP_AGENT_MAGIC 0x31746e6567617467ULL /* "gtagent1" */

/**
 * struct gtp_agent_head - the beginning of the image
 * @magic: GTP_AGENT_MAGIC
 * @where: receives the address of the process's struct gtp_agent
 * @data: receives the address of the struct gtp_agent_shared
 * @rela, @rela_end: the table of words that contain addresses, an array of Elf64_Rela
 * @end: the end of the image
 * @pad_hit: the function that pads call
 * @hit_ops: the struct gtp_hit_ops for the run
 * @calls: the functions that the common stubs call, see ax_jit_stubs_for()
 * @no_actions: the member of struct gtp_run
 *
 * All members from @rela on are offsets from the member itself.
 */
struct gtp_agent_head {
	u64 magic;
	u64 where;
	u64 data;
	s32 rela;
	s32 rela_end;
	s32 end;
	s32 pad_hit;
	s32 hit_ops;
	s32 calls;
	s32 no_actions;
};

#endif /* _GTP_AGENT_IMAGE_H */
