// SPDX-License-Identifier: GPL-2.0-only
/* Counts the instructions that a pad executes, by the processor's trap flag. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

#include "pad_steps.h"
#include "user/jit/exec_user.h"

static struct {
	u64 from, len;
} code[2];

static u32 steps;

static void on_step(int sig, siginfo_t *info, void *context)
{
	u64 rip = (u64)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	for (u32 i = 0; i < ARRAY_SIZE(code); i++)
		steps += rip - code[i].from < code[i].len;
}

void pad_steps_begin(u64 start, u64 len)
{
	struct sigaction sa = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	jit_user_catch_faults();
	sigaction(SIGTRAP, &sa, NULL);
	code[0].from = start;
	code[0].len = len;
	steps = 0;
}

void pad_steps_also(u64 start, u64 len)
{
	code[1].from = start;
	code[1].len = len;
}

u32 pad_steps(void)
{
	return steps;
}
