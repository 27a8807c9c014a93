// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find functions with no arguments on the stack, from their prototypes in DWARF.
 *
 * The System V ABI passes the first six words of arguments in registers. An integer or pointer is
 * one word. A structure of up to 16 bytes passed by value takes one or two words, unless a member
 * is not aligned. For a returned structure of more than 16 bytes, its address takes one word. All
 * other arguments are on the stack. To be safe, assume that an argument of unknown type is on the
 * stack, too.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <err.h>
#include "tools/regions/prototypes.h"

enum {
	IN_REGISTERS = 6,
	ON_STACK = IN_REGISTERS + 1, /* more words than there are registers */
	DEEP_MOST = 16,		     /* maximum depth of nested structures */
};

struct walk {
	struct rgn_text *text;
	const struct rgn_image *debug;
	Dwfl_Module *module;
};

/* --- types of arguments --- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die direct;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), &direct) &&
	       !dwarf_peel_type(&direct, type);
}

static bool is_aligned(Dwarf_Die *type, u64 offset, u32 deep);

static bool member_is_aligned(Dwarf_Die *member, u64 offset, u32 deep)
{
	Dwarf_Attribute attr;
	Dwarf_Word at = 0;
	Dwarf_Die type;

	if (dwarf_hasattr(member, DW_AT_bit_size))
		return true;
	if (dwarf_attr(member, DW_AT_data_member_location, &attr) && dwarf_formudata(&attr, &at))
		return false;
	return type_of(member, &type) && is_aligned(&type, offset + at, deep + 1);
}

/* True if each member is aligned to its own size. */
static bool is_aligned(Dwarf_Die *type, u64 offset, u32 deep)
{
	Dwarf_Word size = 0;
	Dwarf_Die part;

	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_pointer_type:
		return !dwarf_aggregate_size(type, &size) && size && !(offset % size);
	case DW_TAG_array_type:
		return deep < DEEP_MOST && type_of(type, &part) &&
		       is_aligned(&part, offset, deep + 1);
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		break;
	default:
		return false;
	}
	if (deep >= DEEP_MOST || dwarf_hasattr(type, DW_AT_declaration))
		return false;
	if (dwarf_child(type, &part))
		return true;
	do {
		if (dwarf_tag(&part) == DW_TAG_member && !member_is_aligned(&part, offset, deep))
			return false;
	} while (!dwarf_siblingof(&part, &part));
	return true;
}

static bool is_float(Dwarf_Die *base)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	if (dwarf_formudata(dwarf_attr(base, DW_AT_encoding, &attr), &encoding))
		return true;
	return encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
	       encoding == DW_ATE_decimal_float;
}

/* Return how many registers an argument of the type takes. */
static u32 words_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_enumeration_type:
		return 1;
	case DW_TAG_base_type:
		if (is_float(type) || dwarf_aggregate_size(type, &size) || size > 16)
			return ON_STACK;
		return size > 8 ? 2 : 1;
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		if (dwarf_aggregate_size(type, &size) || size > 16 || !is_aligned(type, 0, 0))
			return ON_STACK;
		return (u32)(size + 7) / 8;
	default:
		return ON_STACK;
	}
}

/* --- functions --- */

static bool has_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	bool flag = false;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formflag(&attr, &flag) && flag;
}

/* Replace an out-of-line copy by its abstract origin, which has all parameters. */
static void to_origin(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	u32 i;

	for (i = 0; i < DEEP_MOST; i++) {
		if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attr), &origin))
			return;
		*die = origin;
	}
}

/*
 * Return the number of argument registers for the result: 1 for a structure that is returned in
 * memory, whose address the caller passes, otherwise 0.
 */
static u32 words_of_result(Dwarf_Die *function)
{
	Dwarf_Die type;

	if (!dwarf_hasattr_integrate(function, DW_AT_type))
		return 0;
	if (!type_of(function, &type))
		return ON_STACK;
	return words_of(&type) == ON_STACK;
}

static u32 words_of_parameters(Dwarf_Die *function)
{
	Dwarf_Die part, type;
	u32 words = 0;

	if (dwarf_child(function, &part))
		return 0;
	do {
		int tag = dwarf_tag(&part);

		if (tag == DW_TAG_unspecified_parameters)
			return ON_STACK;
		if (tag != DW_TAG_formal_parameter)
			continue;
		words += type_of(&part, &type) ? words_of(&type) : ON_STACK;
	} while (words <= IN_REGISTERS && !dwarf_siblingof(&part, &part));
	return words;
}

static bool can_wrap(Dwarf_Die *function)
{
	Dwarf_Die declared = *function;

	if (has_flag(function, DW_AT_noreturn) || !has_flag(function, DW_AT_prototyped) ||
	    dwarf_hasattr_integrate(function, DW_AT_calling_convention))
		return false;
	to_origin(&declared);
	return words_of_result(function) + words_of_parameters(&declared) <= IN_REGISTERS;
}

/*
 * Convert an address of libdw to one of the image: both assign their own addresses to the sections
 * of object files.
 */
static u64 our_address(const struct walk *w, Dwarf_Addr addr)
{
	GElf_Word section = 0;
	int base;

	if (!w->debug->relocatable)
		return addr;
	base = dwfl_module_relocate_address(w->module, &addr);
	if (base < 0 || !dwfl_module_relocation_info(w->module, (unsigned int)base, &section) ||
	    section >= w->debug->sections_n)
		return 0;
	return w->debug->sections[section].addr + addr;
}

/*
 * Mark the function at @addr. Do not mark a clone (f.isra.0, f.constprop.0), which may have other
 * arguments than the original.
 */
static void mark(const struct walk *w, u64 addr)
{
	const struct rgn_span *span = rgn_text_span(w->text, addr);
	struct rgn_function *f = span ? rgn_text_function(span, addr) : NULL;

	if (f && f->addr == addr && !strchr(f->name, '.'))
		f->flags |= RGN_FN_WRAP;
}

/*
 * Mark a function with several ranges by its first range; the other ranges have their own symbols
 * (f.cold).
 */
static void mark_ranges(const struct walk *w, Dwarf_Die *function, Dwarf_Addr bias)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &start, &end)) > 0)
		mark(w, our_address(w, start + bias));
}

static void visit(const struct walk *w, Dwarf_Die *unit, Dwarf_Addr bias)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die))
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram && can_wrap(&die))
			mark_ranges(w, &die, bias);
	} while (!dwarf_siblingof(&die, &die));
}

static bool is_c(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

void rgn_prototypes_mark(struct rgn_text *text, const struct rgn_image *debug)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct walk w = { .text = text, .debug = debug };
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	Dwfl *dwfl;

	if (!rgn_image_section(debug, ".debug_info"))
		return;
	dwfl = dwfl_begin(&callbacks);
	if (dwfl)
		w.module = dwfl_report_offline(dwfl, debug->path, debug->path, -1);
	if (!w.module)
		errx(1, "%s: %s", debug->path, dwfl_errmsg(-1));
	dwfl_report_end(dwfl, NULL, NULL);
	while ((unit = dwfl_module_nextcu(w.module, unit, &bias)))
		if (is_c(unit))
			visit(&w, unit, bias);
	dwfl_end(dwfl);
}
