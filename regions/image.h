/* SPDX-License-Identifier: GPL-2.0-only */
/* An ELF file as the analysis sees it: sections that have addresses, symbols, relocations. */
#ifndef _GTP_IMAGE_H
#define _GTP_IMAGE_H

#include <gelf.h>
#include "base/base.h"

/**
 * struct gtp_section - one section
 * @name: owned by the file
 * @bytes: contents, @size of them; NULL when the file has none (.bss, or a file of debug data only)
 * @addr: address; an object file's sections, which have none, get one each (see gtp_image_open())
 * @owned: @bytes is a copy that belongs to the image, and may be changed
 */
struct gtp_section {
	const char *name;
	u8 *bytes;
	u64 addr;
	u64 size;
	u64 align;
	u32 type;
	u32 flags;
	u32 link;
	u32 info;
	bool owned;
	Elf_Scn *scn;
};

struct gtp_symbol {
	const char *name;
	u64 addr;
	u64 size;
	u32 section; /* 0: undefined, or one of ELF's special numbers */
	u8 type;
};

struct gtp_image {
	const char *path;
	int fd;
	Elf *elf;
	bool stripped;    /* has dynamic symbols at most */
	bool relocatable; /* an object file, as modules are */
	bool absolute;    /* runs where it was linked to: its constants can be addresses */
	bool kernel;      /* vmlinux or a module: no jump tables, patch-site tables */
	struct gtp_section *sections;
	u32 sections_n;
	struct gtp_symbol *symbols; /* in the file's own order, which relocations refer to */
	u32 symbols_n;
	u8 build_id[64];
	u32 build_id_len;
};

/* struct gtp_reloc - a relocation, its symbol resolved: the value that S + A stands for */
struct gtp_reloc {
	u64 place;
	u64 value;
	u32 type;
};

/**
 * gtp_image_open() - read an ELF file for x86-64
 * @image: receives it
 * @path: the file; must outlive the image
 * @like: NULL, or the image whose section addresses this one shares (@path is its debug data)
 *
 * An object file's sections are given addresses, and the relocations of those that are loaded and
 * of .debug_line are applied to copies. Ends the program with a message when the file is not
 * usable.
 */
void gtp_image_open(struct gtp_image *image, const char *path, const struct gtp_image *like);
void gtp_image_close(struct gtp_image *image);

/*
 * gtp_image_adopt - check that @debug is of the same build as @image, and take its symbols where
 * @image has been stripped of them
 */
void gtp_image_adopt(struct gtp_image *image, struct gtp_image *debug);

/* gtp_image_section - the section of that name, or NULL */
const struct gtp_section *gtp_image_section(const struct gtp_image *image, const char *name);

/* gtp_image_symbol - the first defined symbol of that name, or NULL */
const struct gtp_symbol *gtp_image_symbol(const struct gtp_image *image, const char *name);

/* gtp_image_extern - the name that an object file knows an address outside of it by, or NULL */
const char *gtp_image_extern(const struct gtp_image *image, u64 addr);

/*
 * gtp_image_at - @n bytes at an address, or NULL when not all of them are in one section that the
 * file has contents for
 */
const u8 *gtp_image_at(const struct gtp_image *image, u64 addr, u64 n);

/* gtp_image_relocs - call @each for every relocation in the table @rela, which changes @target */
void gtp_image_relocs(const struct gtp_image *image, const struct gtp_section *rela,
		      const struct gtp_section *target,
		      void (*each)(void *ctx, const struct gtp_reloc *r), void *ctx);

/* gtp_alloc - zeroed memory for @n elements of @size bytes; ends the program when there is none */
void *gtp_alloc(size_t n, size_t size);

#endif /* _GTP_IMAGE_H */
