/* SPDX-License-Identifier: GPL-2.0-only */
/* The beginning of the image; user/agent/image.h describes it. */
	.section .head, "a", @progbits
	.globl	gtp_agent_head, gtp_agent_where, gtp_agent_data
	.balign	64
gtp_agent_head:
	.ascii	"gtagent1"
gtp_agent_where:
	.quad	0
gtp_agent_data:
	.quad	0
	.long	__rela_start - .
	.long	__rela_end - .
	.long	__image_end - .
	.long	gtp_agent_pad_hit - .
	.long	gtp_agent_hit_ops - .
	.long	jit_stub_calls - .
	.long	gtp_agent_no_actions - .

	.section .note.GNU-stack, "", @progbits
