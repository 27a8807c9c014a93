// SPDX-License-Identifier: GPL-2.0-only
/*
 * Use libdw to list the tags that a file with DWARF defines more than once with different layouts.
 *
 * Usage: tags VMLINUX
 *
 * Print a line for each compile unit that contains code and defines such a tag:
 *
 *	WORD TAG SIZE ADDRESS UNIT MEMBER=OFFSET...
 *
 * ADDRESS is where the unit's first function begins. The line leaves out bit fields and members
 * without a name. Of several units with the same layout, only the first gets a line. All lines of
 * one tag are adjacent.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <err.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layout {
	struct layout *next;
	char *text; /* SIZE, and the members */
	char *unit;
	Dwarf_Addr address;
};

struct tag {
	struct tag *next;
	char *name; /* WORD TAG */
	struct layout *layouts;
	unsigned int different;
};

static struct tag *tags;
static void *tree;

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tag *)a)->name, ((const struct tag *)b)->name);
}

static struct tag *tag_of(const char *word, const char *name)
{
	struct tag key = {}, **found, *tag;

	if (asprintf(&key.name, "%s %s", word, name) < 0)
		err(1, "asprintf");
	found = tfind(&key, &tree, by_name);
	if (found) {
		free(key.name);
		return *found;
	}
	tag = calloc(1, sizeof(*tag));
	if (!tag)
		err(1, "calloc");
	*tag = key;
	tag->next = tags;
	tags = tag;
	tsearch(tag, &tree, by_name);
	return tag;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name, Dwarf_Word otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return otherwise;
	return value;
}

static int is_bit_field(Dwarf_Die *member)
{
	return dwarf_hasattr(member, DW_AT_bit_size) ||
	       dwarf_hasattr(member, DW_AT_data_bit_offset);
}

/* Return a structure's SIZE and members as text. The caller must free the text. */
static char *text_of(Dwarf_Die *structure)
{
	Dwarf_Die member;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int more;

	if (!file)
		err(1, "open_memstream");
	fprintf(file, "%lu", number_of(structure, DW_AT_byte_size, 0));
	for (more = dwarf_child(structure, &member); !more;
	     more = dwarf_siblingof(&member, &member)) {
		if (dwarf_tag(&member) != DW_TAG_member || is_bit_field(&member) ||
		    !dwarf_diename(&member))
			continue;
		fprintf(file, " %s=%lu", dwarf_diename(&member),
			number_of(&member, DW_AT_data_member_location, 0));
	}
	fclose(file);
	return text;
}

static void add(struct tag *tag, char *text, const char *unit, Dwarf_Addr address)
{
	struct layout *layout;

	for (layout = tag->layouts; layout; layout = layout->next) {
		if (!strcmp(layout->text, text)) {
			free(text);
			return;
		}
	}
	layout = calloc(1, sizeof(*layout));
	if (!layout)
		err(1, "calloc");
	*layout = (struct layout){ tag->layouts, text, strdup(unit), address };
	tag->layouts = layout;
	tag->different++;
}

/* Return the address of the first function of a unit, or 0 if the unit has no function. */
static Dwarf_Addr first_function(Dwarf_Die *unit)
{
	Dwarf_Addr address;
	Dwarf_Die die;
	int more;

	for (more = dwarf_child(unit, &die); !more; more = dwarf_siblingof(&die, &die))
		if (dwarf_tag(&die) == DW_TAG_subprogram && !dwarf_lowpc(&die, &address) && address)
			return address;
	return 0;
}

static void read_unit(Dwarf_Die *unit)
{
	Dwarf_Addr address = first_function(unit);
	Dwarf_Die die;
	int more;

	if (!address)
		return;
	for (more = dwarf_child(unit, &die); !more; more = dwarf_siblingof(&die, &die)) {
		int kind = dwarf_tag(&die);
		const char *name;

		if (kind != DW_TAG_structure_type && kind != DW_TAG_union_type)
			continue;
		name = dwarf_diename(&die);
		if (!name || dwarf_hasattr(&die, DW_AT_declaration))
			continue;
		add(tag_of(kind == DW_TAG_union_type ? "union" : "struct", name), text_of(&die),
		    dwarf_diename(unit), address);
	}
}

int main(int argc, char **argv)
{
	Dwarf_Off offset = 0, next;
	unsigned int units = 0;
	Dwarf *dwarf;
	size_t head;
	int fd;

	if (argc != 2)
		errx(2, "usage: tags VMLINUX");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!dwarf)
		errx(1, "%s: %s", argv[1], dwarf_errmsg(-1));
	for (; !dwarf_nextcu(dwarf, offset, &next, &head, NULL, NULL, NULL);
	     offset = next, units++) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + head, &unit))
			read_unit(&unit);
	}
	if (!units)
		errx(1, "%s has no DWARF", argv[1]);
	for (struct tag *tag = tags; tag; tag = tag->next)
		for (struct layout *layout = tag->different > 1 ? tag->layouts : NULL; layout;
		     layout = layout->next) {
			char *size = strsep(&layout->text, " ");

			printf("%s %s %#lx %s %s\n", tag->name, size, layout->address, layout->unit,
			       layout->text ?: "");
		}
	return 0;
}
