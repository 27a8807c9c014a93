// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the parts of a program or library that describe its call frames. The kernel and the dynamic
 * loader only need program headers, so these are used, and sections only if nothing else says where
 * .eh_frame is.
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/run/text.h"
#include "tools/unwind/file.h"

/* The vDSO has a few pages. Its sections' headers, which nothing needs, may be after its end. */
enum { VDSO_MAX = 1 << 16 };

static const void *at(const struct unw_file *f, u64 offset, u64 bytes)
{
	return offset <= f->size && bytes <= f->size - offset ? f->bytes + offset : NULL;
}

/* Return the contents from a link-time address up to the end of its segment. */
static struct rgn_data data_at(const struct unw_file *f, u64 addr)
{
	u32 i;

	for (i = 0; i < f->segments; i++) {
		const struct unw_segment *s = &f->segment[i];
		u64 in = addr - s->addr;

		if (in < s->bytes)
			return (struct rgn_data){ f->bytes + s->offset + in, s->bytes - in, addr };
	}
	return (struct rgn_data){ NULL, 0, 0 };
}

static void add_segment(struct unw_file *f, const Elf64_Phdr *p)
{
	if (f->segments == UNW_SEGMENTS || !p->p_filesz || !at(f, p->p_offset, p->p_filesz))
		return;
	f->segment[f->segments++] = (struct unw_segment){
		.addr = p->p_vaddr,
		.offset = p->p_offset,
		.bytes = p->p_filesz,
		.is_code = p->p_flags & PF_X,
	};
}

static u64 round4(u64 n)
{
	return (n + 3) & ~3ULL;
}

/* Look for the build-id in a segment of notes. */
static void read_notes(struct unw_file *f, const Elf64_Phdr *p)
{
	const u8 *notes = at(f, p->p_offset, p->p_filesz);
	u64 left = notes ? p->p_filesz : 0;

	while (left >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		u64 name, bytes;

		memcpy(&n, notes, sizeof(n));
		name = round4(n.n_namesz);
		bytes = sizeof(n) + name + round4(n.n_descsz);
		if (bytes > left)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(notes + sizeof(n), "GNU", 4) && n.n_descsz) {
			f->id_len = n.n_descsz < UNW_ID ? n.n_descsz : UNW_ID;
			memcpy(f->id, notes + sizeof(n) + name, f->id_len);
		}
		notes += bytes;
		left -= bytes;
	}
}

/* Find .eh_frame by the segment that the program's own unwinder uses. */
static void by_header(struct unw_file *f, const Elf64_Phdr *p)
{
	struct rgn_data head = data_at(f, p->p_vaddr);
	struct rgn_place place = rgn_fde_place(&head, 0);
	u8 version = (u8)rgn_read(&place.in, 1), encoding = (u8)rgn_read(&place.in, 1);
	u64 addr;

	rgn_read(&place.in, 2);
	addr = rgn_fde_pointer(&place, encoding);
	if (version == 1 && !place.in.failed)
		f->eh_frame = data_at(f, addr);
}

static void by_section(struct unw_file *f, const Elf64_Ehdr *head)
{
	const Elf64_Shdr *s = at(f, head->e_shoff, (u64)head->e_shnum * sizeof(*s));
	u32 i;

	if (!s || head->e_shentsize != sizeof(*s) || head->e_shstrndx >= head->e_shnum)
		return;
	for (i = 0; i < head->e_shnum; i++) {
		const char *name = at(f, s[head->e_shstrndx].sh_offset + s[i].sh_name, 10);

		if (name && !memcmp(name, ".eh_frame", 10) && s[i].sh_type != SHT_NOBITS &&
		    at(f, s[i].sh_offset, s[i].sh_size))
			f->eh_frame = (struct rgn_data){ f->bytes + s[i].sh_offset, s[i].sh_size,
							 s[i].sh_addr };
	}
}

static void read_parts(struct unw_file *f)
{
	const Elf64_Ehdr *head = at(f, 0, sizeof(*head));
	const Elf64_Phdr *p;
	u32 i;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_X86_64 ||
	    (head->e_type != ET_EXEC && head->e_type != ET_DYN))
		text_errx(1, "%s is no program or library for x86-64", f->path);
	p = at(f, head->e_phoff, (u64)head->e_phnum * sizeof(*p));
	if (!p || head->e_phentsize != sizeof(*p) || head->e_phoff % 8)
		text_errx(1, "%s is cut off: its table of segments is not whole", f->path);
	for (i = 0; i < head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD)
			add_segment(f, &p[i]);
	for (i = 0; i < head->e_phnum; i++) {
		if (p[i].p_type == PT_NOTE)
			read_notes(f, &p[i]);
		else if (p[i].p_type == PT_GNU_EH_FRAME)
			by_header(f, &p[i]);
	}
	if (!f->eh_frame.size && head->e_shoff % 8 == 0)
		by_section(f, head);
}

void unw_file_open(struct unw_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	*file = (struct unw_file){ .path = path };
	if (fd < 0 || fstat(fd, &st))
		text_errx(1, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || !st.st_size)
		text_errx(1, "%s is no ordinary file, or is empty", path);
	file->size = (u64)st.st_size;
	file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file->bytes == MAP_FAILED)
		text_errx(1, "%s: %s", path, strerror(errno));
	close(fd);
	read_parts(file);
}

/* The vDSO's segment is all of the memory that is mapped for it, up to its end in a page. */
static u64 vdso_bytes(const u8 *bytes)
{
	const Elf64_Ehdr *head = (const void *)bytes;
	const Elf64_Phdr *p = (const void *)(bytes + head->e_phoff);
	u64 size = 0;
	u32 i;

	for (i = 0; i < head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_offset + p[i].p_filesz > size)
			size = p[i].p_offset + p[i].p_filesz;
	return size < VDSO_MAX ? size : VDSO_MAX;
}

void unw_file_vdso(struct unw_file *file)
{
	const u8 *bytes = (const u8 *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

	if (!bytes)
		text_errx(1, "this kernel has no vDSO");
	*file = (struct unw_file){ .path = "vdso", .bytes = bytes, .size = vdso_bytes(bytes) };
	read_parts(file);
}

const struct unw_segment *unw_file_code(const struct unw_file *file, u64 addr, u64 bytes)
{
	u32 i;

	for (i = 0; i < file->segments; i++) {
		const struct unw_segment *s = &file->segment[i];

		if (s->is_code && addr >= s->addr && addr - s->addr <= s->bytes &&
		    bytes <= s->bytes - (addr - s->addr))
			return s;
	}
	return NULL;
}
