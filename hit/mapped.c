// SPDX-License-Identifier: GPL-2.0-only
/* Describes the mappings of a program to the code that follows its stack. */
#include "hit/mapped.h"

/* Set @to_space: an address in the mapping belongs to the segment that has its offset. */
static void set_space(struct gtp_ustack_map *map, const struct gtp_mapped_file *file, u64 offset)
{
	u32 i;

	for (i = 0; file->base && i < file->nsegments; i++)
		if (offset - file->segment[i].offset < file->segment[i].bytes)
			map->to_space = file->base + file->segment[i].addr -
					file->segment[i].offset + map->offset - map->start;
}

bool gtp_mapped_describe(const struct gtp_mapped *mapped, const struct gtp_mapped_file *file,
			 u64 addr, struct gtp_ustack_map *map)
{
	if (addr < mapped->start || addr >= mapped->end || !mapped->is_code)
		return false;
	*map = (struct gtp_ustack_map){ .start = mapped->start,
					.bytes = mapped->end - mapped->start,
					.offset = mapped->offset };
	if (!file)
		return true;
	map->cfi = file->cfi;
	set_space(map, file, addr - mapped->start + mapped->offset);
	return true;
}
