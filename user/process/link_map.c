// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the list of libraries that a process's dynamic linker keeps for debuggers. The list
 * consists of struct r_debug and struct link_map of <link.h>, which glibc and musl have.
 *
 * The list is memory of a process that runs: any address in it may be wrong, the list may be
 * circular, and it may have been written to keep its readers busy.
 */
#include <elf.h>
#include <link.h>

#include "user/process/link_map.h"

enum {
	HEADERS_MAX = 256,
	DYNAMIC_MAX = 1024,
	LISTS_MAX = 64,
	HAS_NEXT = 2, /* r_version of a list that further lists may follow */
};

/* struct list - struct r_debug_extended, which old headers lack */
struct list {
	struct r_debug head;
	u64 next;
};

/* Return the run-time address of the program's dynamic section; 0 if it has none. */
static u64 find_dynamic(const struct gtp_process *p)
{
	u64 linked_at = 0, dynamic = 0, i;
	bool found = false;
	Elf64_Phdr h;

	for (i = 0; i < p->phnum && i < HEADERS_MAX; i++) {
		if (gtp_process_read(p, &h, p->phdr + i * sizeof(h), sizeof(h)))
			return 0;
		if (h.p_type == PT_PHDR) {
			linked_at = h.p_vaddr;
			found = true;
		}
		if (h.p_type == PT_DYNAMIC)
			dynamic = h.p_vaddr;
	}
	return found && dynamic ? p->phdr - linked_at + dynamic : 0;
}

/* Return the address of the list, which the dynamic linker stores in the program's DT_DEBUG. */
static u64 find_list(const struct gtp_process *p)
{
	u64 at = find_dynamic(p);
	Elf64_Dyn d;
	u32 i;

	for (i = 0; at && i < DYNAMIC_MAX; i++) {
		if (gtp_process_read(p, &d, at + i * sizeof(d), sizeof(d)) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_DEBUG)
			return d.d_un.d_ptr;
	}
	return 0;
}

/**
 * struct walk - a walk through all lists
 * @fn, @arg: see gtp_link_map_walk()
 * @names: read the libraries' names, too
 * @n: the number of entries so far
 */
struct walk {
	const struct gtp_process *p;
	bool (*fn)(void *arg, const struct gtp_library *lib);
	void *arg;
	bool names;
	u32 n;
};

static int visit(struct walk *w, u64 list, u64 lm, u64 *next)
{
	struct gtp_library lib;
	struct link_map m;

	if (gtp_process_read(w->p, &m, lm, sizeof(m)))
		return -EAGAIN;
	lib.lm = lm;
	lib.addr = m.l_addr;
	lib.dynamic = (u64)m.l_ld;
	lib.list = list;
	lib.name[0] = '\0';
	if (w->names && gtp_process_read_string(w->p, lib.name, (u64)m.l_name, sizeof(lib.name)))
		return -EAGAIN;
	*next = (u64)m.l_next;
	return w->n++ < GTP_LINK_MAP_MAX && w->fn(w->arg, &lib) ? 0 : -E2BIG;
}

/*
 * Walk one list, and detect a cycle: compare each entry with an earlier one, which is entry 1, 2,
 * 4, 8, ... in turn. At some point that entry is inside the cycle, and the walk comes back to it
 * before the next is chosen.
 */
static int walk_list(struct walk *w, u64 list, u64 lm)
{
	u64 former = 0;
	u32 i, next_former = 1;
	int err = 0;

	for (i = 0; lm && !err; i++) {
		if (lm == former)
			return -EAGAIN;
		if (i == next_former) {
			former = lm;
			next_former *= 2;
		}
		err = visit(w, list, lm, &lm);
	}
	return err;
}

static int read_list(const struct gtp_process *p, struct list *list, u64 at)
{
	list->next = 0;
	if (gtp_process_read(p, &list->head, at, sizeof(list->head)))
		return -EAGAIN;
	if (list->head.r_version >= HAS_NEXT &&
	    gtp_process_read(p, &list->next, at + offsetof(struct list, next), sizeof(list->next)))
		return -EAGAIN;
	return list->head.r_state == RT_CONSISTENT ? 0 : -EAGAIN;
}

static int walk_all(struct walk *w, u64 *main_lm)
{
	u64 at = find_list(w->p), next;
	struct list list;
	int err = 0;
	u32 i;

	*main_lm = 0;
	for (i = 0; at && !err; i++, at = next) {
		if (i == LISTS_MAX)
			return -E2BIG;
		if (read_list(w->p, &list, at))
			return -EAGAIN;
		next = list.next;
		if (!i)
			*main_lm = (u64)list.head.r_map;
		err = walk_list(w, at, (u64)list.head.r_map);
		/*
		 * A change that began after the first look is still under way, which r_state shows,
		 * or already over.
		 */
		if (err == -EAGAIN || read_list(w->p, &list, at))
			return -EAGAIN;
	}
	return err;
}

int gtp_link_map_walk(const struct gtp_process *p,
		      bool (*fn)(void *arg, const struct gtp_library *lib), void *arg, u64 *main_lm)
{
	struct walk w = { .p = p, .fn = fn, .arg = arg, .names = true };

	return walk_all(&w, main_lm);
}

static bool add_to_sum(void *arg, const struct gtp_library *lib)
{
	const u64 part[] = { lib->lm, lib->addr, lib->dynamic, lib->list };
	u64 *sum = arg;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(part); i++)
		*sum = (*sum ^ part[i]) * 0x100000001b3ULL; /* FNV's prime */
	return true;
}

int gtp_link_map_sum(const struct gtp_process *p, u64 *sum)
{
	u64 main_lm, new = 1;
	struct walk w = { .p = p, .fn = add_to_sum, .arg = &new };
	int err = walk_all(&w, &main_lm);

	if (err == -EAGAIN)
		return err;
	*sum = new;
	return 0;
}

/*
 * GDB sets its breakpoints either at r_brk or at the dynamic linker's SDT probes, each of which is
 * a nop. A user's breakpoint at another place of the dynamic linker is not one of these.
 */
bool gtp_link_map_is_event(const struct gtp_process *p, u64 addr)
{
	enum { NOP = 0x90, IMAGE_MAX = 4 << 20 };
	u64 at = find_list(p);
	struct r_debug list;
	u8 code;

	if (!at || gtp_process_read(p, &list, at, sizeof(list)))
		return false;
	if (addr == list.r_brk)
		return true;
	return p->base && addr - p->base < IMAGE_MAX && !gtp_process_read(p, &code, addr, 1) &&
	       code == NOP;
}
