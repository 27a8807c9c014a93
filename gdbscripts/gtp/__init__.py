# SPDX-License-Identifier: GPL-2.0-only
# GDB commands for what GDB itself does not know about kernels: one command in each file.
