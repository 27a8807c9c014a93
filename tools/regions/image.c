// SPDX-License-Identifier: GPL-2.0-only
/* Read ELF files: sections with contents and addresses, symbols, relocations. */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "tools/regions/image.h"
#include "tools/run/text.h"

/*
 * In object files, each section gets an address on pages of its own, and undefined symbols get
 * addresses far after all sections.
 */
#define LAYOUT_BASE 0x100000ULL
#define LAYOUT_ALIGN 0x1000ULL
#define EXTERN_BASE 0x40000000ULL
#define EXTERN_STEP 16

#define RELOC_SIZE_64 8
#define RELOC_SIZE_32 4

void *rgn_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		text_errx(2, "out of memory");
	return p;
}

static void check_header(const struct rgn_image *image, const GElf_Ehdr *eh)
{
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_machine != EM_X86_64)
		text_errx(2, "%s: not a 64-bit x86 file", image->path);
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN && eh->e_type != ET_REL)
		text_errx(2, "%s: neither a program, a library nor an object file", image->path);
}

static void inflate(const struct rgn_image *image, Elf_Scn *scn, GElf_Shdr *sh)
{
	if (!(sh->sh_flags & SHF_COMPRESSED))
		return;
	if (elf_compress(scn, 0, 0) < 0 || !gelf_getshdr(scn, sh))
		text_errx(2, "%s: a compressed section cannot be read: %s", image->path,
			  elf_errmsg(-1));
}

static void read_section(struct rgn_image *image, struct rgn_section *s, Elf_Scn *scn, size_t names)
{
	Elf_Data *data;
	GElf_Shdr sh;

	if (!gelf_getshdr(scn, &sh))
		text_errx(2, "%s: section %zu: %s", image->path, elf_ndxscn(scn), elf_errmsg(-1));
	s->name = elf_strptr(image->elf, names, sh.sh_name);
	if (!s->name)
		s->name = "";
	/* Other debug sections stay compressed: libdw reads them from the file itself. */
	if (!strcmp(s->name, ".debug_line") || !strcmp(s->name, ".debug_line_str"))
		inflate(image, scn, &sh);
	s->scn = scn;
	s->addr = sh.sh_addr;
	s->size = sh.sh_size;
	s->align = sh.sh_addralign;
	s->type = sh.sh_type;
	s->flags = (u32)sh.sh_flags;
	s->link = sh.sh_link;
	s->info = sh.sh_info;
	if (sh.sh_type == SHT_NOBITS || sh.sh_type == SHT_NULL)
		return;
	data = sh.sh_flags & SHF_COMPRESSED ? NULL : elf_rawdata(scn, NULL);
	if (!strcmp(s->name, ".debug_line") || !strcmp(s->name, ".debug_line_str"))
		data = elf_getdata(scn, NULL);
	if (data && data->d_buf) {
		s->bytes = data->d_buf;
		s->size = data->d_size;
	} else if (s->size && !(sh.sh_flags & SHF_COMPRESSED)) {
		text_errx(2, "%s: section %s reaches beyond the end of the file", image->path,
			  s->name);
	}
}

static void read_sections(struct rgn_image *image)
{
	size_t n, names, i;

	if (elf_getshdrnum(image->elf, &n) || elf_getshdrstrndx(image->elf, &names) || n < 2)
		text_errx(2, "%s: has no section headers", image->path);
	image->sections = rgn_alloc(n, sizeof(*image->sections));
	image->sections_n = (u32)n;
	for (i = 1; i < n; i++) {
		Elf_Scn *scn = elf_getscn(image->elf, i);

		if (!scn)
			text_errx(2, "%s: section %zu: %s", image->path, i, elf_errmsg(-1));
		read_section(image, &image->sections[i], scn, names);
	}
	image->sections[0].name = "";
}

static u64 layout_align(u64 addr, u64 align)
{
	if (align < LAYOUT_ALIGN)
		align = LAYOUT_ALIGN;
	return align & (align - 1) ? addr : (addr + align - 1) & ~(align - 1);
}

static void lay_out(struct rgn_image *image, const struct rgn_image *like)
{
	u64 next = LAYOUT_BASE;
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		struct rgn_section *s = &image->sections[i];
		const struct rgn_section *twin = like ? rgn_image_section(like, s->name) : NULL;

		s->addr = 0;
		if (!(s->flags & SHF_ALLOC))
			continue;
		if (twin) {
			s->addr = twin->addr;
			continue;
		}
		next = layout_align(next, s->align);
		s->addr = next;
		next += s->size;
		if (s->size > EXTERN_BASE || next > EXTERN_BASE)
			text_errx(2, "%s: its sections are larger than 1 GB", image->path);
	}
}

static const struct rgn_section *symbol_table(const struct rgn_image *image)
{
	const struct rgn_section *found = NULL;
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct rgn_section *s = &image->sections[i];

		if (s->bytes && s->type == SHT_SYMTAB)
			return s;
		if (s->bytes && s->type == SHT_DYNSYM)
			found = s;
	}
	return found;
}

