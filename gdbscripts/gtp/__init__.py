# SPDX-License-Identifier: GPL-2.0-only
"""GDB commands for kernels, beyond those of GDB itself. Each folder says in its __init__.py what it contains."""
