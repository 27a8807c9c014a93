# SPDX-License-Identifier: GPL-2.0-only
# The blocks of the debug information around an address.
import gdb


def around(pc):
    """Yield the blocks around an address, from the inside, up to that of the function."""
    block = gdb.block_for_pc(pc)
    while block is not None and not block.is_static and not block.is_global:
        yield block
        block = block.superblock


def functions(pc):
    """Yield the blocks of functions around an address, from the inside: inlined copies, then the function itself."""
    return (block for block in around(pc) if block.function is not None)