static void read_symbol(struct rgn_image *image, struct rgn_symbol *sym, u32 i,
			const Elf64_Sym *from, const struct rgn_section *names)
{
	sym->name = "";
	if (names && from->st_name < names->size &&
	    memchr(names->bytes + from->st_name, 0, names->size - from->st_name))
		sym->name = (const char *)names->bytes + from->st_name;
	sym->addr = from->st_value;
	sym->size = from->st_size;
	sym->type = ELF64_ST_TYPE(from->st_info);
	sym->section = from->st_shndx;
	if (!image->relocatable)
		return;
	if (sym->section && sym->section < image->sections_n)
		sym->addr += image->sections[sym->section].addr;
	else if (!sym->section)
		sym->addr = EXTERN_BASE + (u64)i * EXTERN_STEP;
}

static void read_symbols(struct rgn_image *image)
{
	const struct rgn_section *table = symbol_table(image), *names;
	u32 i;

	image->stripped = true;
	if (!table)
		return;
	names = table->link < image->sections_n ? &image->sections[table->link] : NULL;
	if (names && !names->bytes)
		names = NULL;
	image->stripped = table->type == SHT_DYNSYM;
	image->symbols_n = (u32)(table->size / sizeof(Elf64_Sym));
	image->symbols = rgn_alloc(image->symbols_n, sizeof(*image->symbols));
	for (i = 0; i < image->symbols_n; i++) {
		Elf64_Sym sym;

		memcpy(&sym, table->bytes + i * sizeof(sym), sizeof(sym));
		read_symbol(image, &image->symbols[i], i, &sym, names);
	}
}

/* Read notes: u32 name length, u32 description length, u32 type, both padded to 4. */
static void read_notes(struct rgn_image *image, const struct rgn_section *s)
{
	u64 at = 0;

	while (s->size - at >= 12) {
		u64 name = gtp_get_le(s->bytes + at, 4), desc = gtp_get_le(s->bytes + at + 4, 4);
		u64 type = gtp_get_le(s->bytes + at + 8, 4);
		u64 start = at + 12 + ((name + 3) & ~3ULL), end = start + ((desc + 3) & ~3ULL);

		if (end > s->size)
			return;
		if (type == NT_GNU_BUILD_ID && name == 4 && !memcmp(s->bytes + at + 12, "GNU", 4) &&
		    desc <= sizeof(image->build_id)) {
			memcpy(image->build_id, s->bytes + start, desc);
			image->build_id_len = (u32)desc;
			return;
		}
		at = end;
	}
}

static void own(struct rgn_section *s)
{
	u8 *copy = rgn_alloc(s->size, 1);

	memcpy(copy, s->bytes, s->size);
	s->bytes = copy;
	s->owned = true;
}

struct patch {
	struct rgn_section *target;
};

static void apply(void *ctx, const struct rgn_reloc *r)
{
	struct rgn_section *t = ((struct patch *)ctx)->target;
	u64 offset = r->place - t->addr, value = r->value;
	u32 size = RELOC_SIZE_32;

	switch (r->type) {
	case R_X86_64_64:
		size = RELOC_SIZE_64;
		break;
	case R_X86_64_PC64:
		size = RELOC_SIZE_64;
		value -= r->place;
		break;
	case R_X86_64_32:
	case R_X86_64_32S:
		break;
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		value -= r->place;
		break;
	default:
		return;
	}
	if (offset <= t->size && t->size - offset >= size)
		gtp_put_le(t->bytes + offset, value, size);
}

static void relocate(struct rgn_image *image)
{
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		struct rgn_section *rela = &image->sections[i], *t;
		struct patch patch;

		if (rela->type != SHT_RELA || !rela->bytes || rela->info >= image->sections_n)
			continue;
		t = &image->sections[rela->info];
		if (!t->bytes || !(t->flags & SHF_ALLOC || !strcmp(t->name, ".debug_line")))
			continue;
		if (!t->owned)
			own(t);
		patch.target = t;
		rgn_image_relocs(image, rela, t, apply, &patch);
	}
}

void rgn_image_relocs(const struct rgn_image *image, const struct rgn_section *rela,
		      const struct rgn_section *target,
		      void (*each)(void *ctx, const struct rgn_reloc *r), void *ctx)
{
	u64 i, n = rela->size / sizeof(Elf64_Rela);

	for (i = 0; i < n; i++) {
		struct rgn_reloc r;
		Elf64_Rela raw;
		u64 sym;

		memcpy(&raw, rela->bytes + i * sizeof(raw), sizeof(raw));
		sym = ELF64_R_SYM(raw.r_info);
		r.type = (u32)ELF64_R_TYPE(raw.r_info);
		/*
		 * In object files a relocation's offset is relative to the section; otherwise it is
		 * an address.
		 */
		r.place = raw.r_offset + (image->relocatable ? target->addr : 0);
		r.value = (u64)raw.r_addend;
		if (sym && sym < image->symbols_n)
			r.value += image->symbols[sym].addr;
		each(ctx, &r);
	}
}

