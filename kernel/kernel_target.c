// SPDX-License-Identifier: GPL-2.0-only
/* What GDB asks about the kernel itself: its memory, where it lies, which build it is. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/utsname.h>

#include "kernel/kernel.h"

enum {
	NOTES_MAX = 4096,
	BUILD_ID_MAX = 32,
	NOTE_BUILD_ID = 3, /* NT_GNU_BUILD_ID, which the kernel's own elf.h lacks */
};

static char build_id_hex[2 * BUILD_ID_MAX + 1];
static u64 text_address;

/*
 * User addresses are somebody's, and only a hit knows whose: here they would be GDB's own memory.
 * Lockdown is asked again, since it may have come after the file was opened.
 */
static int target_read(void *ctx, void *dst, u64 addr, u32 len)
{
	if (security_locked_down(LOCKDOWN_KCORE))
		return -EPERM;
	return gtp_access_read_kernel(dst, addr, len);
}

static int target_write(void *ctx, u64 addr, const void *src, u32 len)
{
	if (!gtp_allow_write || security_locked_down(LOCKDOWN_DEV_MEM))
		return -EPERM;
	return gtp_access_write(addr, src, len);
}

static u64 target_text_start(void *ctx)
{
	return text_address;
}

static const char *target_build_id(void *ctx)
{
	return build_id_hex;
}

static const char *target_release(void *ctx)
{
	return init_utsname()->release;
}

static u64 target_now_ms(void *ctx)
{
	return ktime_to_ms(ktime_get());
}

static int self_trace(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	bool on;

	if (*arg && kstrtobool(arg, &on)) {
		gtp_why(why, "self-trace takes on, off or nothing, not '%s'", arg);
		return -EINVAL;
	}
	if (*arg)
		WRITE_ONCE(gtp_self_trace, on);
	gtp_stub_printf(stub, "self-trace is %s; hits of GDB's own tasks skipped so far: %llu\n",
			READ_ONCE(gtp_self_trace) ? "on" : "off", gtp_kprobe_self_skipped());
	return 0;
}

static int target_monitor(void *ctx, struct gtp_stub *stub, const char *command, struct gtp_why *why)
{
	static const char name[] = "self-trace";
	const char *arg = command + sizeof(name) - 1;

	if (!strcmp(command, "help")) {
		gtp_stub_print(stub,
			       "monitor self-trace   on or off: trace the tasks of this GDB too\n");
		return gtp_jit_monitor(stub, command, why);
	}
	if (strncmp(command, name, sizeof(name) - 1) || (*arg && *arg != ' '))
		return gtp_jit_monitor(stub, command, why);
	return self_trace(stub, skip_spaces(arg), why);
}

const struct gtp_stub_ops gtp_kernel_target = {
	.read = target_read,
	.write = target_write,
	.text_start = target_text_start,
	.build_id = target_build_id,
	.release = target_release,
	.save = gtp_save,
	.now_ms = target_now_ms,
	.marker = gtp_event_marker_nth,
	.marker_at = gtp_event_marker_at,
	.monitor = target_monitor,
};

/*
 * Where _text is, by exported symbols alone. The kernel moves its image in steps of 2 MiB or
 * multiples of that, and everything from _text to _end has a symbol at or before it. So from a
 * function that we know, down in such steps, _text is the last address that still has a name, and
 * it is the name's very start.
 */
static u64 __init find_text(void)
{
	unsigned long at = round_down((unsigned long)register_module_notifier, SZ_2M), text = 0;
	char *name = gtp_mem_alloc(KSYM_SYMBOL_LEN);
	bool exact = false;

	if (!name)
		return 0;
	for (; at >= __START_KERNEL_map; at -= SZ_2M) {
		sprint_symbol(name, at);
		if (str_has_prefix(name, "0x"))
			break;
		text = at;
		exact = strstr(name, "+0x0/");
	}
	gtp_mem_free(name);
	return exact ? text : 0;
}

size_t gtp_world_note_id(const u8 *notes, size_t len, const u8 **id)
{
	while (len >= sizeof(struct elf64_note)) {
		const struct elf64_note *n = (const void *)notes;
		u64 name = sizeof(*n), desc = name + round_up((u64)n->n_namesz, 4);
		u64 end = desc + round_up((u64)n->n_descsz, 4);

		if (end > len)
			return 0;
		if (n->n_type == NOTE_BUILD_ID && n->n_namesz == 4 && n->n_descsz <= BUILD_ID_MAX &&
		    !memcmp(notes + name, "GNU", 4)) {
			*id = notes + desc;
			return n->n_descsz;
		}
		notes += end;
		len -= end;
	}
	return 0;
}

/*
 * The kernel's notes are shown to everybody by sysfs. Without sysfs GDB does not get the build-
 * id, no more.
 */
static void __init find_build_id(void)
{
	struct file *file = filp_open("/sys/kernel/notes", O_RDONLY, 0);
	u8 *notes = gtp_mem_alloc(NOTES_MAX);
	loff_t pos = 0;
	const u8 *id;
	ssize_t len = 0;
	size_t n;

	if (!IS_ERR(file) && notes)
		len = kernel_read(file, notes, NOTES_MAX, &pos);
	n = len > 0 ? gtp_world_note_id(notes, len, &id) : 0;
	*bin2hex(build_id_hex, id, n) = '\0';
	gtp_mem_free(notes);
	if (!IS_ERR(file))
		filp_close(file, NULL);
}

/* gtp_kernel_target_init() - find out once what does not change */
void __init gtp_kernel_target_init(void)
{
	text_address = find_text();
	find_build_id();
	if (!text_address)
		pr_warn("cannot find out where _text is: GDB will take the kernel to be where it was linked\n");
}
