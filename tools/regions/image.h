/* SPDX-License-Identifier: GPL-2.0-only */
/* Read an ELF file for the analysis: sections with addresses, symbols, relocations. */
#ifndef _RGN_IMAGE_H
#define _RGN_IMAGE_H

#include <gelf.h>
#include "base/base.h"

/**
 * struct rgn_section - one section of an ELF file
 * @name: the name, in memory of the ELF file
 * @bytes: the contents, @size bytes; NULL if the file does not have them (.bss, or a debug file)
 * @addr: the address; rgn_image_open() assigns one to each section of an object file
 * @owned: true if @bytes is a copy that belongs to the image, and may be changed
 */
struct rgn_section {
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

struct rgn_symbol {
	const char *name;
	u64 addr;
	u64 size;
	u32 section; /* number of the section; 0 if undefined; or a special SHN_ number */
	u8 type;
};

struct rgn_image {
	const char *path;
	int fd;
	Elf *elf;
	bool stripped;	  /* the file has only dynamic symbols */
	bool relocatable; /* an object file, such as a module */
	bool absolute;	  /* runs at its link address, so a constant in code may be an address */
	bool kernel;	  /* vmlinux or a module: has patch-site tables, but no jump tables */
	struct rgn_section *sections;
	u32 sections_n;
	struct rgn_symbol *symbols; /* in the file's order: relocations use the index */
	u32 symbols_n;
	u8 build_id[64];
	u32 build_id_len;
};

/* struct rgn_reloc - a relocation; @value: S + A of the ELF specification */
struct rgn_reloc {
	u64 place;
	u64 value;
	u32 type;
};

/**
 * rgn_image_open() - read an ELF file for x86-64
 * @image: receives the image
 * @path: the file; must outlive the image
 * @like: if @path is a debug file, the image of the stripped file, whose section addresses are
 *	used; otherwise NULL
 *
 * Assigns addresses to the sections of an object file. Applies the relocations of loaded sections
 * and of .debug_line to copies of their contents. Exits with a message if the file is not usable.
 */
void rgn_image_open(struct rgn_image *image, const char *path, const struct rgn_image *like);
void rgn_image_close(struct rgn_image *image);

/*
 * rgn_image_adopt - check that @debug is of the same build as @image; if @image is stripped, move
 * the symbols of @debug to it
 */
void rgn_image_adopt(struct rgn_image *image, struct rgn_image *debug);

/**
 * rgn_image_is_code() - true if a section's contents can be executed
 * @image: the file
 * @s: one of its sections
 *
 * A kernel does not execute writable memory: it maps such memory without the permission to execute,
 * and refuses a module with a section that is both writable and executable. vmlinux may have such a
 * section nevertheless, if one of its input sections was executable: .data of 7.3 contains code
 * that kexec copies before it runs.
 */
bool rgn_image_is_code(const struct rgn_image *image, const struct rgn_section *s);

/* rgn_image_section - return the section with the name @name, or NULL */
const struct rgn_section *rgn_image_section(const struct rgn_image *image, const char *name);

/* rgn_image_symbol - return the first defined symbol with the name @name, or NULL */
const struct rgn_symbol *rgn_image_symbol(const struct rgn_image *image, const char *name);

/*
 * rgn_image_extern - return the name of the undefined symbol to which @addr was assigned in an
 * object file, or NULL
 */
const char *rgn_image_extern(const struct rgn_image *image, u64 addr);

/*
 * rgn_image_section_at - return the loaded section with contents that contains an address, or NULL
 */
const struct rgn_section *rgn_image_section_at(const struct rgn_image *image, u64 addr);

/*
 * rgn_image_at - return @n bytes at an address, or NULL if not all of them are in one loaded
 * section
 */
const u8 *rgn_image_at(const struct rgn_image *image, u64 addr, u64 n);

/* rgn_image_writable - true if a program may write to any of @n bytes, also after relocation */
bool rgn_image_writable(const struct rgn_image *image, u64 addr, u64 n);

/* rgn_image_pointer - return the address that is stored at @addr at run time, or 0 */
u64 rgn_image_pointer(const struct rgn_image *image, u64 addr);

/*
 * rgn_image_relocs - call @each for every relocation in @rela, the relocations of section @target
 */
void rgn_image_relocs(const struct rgn_image *image, const struct rgn_section *rela,
		      const struct rgn_section *target,
		      void (*each)(void *ctx, const struct rgn_reloc *r), void *ctx);

/*
 * rgn_alloc - allocate zeroed memory for @n elements of @size bytes; exit with a message on failure
 */
void *rgn_alloc(size_t n, size_t size);

#endif /* _RGN_IMAGE_H */
