// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a kernel, read from vmlinux, and the functions with which a trace session calls its
 * host.
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "hit/hit.h"
#include "probe/sample/place.h"
#include "machine.h"

enum {
	CPU_BYTES = 65536,
	LINE = 8192,
	STACKS_BYTES = 1 << 20,
};

/* --- memory of the session --- */

static void *take(void *ctx, size_t bytes)
{
	return calloc(1, bytes ? bytes : 1);
}

static void give_back(void *ctx, void *p)
{
	free(p);
}

static void *must(void *p)
{
	if (!p)
		errx(1, "out of memory");
	return p;
}

/* --- vmlinux --- */

struct file {
	const char *path;
	u8 *bytes;
	u64 size;
};

static const void *part(const struct file *f, u64 at, u64 size)
{
	if (at > f->size || size > f->size - at)
		errx(1, "%s is cut off or no ELF file", f->path);
	return f->bytes + at;
}

static void open_file(struct file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	f->path = path;
	f->size = (u64)st.st_size;
	f->bytes = mmap(NULL, f->size ? f->size : 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (f->bytes == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
}

/*
 * Change data as KASLR does: add the slide to words that point into the image. The file does not
 * say which words these are, so change each word whose value is in the image. A number that is not
 * an address but has such a value is unlikely and harmless: a packet that depends on it would not
 * change by the slide.
 */
static void move_pointers(struct piece *p, u64 from, u64 end, u64 slide)
{
	u64 at, word;

	for (at = -p->addr & 7; at + 8 <= p->size; at += 8) {
		memcpy(&word, p->bytes + at, 8);
		if (word < from || word >= end)
			continue;
		word += slide;
		memcpy(p->bytes + at, &word, 8);
	}
}

static void add_section(struct machine *m, const struct file *f, const Elf64_Shdr *sh)
{
	struct piece *p = &m->pieces[m->npieces++];

	p->addr = sh->sh_addr + m->slide;
	p->size = sh->sh_size;
	p->code = sh->sh_flags & SHF_EXECINSTR;
	p->bytes = must(calloc(1, p->size));
	if (sh->sh_type != SHT_NOBITS)
		memcpy(p->bytes, part(f, sh->sh_offset, sh->sh_size), sh->sh_size);
}

/*
 * True if a section is in the image. Sections of per-CPU variables begin at 0, outside the image.
 */
static bool is_image(const struct machine *m, const Elf64_Shdr *sh)
{
	return (sh->sh_flags & SHF_ALLOC) && sh->sh_size && sh->sh_addr >= m->text - m->slide;
}

static void load(struct machine *m, const struct file *f)
{
	const Elf64_Ehdr *eh = part(f, 0, sizeof(*eh));
	const Elf64_Shdr *sh;
	u64 end = 0;
	u32 i;

	if (memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64)
		errx(1, "%s is no 64-bit ELF file", f->path);
	sh = part(f, eh->e_shoff, (u64)eh->e_shnum * sizeof(*sh));
	m->pieces = must(calloc(eh->e_shnum + 1, sizeof(*m->pieces)));
	for (i = 0; i < eh->e_shnum; i++) {
		if (!is_image(m, &sh[i]))
			continue;
		add_section(m, f, &sh[i]);
		if (sh[i].sh_addr + sh[i].sh_size > end)
			end = sh[i].sh_addr + sh[i].sh_size;
	}
	for (i = 0; i < m->npieces; i++)
		if (!m->pieces[i].code)
			move_pointers(&m->pieces[i], m->text - m->slide, end, m->slide);
}

static const struct piece *piece_at(const struct machine *m, u64 addr)
{
	u32 i;

	for (i = 0; i < m->npieces; i++)
		if (addr - m->pieces[i].addr < m->pieces[i].size)
			return &m->pieces[i];
	return NULL;
}

int machine_read(void *ctx, void *dst, u64 addr, u32 len)
{
	while (len) {
		const struct piece *p = piece_at(ctx, addr);
		u64 n;

		if (!p)
			return -EFAULT;
		n = p->addr + p->size - addr;
		if (n > len)
			n = len;
		memcpy(dst, p->bytes + (addr - p->addr), n);
		dst = (u8 *)dst + n;
		addr += n;
		len -= (u32)n;
	}
	return 0;
}

/* --- the list of kernel tracepoints --- */

static void load_markers(struct machine *m, const char *path)
{
	FILE *in = fopen(path, "r");
	char line[LINE];

	if (!in)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), in)) {
		struct marker *one;
		char *id, *fields;

		line[strcspn(line, "\n")] = '\0';
		m->markers = must(realloc(m->markers, (m->nmarkers + 1) * sizeof(*m->markers)));
		one = &m->markers[m->nmarkers];
		one->addr = strtoull(line, &id, 16) + m->slide;
		fields = strchr(id, '\t');
		if (*id != ' ' || !fields)
			errx(1, "%s: not ADDRESS ID<tab>FIELDS: %s", path, line);
		*fields++ = '\0';
		one->id = must(strdup(id + 1));
		one->fields = must(strdup(fields));
		m->nmarkers++;
	}
	fclose(in);
}

/* --- run control --- */