bool rgn_image_is_code(const struct rgn_image *image, const struct rgn_section *s)
{
	if (!(s->flags & SHF_EXECINSTR) || !(s->flags & SHF_ALLOC))
		return false;
	return !(image->kernel && s->flags & SHF_WRITE);
}

static bool is_kernel(const struct rgn_image *image)
{
	return rgn_image_section(image, ".gnu.linkonce.this_module") ||
	       rgn_image_section(image, ".modinfo") || rgn_image_section(image, "__ksymtab");
}

void rgn_image_open(struct rgn_image *image, const char *path, const struct rgn_image *like)
{
	GElf_Ehdr eh;
	u32 i;

	memset(image, 0, sizeof(*image));
	image->path = path;
	elf_version(EV_CURRENT);
	image->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (image->fd < 0)
		err(2, "%s", path);
	image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
	if (!image->elf || !gelf_getehdr(image->elf, &eh))
		text_errx(2, "%s: not an ELF file", path);
	check_header(image, &eh);
	image->relocatable = eh.e_type == ET_REL;
	image->absolute = eh.e_type == ET_EXEC;
	read_sections(image);
	if (image->relocatable)
		lay_out(image, like);
	image->kernel = is_kernel(image);
	read_symbols(image);
	for (i = 1; i < image->sections_n && !image->build_id_len; i++) {
		if (image->sections[i].type == SHT_NOTE && image->sections[i].bytes)
			read_notes(image, &image->sections[i]);
	}
	if (image->relocatable)
		relocate(image);
}

void rgn_image_adopt(struct rgn_image *image, struct rgn_image *debug)
{
	if (image->build_id_len != debug->build_id_len ||
	    memcmp(image->build_id, debug->build_id, image->build_id_len))
		text_errx(1, "%s and %s are not of the same build", image->path, debug->path);
	/*
	 * Do not replace the symbols of an object file, because its relocations refer to them by
	 * index.
	 */
	if (!image->stripped || debug->stripped || image->relocatable)
		return;
	free(image->symbols);
	image->symbols = debug->symbols;
	image->symbols_n = debug->symbols_n;
	debug->symbols = NULL;
	debug->symbols_n = 0;
}

void rgn_image_close(struct rgn_image *image)
{
	u32 i;

	for (i = 0; i < image->sections_n; i++) {
		if (image->sections[i].owned)
			free(image->sections[i].bytes);
	}
	free(image->sections);
	free(image->symbols);
	elf_end(image->elf);
	close(image->fd);
}

const struct rgn_section *rgn_image_section(const struct rgn_image *image, const char *name)
{
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		if (!strcmp(image->sections[i].name, name))
			return &image->sections[i];
	}
	return NULL;
}

const struct rgn_symbol *rgn_image_symbol(const struct rgn_image *image, const char *name)
{
	u32 i;

	for (i = 0; i < image->symbols_n; i++) {
		if (image->symbols[i].section && !strcmp(image->symbols[i].name, name))
			return &image->symbols[i];
	}
	return NULL;
}

const char *rgn_image_extern(const struct rgn_image *image, u64 addr)
{
	u64 i = (addr - EXTERN_BASE) / EXTERN_STEP;

	if (!image->relocatable || addr < EXTERN_BASE || i >= image->symbols_n ||
	    image->symbols[i].section)
		return NULL;
	return image->symbols[i].name;
}

const struct rgn_section *rgn_image_section_at(const struct rgn_image *image, u64 addr)
{
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct rgn_section *s = &image->sections[i];

		if (s->flags & SHF_ALLOC && s->bytes && addr - s->addr < s->size)
			return s;
	}
	return NULL;
}

const u8 *rgn_image_at(const struct rgn_image *image, u64 addr, u64 n)
{
	const struct rgn_section *s = rgn_image_section_at(image, addr);

	return s && n <= s->size - (addr - s->addr) ? s->bytes + (addr - s->addr) : NULL;
}

bool rgn_image_writable(const struct rgn_image *image, u64 addr, u64 n)
{
	bool writable = false;
	GElf_Phdr ph;
	size_t i, count;

	if (elf_getphdrnum(image->elf, &count))
		return true;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &ph))
			return true;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_W && addr < ph.p_vaddr + ph.p_memsz &&
		    ph.p_vaddr < addr + n)
			writable = true;
	}
	return writable;
}

u64 rgn_image_pointer(const struct rgn_image *image, u64 addr)
{
	const u8 *p = rgn_image_at(image, addr, 8);

	/*
	 * A word without a relocation can be an address only if the image runs at a fixed address.
	 */
	return p && (image->absolute || image->relocatable) ? gtp_get_le(p, 8) : 0;
}
