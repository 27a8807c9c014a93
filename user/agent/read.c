// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads memory of the process that may not be mapped. A fault would be a SIGSEGV of the process, so
 * nothing is read that may fault.
 *
 * The ranges that stay mapped as long as the program runs are read at once: the program's own
 * mappings and the first thread's stack. Everything else is read by the kernel, with
 * process_vm_readv() of the process itself, which reports a bad address as -EFAULT. Another thread
 * may unmap the memory at any moment, also between a test and a read, so no test would help.
 *
 * A seccomp filter might end the process for that system call. The host refuses a process that has
 * one, and allows no more calls when it sees a new one. When the host has ended, nobody would see
 * it, so then there are no more calls either.
 */
#include <asm/unistd.h>

#include "user/agent/inside.h"

/* Programs have the addresses below; one page below the end of the lower half is never mapped. */
static const u64 user_end = 0x7ffffffff000;

static bool is_known(const struct gtp_agent_shared *shared, u64 start, u64 end)
{
	u32 low = 0, high = shared->nmaps;

	while (low < high) {
		u32 mid = (low + high) / 2;
		const struct gtp_agent_map *map = &shared->map[mid];

		if (start < map->start)
			high = mid;
		else if (start >= map->end)
			low = mid + 1;
		else
			return end <= map->end;
	}
	return false;
}

/* struct span - the kernel's struct iovec */
struct span {
	u64 addr, len;
};

/* Let the kernel copy memory of this process. Return the number of bytes, or -errno. */
static s64 readv(u32 pid, const struct span *to, const struct span *from)
{
	register u64 r10 __asm__("r10") = (u64)(unsigned long)from;
	register u64 r8 __asm__("r8") = 1;
	register u64 r9 __asm__("r9") = 0;
	s64 n;

	__asm__ volatile("syscall"
			 : "=a"(n)
			 : "a"(__NR_process_vm_readv), "D"(pid), "S"(to), "d"(1), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return n;
}

static noinline int read_by_kernel(const struct gtp_agent_shared *shared, void *dst, u64 addr,
				   u32 len)
{
	const struct span to = { (u64)(unsigned long)dst, len }, from = { addr, len };

	if (!gtp_agent_may_call(shared))
		return -EFAULT;
	return readv(shared->pid, &to, &from) == len ? 0 : -EFAULT;
}

/* Copy in pieces that are as large as possible. */
static __always_inline void copy(void *dst, u64 addr, u32 len)
{
	const char *src = (const char *)(unsigned long)addr;

	if (likely(len == 4))
		memcpy(dst, src, 4);
	else if (likely(len == 8))
		memcpy(dst, src, 8);
	else
		memcpy(dst, src, len);
}

int gtp_agent_read(void *ctx, void *dst, u64 addr, u32 len)
{
	const struct gtp_agent_shared *shared = gtp_agent_data;
	u64 end = addr + len;

	if (unlikely(addr >= user_end || end > user_end))
		return -EFAULT;
	if (!is_known(shared, addr, end))
		return read_by_kernel(shared, dst, addr, len);
	copy(dst, addr, len);
	return 0;
}
