// SPDX-License-Identifier: GPL-2.0-only
/* Run test vectors with the JIT compiler in the running kernel. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/jit/jit_test.h"
#include "tools/dev/axkernel.h"

static void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s (is gtp_jit_test.ko loaded?)\n", JIT_TEST_FILE, what,
		strerror(errno));
	exit(1);
}

static u32 put_bytes(struct jit_test_request *r, u32 at, const void *bytes, u64 len)
{
	if (at + len > JIT_TEST_MAX) {
		errno = E2BIG;
		die("request");
	}
	memcpy((u8 *)r + at, bytes, len);
	return at + (u32)len;
}

static void fill_request(struct jit_test_request *r, const struct ax_verified *v,
			 const struct axenv *e)
{
	u32 at = put_bytes(r, sizeof(*r), v->code, v->len);

	r->code_len = v->len;
	r->kind = AX_ACTION; /* a condition is a valid action, too */
	r->room = e->room;
	r->pc = e->ax.pc;
	r->regs = e->regs;
	r->nmaps = e->nmaps;
	r->ntsvs = e->ntsvs;
	for (u32 i = 0; i < e->nmaps; i++) {
		r->maps[i].addr = e->maps[i].addr;
		r->maps[i].len = e->maps[i].len;
		at = put_bytes(r, at, e->maps[i].bytes, e->maps[i].len);
	}
	for (u32 i = 0; i < e->ntsvs; i++) {
		r->tsvs[i].num = e->tsvs[i].num;
		r->tsvs[i].value = e->tsvs[i].value;
	}
	r->size = at;
}

static void take_reply(struct axenv *e, const struct jit_test_reply *r)
{
	e->ax.err = r->err;
	for (u32 i = 0; i < e->ntsvs; i++)
		e->tsvs[i].value = r->tsvs[i];
	e->log_len = r->log_len;
	memcpy(e->log, r->bytes, r->log_len);
	e->printed_len = r->printed_len;
	memcpy(e->printed, r->bytes + r->log_len, r->printed_len);
	e->printed[r->printed_len] = '\0';
}

int axkernel_eval(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	static union {
		struct jit_test_request request;
		struct jit_test_reply reply;
		u8 room[JIT_TEST_MAX];
	} u;
	int fd = open(JIT_TEST_FILE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("open");
	fill_request(&u.request, v, env->ctx);
	if (write(fd, &u, u.request.size) < 0)
		die("write");
	if (pread(fd, &u, sizeof(u), 0) < (ssize_t)sizeof(u.reply))
		die("read");
	close(fd);
	take_reply(env->ctx, &u.reply);
	*result = u.reply.value;
	return u.reply.ret;
}
