// SPDX-License-Identifier: GPL-2.0-only
/* Finds the address of the running kernel's image, and the kernel's build-id. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/sizes.h>

#include "base/compat.h"
#include "kernel/base/image_kernel.h"
#include "kernel/base/mem_kernel.h"

enum {
	NOTES_MAX = 4096,
	BUILD_ID_MAX = 32,
	NOTE_BUILD_ID = 3, /* NT_GNU_BUILD_ID, which the kernel's own elf.h lacks */
};

static char build_id_hex[2 * BUILD_ID_MAX + 1];
static u64 text_address;

/*
 * Find _text with exported symbols alone. The kernel moves its image in steps of 2 MiB or multiples
 * of that, and everything from _text to _end has a symbol at or before it. So go down from an
 * exported function in such steps: _text is the last step that still has a symbol, and that symbol
 * starts exactly there.
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

size_t gtp_image_note_id(const u8 *notes, size_t len, const u8 **id)
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
 * Find the build-id in the kernel's notes, which sysfs shows to all users. Without sysfs, GDB only
 * lacks the build-id.
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
	n = len > 0 ? gtp_image_note_id(notes, len, &id) : 0;
	*bin2hex(build_id_hex, id, n) = '\0';
	gtp_mem_free(notes);
	if (!IS_ERR(file))
		filp_close(file, NULL);
}

void __init gtp_image_init(void)
{
	text_address = find_text();
	find_build_id();
	if (!text_address)
		pr_warn("cannot find out where _text is: GDB will take the kernel to be where it was linked\n");
}

u64 gtp_image_text(void)
{
	return text_address;
}

const char *gtp_image_build_id(void)
{
	return build_id_hex;
}
