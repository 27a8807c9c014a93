/* SPDX-License-Identifier: GPL-2.0-only */
/* Job: the functions by which the units of the test program call each other. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stddef.h>

/* The compiler must not adapt a function to its callers. */
#define alone __attribute__((__noipa__))

struct holder;
struct big;
struct small;
struct two;
struct wide;
struct keyed;
union odd;
struct hlist_head;
struct list_head;

int in_none(struct holder *held, long count);
int in_one(void *pointer, long count);
int in_two(void *pointer, long count);

int ret_int(void);
unsigned int ret_unsigned(void);
short ret_short(void);
char ret_char(void);
bool ret_bool(void);
unsigned char ret_byte(void);
enum shade { BLACK, WHITE };
enum shade ret_shade(void);
long ret_long(void);
unsigned long ret_ulong(void);
struct big *ret_pointer(void);
void ret_nothing(void);
struct big ret_large(void);
struct small ret_small(void);
struct two ret_two(void);

int values(void);
extern struct wide wide;
extern unsigned __int128 huge;
extern struct hlist_head none;
extern struct list_head empty;
extern struct keyed keyed;
extern union odd odd;

#endif
