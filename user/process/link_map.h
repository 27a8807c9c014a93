/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the list of libraries that a process's dynamic linker keeps for debuggers. */
#ifndef _GTP_LINK_MAP_H
#define _GTP_LINK_MAP_H

#include "user/process/process.h"

/**
 * struct gtp_library - an entry of the list of libraries
 * @lm: the address of the entry
 * @addr: the difference between the library's addresses and its link-time addresses
 * @dynamic: the address of the library's dynamic section
 * @list: the address of the list that contains the entry; dlmopen() makes further lists
 * @name: the library's path, NUL-terminated; "": the program
 */
struct gtp_library {
	u64 lm;
	u64 addr;
	u64 dynamic;
	u64 list;
	char name[GTP_PROCESS_PATH_MAX];
};

/*
 * The most entries that are looked at, of all lists together. A process may have made its lists
 * endless.
 */
enum { GTP_LINK_MAP_MAX = 4096 };

/**
 * gtp_link_map_walk() - call a function for each library
 * @p: the process
 * @fn: the function; returns false if it takes no more libraries
 * @arg: passed to @fn
 * @main_lm: receives the address of the program's entry; 0 if there is none, as in a static program
 *
 * The process goes on meanwhile and may change the list. Return: 0; -EAGAIN if the process is
 * changing the list, has changed it while it was read, or the list is circular; -E2BIG if there are
 * more entries than GTP_LINK_MAP_MAX or than @fn takes: then @fn was called for the first ones.
 */
int gtp_link_map_walk(const struct gtp_process *p,
		      bool (*fn)(void *arg, const struct gtp_library *lib), void *arg,
		      u64 *main_lm);

/*
 * gtp_link_map_sum - compute a number that changes with the list, from GTP_LINK_MAP_MAX entries at
 * most; return 0, or -EAGAIN with @sum unchanged
 */
int gtp_link_map_sum(const struct gtp_process *p, u64 *sum);

/* gtp_link_map_is_event - true if a debugger's breakpoint at @addr waits for changes of the list */
bool gtp_link_map_is_event(const struct gtp_process *p, u64 addr);

#endif /* _GTP_LINK_MAP_H */
