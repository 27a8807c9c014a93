// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tell the characters that a terminal shows from those that it acts upon: escape sequences,
 * newlines in names, characters that change the direction of others.
 */
#include "base/visible.h"

/*
 * True for code points without a glyph: C1 controls, blanks other than the space, what Unicode
 * calls Default_Ignorable_Code_Point (DerivedCoreProperties.txt), format controls, surrogates,
 * private use. XML does not allow some of them either.
 */
static bool is_unseen(u32 c)
{
	static const struct {
		u32 first, last;
	} unseen[] = {
		{ 0x80, 0xa0 },	      { 0xad, 0xad },	     { 0x34f, 0x34f },
		{ 0x61c, 0x61c },     { 0x115f, 0x1160 },    { 0x1680, 0x1680 },
		{ 0x17b4, 0x17b5 },   { 0x180b, 0x180f },    { 0x2000, 0x200f },
		{ 0x2028, 0x202f },   { 0x205f, 0x206f },    { 0x3000, 0x3000 },
		{ 0x3164, 0x3164 },   { 0xd800, 0xf8ff },    { 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },    { 0xfff0, 0xfffb },
		{ 0xfffe, 0xffff },   { 0x13430, 0x1343f },  { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0x10ffff },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unseen); i++)
		if (c >= unseen[i].first && c <= unseen[i].last)
			return true;
	return false;
}

u32 gtp_visible_length(const char *text, size_t left)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const u8 *b = (const u8 *)text;
	u32 len = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : 4, i, c;

	if (len == 1)
		return b[0] >= ' ' && b[0] < 0x7f;
	if (len > left || b[0] < 0xc0 || b[0] >= 0xf8)
		return 0;
	c = b[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if (b[i] >> 6 != 2)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	return c < least[len] || c > 0x10ffff || is_unseen(c) ? 0 : len;
}

void gtp_visible_only(char *text)
{
	size_t left = strlen(text);
	u32 n;

	while (left) {
		n = gtp_visible_length(text, left);
		if (!n) {
			*text = '?';
			n = 1;
		}
		text += n;
		left -= n;
	}
}
