// SPDX-License-Identifier: GPL-2.0-only
/* Finds the build-id of the vDSO, which is in no file. */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "kernel/base/mem_kernel.h"
#include "probe/user/vdso.h"

/* A process that has unmapped its vDSO reads nothing, or bytes in which no build-id is found. */
static int read_at(void *dst, u32 len, u64 offset)
{
	u64 vdso = current->mm ? (__force u64)READ_ONCE(current->mm->context.vdso) : 0;

	if (!vdso || offset > TASK_SIZE_MAX ||
	    copy_from_user(dst, (const void __user *)(vdso + offset), len))
		return -EFAULT;
	return 0;
}

static int read_parts(struct gtp_elf *elf, u8 *buf)
{
	struct gtp_why why;
	int err = read_at(buf, GTP_ELF_HEAD, 0);
	u32 i;

	if (!err)
		err = gtp_elf_head(elf, buf, GTP_ELF_HEAD, &why);
	if (!err)
		err = read_at(buf, elf->entries * GTP_ELF_ENTRY, elf->table);
	if (!err)
		err = gtp_elf_table(elf, buf, &why);
	for (i = 0; !err && i < elf->nnotes; i++) {
		err = read_at(buf, elf->note[i].bytes, elf->note[i].offset);
		if (!err)
			gtp_elf_notes(elf, buf, elf->note[i].bytes);
	}
	return err;
}

int gtp_vdso_read(struct gtp_elf *elf)
{
	u8 *buf = gtp_mem_alloc(GTP_ELF_ENTRIES * GTP_ELF_ENTRY);
	int err;

	BUILD_BUG_ON(GTP_ELF_ENTRIES * GTP_ELF_ENTRY < GTP_ELF_NOTE_BYTES);
	if (!buf)
		return -ENOMEM;
	err = read_parts(elf, buf);
	gtp_mem_free(buf);
	return err;
}
