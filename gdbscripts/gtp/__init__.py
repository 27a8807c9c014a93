# SPDX-License-Identifier: GPL-2.0-only
# GDB commands for kernels, beyond those of GDB itself. A file is named after the command that it implements.
