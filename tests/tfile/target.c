// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shared sources as a target for a real GDB, without a kernel: packets on stdin and stdout, the
 * memory of an ELF file, and hits when `monitor hit ADDRESS ARGUMENT...` asks for one, with the
 * stack that `monitor stack ADDRESS...` has said.
 *
 * Usage: target PROGRAM       (gdb: target remote | target PROGRAM)
 */
#include <elf.h>
#include <stdlib.h>
#include <unistd.h>
#include "fake_target.h"
#include "stub/stub.h"
#include "export/file.h"

static struct fake fake;
static struct gtp_stub stub;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- the world of the stub --- */

static int refuse_write(void *ctx, u64 addr, const void *src, u32 len)
{
	return -EPERM;
}

static u64 no_text(void *ctx)
{
	return 0;
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
	static u8 piece[100]; /* smaller than most parts of the file */
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

/*
 * "hit ADDRESS ARGUMENT...": the function at the address is called; "stack ADDRESS...": by these
 * callers from now on.
 */
static int do_command(void *ctx, struct gtp_stub *s, const char *command, struct gtp_why *why)
{
	u64 word[7] = { 0 };

	if (!strncmp(command, "stack ", strlen("stack "))) {
		memset(fake.stack, 0, sizeof(fake.stack));
		numbers(command + strlen("stack "), fake.stack, FAKE_STACK_MAX);
		return 0;
	}
	if (strncmp(command, "hit ", strlen("hit ")))
		return -ENOENT;
	numbers(command + strlen("hit "), word, ARRAY_SIZE(word));
	if (fake_call(&fake, word[0], 6, word + 1))
		return 0;
	gtp_why(why, "nothing is armed at 0x%llx", word[0]);
	return -EINVAL;
}

static const struct gtp_stub_ops ops = {
	.read = fake_read,
	.write = refuse_write,
	.text_start = no_text,
	.build_id = nothing,
	.release = nothing,
	.save = save,
	.now_ms = no_clock,
	.monitor = do_command,
};

static void send_bytes(void *ctx, const void *bytes, u32 len)
{
	fwrite(bytes, 1, len, stdout);
}

/* --- memory: what the program's file says, read as the loader would --- */

static void map_segment(FILE *elf, const Elf64_Phdr *ph)
{
	u8 *bytes = fake_map(&fake, ph->p_vaddr, NULL, (u32)ph->p_memsz);

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
	static u8 in[4096];
	ssize_t n;

	if (argc != 2 || fake_init(&fake))
		die("usage: target PROGRAM");
	load(argv[1]);
	if (gtp_stub_init(&stub, &fake.trace, &ops, send_bytes, &fake))
		die("stub");
	while ((n = read(STDIN_FILENO, in, sizeof(in))) > 0) {
		gtp_stub_feed(&stub, in, (u32)n);
		fflush(stdout);
	}
	gtp_stub_exit(&stub);
	return fake_exit(&fake) ? 1 : 0;
}
