// SPDX-License-Identifier: GPL-2.0-only
/*
 * A target for a real GDB, made of the shared sources, without a kernel. Packets are on stdin and
 * stdout. Memory has the contents of an ELF file. `monitor hit ADDRESS ARGUMENT...` makes a hit;
 * `monitor stack`, `task`, `cpu` and `clock` set the stack, task, CPU and clock of later hits.
 *
 * Usage: target PROGRAM [SLIDE [BUILD-ID [HITS]]]       (gdb: target remote | target PROGRAM)
 *
 * The program is SLIDE bytes above its link address, as with KASLR, and reports this build ID. When
 * a run begins, it gets the hits that the lines of HITS describe: "ADDRESS ARGUMENT...", "stack
 * ADDRESS...", both with link-time addresses, or "clock NS".
 */
#include <elf.h>
#include <stdlib.h>
#include <unistd.h>
#include "fake_target.h"
#include "stub/stub.h"
#include "export/file.h"

static struct fake fake;
static struct gtp_stub stub;
static u64 slide, linked, linked_end; /* @linked to @linked_end: the program's link addresses */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- the stub's callbacks --- */

static int refuse_write(void *ctx, u64 addr, const void *src, u32 len)
{
	return -EPERM;
}

static const char *nothing(void *ctx)
{
	return "";
}

static u64 no_clock(void *ctx)
{
	return 0;
}

static int save(void *ctx, const char *path, struct gtp_why *why)
{
	static u8 piece[100]; /* smaller than most segments of the file */
	FILE *out = fopen(path, "w");
	struct gtp_file in;
	u64 at = 0;
	s64 n;
	int rc;

	if (!out)
		return -errno;
	rc = gtp_file_open(&in, &fake.trace, why);
	if (rc) {
		fclose(out);
		return rc;
	}
	while ((n = gtp_file_read(&in, at, piece, sizeof(piece))) > 0) {
		fwrite(piece, 1, (size_t)n, out);
		at += (u64)n;
	}
	gtp_file_close(&in);
	return fclose(out) || n ? -EIO : 0;
}

static u32 numbers(const char *text, u64 *word, u32 most)
{
	char *end = (char *)text;
	u32 n = 0;

	while (*end && n < most)
		word[n++] = strtoull(end, &end, 0);
	return n;
}

/* "hit ADDRESS ARGUMENT...": call the function at the address */
static bool hit(const char *text)
{
	u64 word[7] = { 0 };

	numbers(text, word, ARRAY_SIZE(word));
	return fake_call(&fake, word[0], 6, word + 1);
}

/*
 * "call ADDRESS NS VALUE ARGUMENT ARGUMENT": call the function, which returns VALUE after NS
 * nanoseconds
 */
static bool call(const char *text)
{
	struct gtp_regs regs = { .cs = 0x10, .ss = 0x18, .eflags = 0x246 };
	struct gtp_pending pending;
	u64 word[5] = { 0 };

	numbers(text, word, ARRAY_SIZE(word));
	regs.rip = word[0];
	regs.rdi = word[3];
	regs.rsi = word[4];
	if (!fake_enter(&fake, word[0], &regs, &pending))
		return false;
	fake.clock += word[1];
	return fake_leave(&fake, word[0], &pending, word[2]);
}

/* "stack ADDRESS...": set the callers of later hits */
static bool stack(const char *text)
{
	memset(fake.stack, 0, sizeof(fake.stack));
	return numbers(text, fake.stack, FAKE_STACK_MAX);
}

/* "task ADDRESS PID": set the current task */
static bool task(const char *text)
{
	u64 word[2] = { 0 };

	numbers(text, word, ARRAY_SIZE(word));
	fake.task = word[0];
	fake.pid = (s64)word[1];
	return true;
}

/* "cpu N": later hits are on this CPU. A run has only CPUs that were set before it began. */
static bool cpu(const char *text)
{
	u64 n = FAKE_CPUS_MAX;

	numbers(text, &n, 1);
	if (n >= FAKE_CPUS_MAX)
		return false;
	fake.cpu = (u32)n;
	if (fake.ncpus <= fake.cpu)
		fake.ncpus = fake.cpu + 1;
	return true;
}

