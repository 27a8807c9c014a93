// SPDX-License-Identifier: GPL-2.0-only
/* The functions of libc that the shared sources, and the compiler by itself, call. */
#include "base/base.h"

void *memcpy(void *dst, const void *src, size_t n)
{
	const char *from = src;
	char *to = dst;

	for (; n >= 8; n -= 8, from += 8, to += 8)
		__builtin_memcpy(to, from, 8);
	for (; n; n--)
		*to++ = *from++;
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	const char *from = src;
	char *to = dst;

	if (to <= from || to >= from + n)
		return memcpy(dst, src, n);
	while (n--)
		to[n] = from[n];
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	const u64 word = (u8)c * 0x0101010101010101ULL;
	char *to = dst;

	for (; n >= 8; n -= 8, to += 8)
		__builtin_memcpy(to, &word, 8);
	for (; n; n--)
		*to++ = (char)c;
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const u8 *p = s;

	for (; n; n--, p++)
		if (*p == (u8)c)
			return (void *)p;
	return NULL;
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

size_t strlen(const char *s)
{
	return strnlen(s, (size_t)-1);
}
