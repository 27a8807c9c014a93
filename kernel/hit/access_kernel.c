// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes memory that may not be mapped: a fault becomes an error, in any context. */
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/page_types.h>
#include <asm/vsyscall.h>

#include "base/compat.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/hit/user_kernel.h"

DEFINE_PER_CPU(struct gtp_user_hit *, gtp_user_now);

/*
 * True if a page may be read or written; /proc/kcore makes the same checks. Memory that is not RAM
 * has no struct page to check: the caller tries to read it, and a fault is handled.
 */
static bool may_touch(u64 addr)
{
	unsigned long pfn;
	struct page *page;

	if (!virt_addr_valid((void *)addr))
		return true;
	pfn = PHYS_PFN(__pa(addr));
	page = pfn_to_online_page(pfn);
	return page && !PageOffline(page) && !is_page_hwpoison(page) && !gtp_page_unaccepted(pfn);
}

bool gtp_access_may_touch(u64 addr, u32 len)
{
	u64 last = addr + len - 1, page;

	for (page = addr & PAGE_MASK; page <= last && page >= (addr & PAGE_MASK); page += PAGE_SIZE)
		if (!may_touch(page))
			return false;
	return true;
}

/*
 * True if a load may use the addresses: the exception table entry of the load catches a fault at a
 * canonical kernel address. No other address may reach the load: a non-canonical one raises #GP,
 * and the kernel's handler of exception table entries then warns. Canonical form depends on the
 * page tables in use, not on what the processor supports: boot_cpu_data.x86_virt_bits says 57 even
 * where the kernel has four levels.
 */
static bool kernel_range(u64 addr, u64 len)
{
	u64 lowest = ~0ULL << __VIRTUAL_MASK_SHIFT;

	return addr >= lowest && len <= -addr - 1 &&
	       (addr > VSYSCALL_ADDR + PAGE_SIZE - 1 || addr + len <= VSYSCALL_ADDR);
}

/*
 * Copy in pieces that are as large as possible: x86 loads at any alignment, and if one byte faults,
 * the whole copy fails anyway.
 */
int gtp_access_read_kernel(void *dst, u64 addr, u32 len)
{
	const char *src = (const char *)addr;
	char *to = dst;

	if (!kernel_range(addr, len))
		return -EFAULT;
	for (; len >= 8; len -= 8, src += 8, to += 8)
		__get_kernel_nofault(to, src, u64, fault);
	if (len & 4) {
		__get_kernel_nofault(to, src, u32, fault);
		src += 4;
		to += 4;
	}
	if (len & 2) {
		__get_kernel_nofault(to, src, u16, fault);
		src += 2;
		to += 2;
	}
	if (len & 1)
		__get_kernel_nofault(to, src, u8, fault);
	return 0;
fault:
	return -EFAULT;
}

/*
 * Do not wait for a page: the fault handler sees that page faults are disabled, and the load fails.
 * copy_from_user_nofault() does the same with five times as many instructions. It also checks
 * nmi_uaccess_okay(), which must be true here: see access_kernel.h.
 */
bool gtp_access_read_small(void *dst, u64 addr, u32 len)
{
	const u64 __user *from = (const u64 __user *)addr;
	u64 *to = dst;
	bool read = false;

	pagefault_disable();
	if (!user_access_begin(from, len))
		goto out;
	switch (len) {
	case 1:
		unsafe_get_user(*(u8 *)dst, (const u8 __user *)from, fault);
		break;
	case 2:
		unsafe_get_user(*(u16 *)dst, (const u16 __user *)from, fault);
		break;
	case 4:
		unsafe_get_user(*(u32 *)dst, (const u32 __user *)from, fault);
		break;
	case 16:
		unsafe_get_user(to[1], from + 1, fault);
		fallthrough;
	case 8:
		unsafe_get_user(to[0], from, fault);
		break;
	default:
		goto fault;
	}
	read = true;
fault:
	user_access_end();
out:
	pagefault_enable();
	return read;
}

static bool is_small(u32 len)
{
	return len == 8 || len == 4 || len == 16 || len == 1 || len == 2;
}

/*
 * Read user memory, but not in a kernel thread: it borrows the address space of the task that ran
 * before it, so a user address would be one of an unrelated process. Return 0 or -EFAULT.
 */
static int read_user(void *dst, u64 addr, u32 len)
{
	const struct gtp_user_hit *user = this_cpu_read(gtp_user_now);

	if (!current->mm)
		return -EFAULT;
	if (gtp_space_is(addr) && !gtp_user_address(user, addr, &addr))
		return -EFAULT;
	if (user && is_small(len))
		return gtp_access_read_small(dst, addr, len) ? 0 : -EFAULT;
	return copy_from_user_nofault(dst, (const void __user *)addr, len) ? -EFAULT : 0;
}

int gtp_access_read(void *ctx, void *dst, u64 addr, u32 len)
{
	if ((s64)addr >= 0)
		return read_user(dst, addr, len);
	return gtp_access_read_kernel(dst, addr, len);
}

/*
 * Use a single store for each size of C's integer types, so that no CPU sees half a value. Text and
 * rodata are mapped read-only, which the processor respects in the kernel too (CR0.WP): the store
 * faults, and nothing is changed.
 */
int gtp_access_write(u64 addr, const void *src, u32 len)
{
	const char *from = src;
	char *dst = (char *)addr;

	if (!kernel_range(addr, len))
		return -EFAULT;
	for (; len >= 8; len -= 8, from += 8, dst += 8)
		__put_kernel_nofault(dst, from, u64, fault);
	for (; len >= 4; len -= 4, from += 4, dst += 4)
		__put_kernel_nofault(dst, from, u32, fault);
	for (; len >= 2; len -= 2, from += 2, dst += 2)
		__put_kernel_nofault(dst, from, u16, fault);
	for (; len; len--, from++, dst++)
		__put_kernel_nofault(dst, from, u8, fault);
	return 0;
fault:
	return -EFAULT;
}