static bool is_marker(void *ctx, u64 addr)
{
	const struct machine *m = ctx;
	u32 i;

	for (i = 0; i < m->nmarkers; i++)
		if (m->markers[i].addr == addr)
			return true;
	return false;
}

/*
 * True if the kernel has moved and @addr is a link-time address of its code, which the user must
 * have typed as a number.
 */
static bool is_typed(const struct machine *m, u64 addr)
{
	const struct piece *p = m->slide ? piece_at(m, addr + m->slide) : NULL;

	return p && p->code;
}

static int armed(void *ctx, struct gtp_location *loc)
{
	loc->probe = ctx;
	loc->probe_kind = "recorded";
	loc->fast = true;
	return 0;
}

/* Record a location. The address of a sample is the same at each boot. */
static int arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	const struct piece *p = piece_at(ctx, loc->addr);

	if (loc->kind == GTP_LOCATION_SAMPLE) {
		int err = gtp_sample_place_check(loc->addr, why);

		return err ? err : armed(ctx, loc);
	}
	if (loc->kind == GTP_LOCATION_EVENT && !is_marker(ctx, loc->addr)) {
		gtp_why(why, "0x%llx is no tracepoint of the kernel itself", loc->addr);
		return -ENOENT;
	}
	if ((!p || !p->code) && is_typed(ctx, loc->addr)) {
		gtp_why(why,
			"0x%llx is typed as a number, and there only where vmlinux was linked: the kernel lies elsewhere at each boot (KASLR); say by a symbol where it is",
			loc->addr);
		return -EOPNOTSUPP;
	}
	if (!p || !p->code) {
		gtp_why(why,
			"0x%llx is not in the code of this vmlinux; modules lie elsewhere at each boot, so that what is in one cannot be compiled ahead",
			loc->addr);
		return -EOPNOTSUPP;
	}
	return armed(ctx, loc);
}

static void disarm(void *ctx, struct gtp_location *first)
{
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next)
		loc->probe = NULL;
}

static u64 missed(void *ctx, const struct gtp_location *loc)
{
	return 0;
}

/* Make an empty format of static data: there are no hits, so it is never read. */
static int sdata(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	loc->format = take(ctx, sizeof(*loc->format) + 1);
	if (!loc->format)
		return -ENOMEM;
	loc->format->addr = loc->addr;
	return 0;
}

static void buffers_put(void *ctx, struct gtp_cpu **cpus, u32 ncpus)
{
	if (ncpus && cpus[0]) {
		free(cpus[0]->stat);
		free(cpus[0]->buf.mem);
		free(cpus[0]);
	}
	free(cpus);
}

/*
 * Allocate one CPU's struct with a small buffer, whatever size is requested: the module checks the
 * size later, when the file is played.
 */
static int buffers_get(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
		       u32 *ncpus, struct gtp_why *why)
{
	struct gtp_cpu *cpu = must(take(ctx, sizeof(*cpu)));

	cpu->stat = must(take(ctx, gtp_hit_stat_bytes(nslots)));
	gtp_buffer_init(&cpu->buf, must(take(ctx, CPU_BYTES)), CPU_BYTES, circular);
	*cpus = must(take(ctx, sizeof(**cpus)));
	(*cpus)[0] = cpu;
	*ncpus = 1;
	return 0;
}

static int lines_get(void *ctx, struct gtp_why *why)
{
	return 0;
}

static void between_hits(void *ctx, struct gtp_cpu *cpu, void (*fn)(void *arg), void *arg)
{
	fn(arg);
}

static u64 memory_most(void *ctx)
{
	return ~0ULL;
}

static u64 stacks_bytes(void *ctx)
{
	return STACKS_BYTES;
}

static u64 no_clock(void *ctx)
{
	return 0;
}

static const struct gtp_target_ops target_ops = {
	.is_marker = is_marker,
	.arm = arm,
	.disarm = disarm,
	.missed = missed,
	.sdata = sdata,
	.buffers_get = buffers_get,
	.buffers_put = buffers_put,
	.lines_get = lines_get,
	.between_hits = between_hits,
	.memory_most = memory_most,
	.stacks_bytes = stacks_bytes,
	.wallclock_us = no_clock,
};

/* These functions must exist, but are never called, because there are no hits. */
static u32 no_stack(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
		    u32 max)
{
	return 0;
}

static void no_ustack(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from)
{
}

static u32 no_stack_bytes(void *ctx, const struct gtp_regs *regs, u64 pc)
{
	return 0;
}

static const struct gtp_hit_ops hit_ops = {
	.read = machine_read,
	.stack = no_stack,
	.ustack = no_ustack,
	.stack_bytes = no_stack_bytes,
};

void machine_init(struct machine *m, const char *vmlinux, const char *markers)
{
	const struct gtp_mem mem = { take, give_back, NULL };
	struct file f;

	m->text += m->slide;
	open_file(&f, vmlinux);
	load(m, &f);
	munmap(f.bytes, f.size ? f.size : 1);
	if (markers)
		load_markers(m, markers);
	if (gtp_trace_init(&m->trace, &mem, &target_ops, &hit_ops, m))
		errx(1, "out of memory");
	m->trace.text_start = m->text;
	m->trace.build_id = m->build_id;
}
