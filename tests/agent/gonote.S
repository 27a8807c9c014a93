/* SPDX-License-Identifier: GPL-2.0-only */
/* The note with a build id that Go's linker writes into each program. */
	.section .note.go.buildid, "a", @note
	.balign	4
	.long	4, 4, 4
	.asciz	"Go\0"
	.ascii	"made"

	.section .note.GNU-stack, "", @progbits
