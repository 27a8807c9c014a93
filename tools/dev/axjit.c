// SPDX-License-Identifier: GPL-2.0-only
/* Run test vectors with the JIT compiler, and show its machine code as text. */
#include <stdlib.h>
#include <unistd.h>

#include "user/jit/exec_user.h"
#include "tools/dev/axjit.h"
#include "tracepoint/tsv.h"

enum { ARENA = 4 << 20, FAST_LIMIT = 0x7fff0000 };

static u32 seed;

void axjit_seed(u32 n)
{
	seed = n;
}

/* The variable to which machine code adds atomically. The code accesses all others through @env. */
static struct gtp_tsv added;
static struct gtp_tsv *slots[U16_MAX + 1];

static void fetch_added(const struct ax_verified *v, const struct ax_env *env)
{
	added.value = env->ops->getv(env->ctx, v->adds);
	slots[v->adds] = &added;
}

static int run(ax_jit_fn fn, const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	int ret = ax_jit_run(fn, env, result);

	if (v->flags & AX_F_ADDS)
		env->ops->setv(env->ctx, v->adds, added.value);
	return ret;
}

int axjit_eval(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	static struct jit_user *arena;
	ax_jit_fn fn;

	if (!arena)
		arena = jit_user_new(ARENA, 0);
	arena->slots = slots;
	if (v->flags & AX_F_ADDS)
		fetch_added(v, env);
	fn = jit_user_compile(arena, v, env->pc, seed, NULL);
	if (!fn) {
		jit_user_reset(arena);
		fn = jit_user_compile(arena, v, env->pc, seed, NULL);
	}
	return run(fn, v, env, result);
}

static int dump(const u8 *code, u32 len, const char *path)
{
	char command[256];
	FILE *f = fopen(path, "w");

	if (!f || fwrite(code, 1, len, f) != len || fclose(f))
		return -1;
	snprintf(
		command, sizeof(command),
		"objdump -D -b binary -m i386:x86-64 -M intel %s 2>/dev/null | sed -n '/^ /p' | cut -f 1,3-",
		path);
	fflush(stdout);
	return system(command);
}

static void print_bytes(const u8 *code, u32 len)
{
	for (u32 i = 0; i < len; i++)
		printf("%02x%s", code[i], i % 16 == 15 || i + 1 == len ? "\n" : " ");
}

void axjit_listing(const struct ax_verified *v)
{
	struct jit_user *arena = jit_user_new(ARENA, FAST_LIMIT);
	char path[] = "/tmp/axjit.XXXXXX";
	int fd = mkstemp(path);
	const u8 *code;
	u32 len;

	code = (const u8 *)(uintptr_t)jit_user_compile(arena, v, 0, seed, &len);
	printf("machine code, %u bytes:\n", len);
	if (fd < 0 || dump(code, len, path))
		print_bytes(code, len);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	jit_user_free(arena);
}
