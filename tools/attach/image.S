/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent's image, which the makefile has built, as data of this program. */
	.section .rodata
	.globl	agent_image, agent_image_end
	.balign	64
agent_image:
	.incbin	AGENT_IMAGE
agent_image_end:

	.section .note.GNU-stack, "", @progbits
