// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program to test gtp-attach, which reads the list of loaded libraries that the dynamic linker
 * keeps in a process. This program replaces its own list with a hostile one.
 *
 * It prints "ready PID". Each line of its input names a kind of list, and the program prints "ok"
 * when it has made the list. "long" and "many" have too many entries to read. "circle" has no end.
 * "lists" makes more lists than a real program has. "names" has names that contain terminal
 * escapes.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ENTRIES = 9999, LISTS = 100, NAME_BYTES = 4095 };

/* struct list - a struct r_debug_extended, which old headers lack */
struct list {
	struct r_debug head;
	struct list *next;
};

static struct link_map entry[ENTRIES];
static struct list list[LISTS];
static char long_name[NAME_BYTES + 1];
static const char bad_name[] = "/nowhere/\302\2332J\342\200\256\177\033[31m\377\n.so";
static const char good_name[] = "/nowhere/gr\303\274n \342\202\254.so";

/* Make a chain of @entries libraries, and @lists lists that all begin with its first entry. */
static void chain(int entries, int lists, const char *name)
{
	for (int i = 0; i < entries; i++) {
		entry[i].l_name = (char *)name;
		entry[i].l_next = i + 1 < entries ? &entry[i + 1] : NULL;
	}
	for (int i = 0; i < lists; i++) {
		list[i].head.r_version = 2;
		list[i].head.r_map = entry;
		list[i].next = i + 1 < lists ? &list[i + 1] : NULL;
	}
}

static void obey(const char *line)
{
	if (!strcmp(line, "long"))
		chain(ENTRIES, 64, long_name);
	if (!strcmp(line, "many"))
		chain(ENTRIES, 64, good_name);
	if (!strcmp(line, "lists"))
		chain(1, LISTS, good_name);
	if (!strcmp(line, "circle")) {
		chain(7, 1, good_name);
		entry[6].l_next = &entry[3];
	}
	if (!strcmp(line, "names")) {
		chain(2, 1, bad_name);
		entry[1].l_name = (char *)good_name;
		prctl(PR_SET_NAME, "\302\2332J\342\200\256\177\033x");
	}
}

int main(void)
{
	Elf64_Dyn *d;
	char line[80];

	memset(long_name, '"', NAME_BYTES);
	chain(1, 1, good_name);
	/* This program is linked with -z norelro, so its dynamic section is writable. */
	for (d = _DYNAMIC; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			d->d_un.d_ptr = (Elf64_Addr)list;
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
		puts("ok");
		fflush(stdout);
	}
	return 0;
}