/* "clock NS": set the clock; the next hit is a nanosecond later */
static bool set_clock(const char *text)
{
	return numbers(text, &fake.clock, 1);
}

static const struct {
	const char *word;
	bool (*fn)(const char *text);
} commands[] = {
	{ "hit ", hit },   { "call ", call }, { "stack ", stack },
	{ "task ", task }, { "cpu ", cpu },   { "clock ", set_clock },
};

static int do_command(void *ctx, struct gtp_stub *s, const char *command, struct gtp_why *why)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *word = commands[i].word;

		if (strncmp(command, word, strlen(word)))
			continue;
		if (commands[i].fn(command + strlen(word)))
			return 0;
		gtp_why(why, "%s: nothing is armed there, or there is no such CPU", command);
		return -EINVAL;
	}
	return -ENOENT;
}

static const struct gtp_stub_ops ops = {
	.read = fake_read,
	.write = refuse_write,
	.release = nothing,
	.save = save,
	.now_ms = no_clock,
	.monitor = do_command,
};

static void send_bytes(void *ctx, const void *bytes, u32 len)
{
	fwrite(bytes, 1, len, stdout);
}

/* --- hits from a file --- */

static void hit_line(const char *line)
{
	u64 word[FAKE_STACK_MAX] = { 0 };
	bool stack = !strncmp(line, "stack ", strlen("stack "));
	u32 i, n = numbers(stack ? line + strlen("stack ") : line, word, FAKE_STACK_MAX - 1);

	if (!strncmp(line, "clock ", strlen("clock "))) {
		set_clock(line + strlen("clock "));
		return;
	}
	for (i = 0; i < n; i++)
		if (word[i] >= linked && word[i] < linked_end)
			word[i] += slide;
	if (stack)
		memcpy(fake.stack, word, sizeof(fake.stack));
	else
		fake_call(&fake, word[0], 6, word + 1);
}

static void hit_all(const char *path)
{
	FILE *in = fopen(path, "r");
	char line[256];

	if (!in)
		die(path);
	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		hit_line(line);
	}
	fclose(in);
}

/* --- memory: the program's file, as a program loader loads it --- */

static void map_segment(FILE *elf, const Elf64_Phdr *ph)
{
	u8 *bytes = fake_map(&fake, ph->p_vaddr + slide, NULL, (u32)ph->p_memsz);

	if (!linked)
		linked = ph->p_vaddr;
	linked_end = ph->p_vaddr + ph->p_memsz;
	if (fseek(elf, (long)ph->p_offset, SEEK_SET))
		die("fseek");
	if (ph->p_filesz && fread(bytes, ph->p_filesz, 1, elf) != 1)
		die("segment");
}

static void load(const char *path)
{
	FILE *elf = fopen(path, "r");
	Elf64_Ehdr eh;

	if (!elf || fread(&eh, sizeof(eh), 1, elf) != 1)
		die(path);
	for (u32 i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		if (fseek(elf, (long)(eh.e_phoff + i * sizeof(ph)), SEEK_SET) ||
		    fread(&ph, sizeof(ph), 1, elf) != 1)
			die("program headers");
		if (ph.p_type == PT_LOAD && ph.p_memsz)
			map_segment(elf, &ph);
	}
	fclose(elf);
}

int main(int argc, char **argv)
{
	const char *hits = argc > 4 ? argv[4] : NULL;
	static u8 in[4096];
	ssize_t n;

	if (argc < 2 || argc > 5 || fake_init(&fake))
		die("usage: target PROGRAM [SLIDE [BUILD-ID [HITS]]]");
	slide = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	load(argv[1]);
	/* Without a build ID, GDB assumes that the program is at its link address. */
	if (argc > 3 && *argv[3]) {
		fake.trace.build_id = argv[3];
		fake.trace.text_start = linked + slide;
	}
	if (gtp_stub_init(&stub, &fake.trace, &ops, send_bytes, &fake))
		die("stub");
	while ((n = read(STDIN_FILENO, in, sizeof(in))) > 0) {
		gtp_stub_feed(&stub, in, (u32)n);
		fflush(stdout);
		if (hits && gtp_trace_running(&fake.trace)) {
			hit_all(hits);
			hits = NULL;
		}
	}
	gtp_stub_exit(&stub);
	return fake_exit(&fake) ? 1 : 0;
}
