/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that gets its final name only when it is complete, so that readers never see half a file.
 */
#ifndef _RUN_PART_H
#define _RUN_PART_H

/**
 * struct part - a new file in the folder of its final name, accessible only to its owner
 * @fd: the file, open for writing; -1: there is none
 * @name: its temporary name; NULL: the file has no name, and the kernel removes it at the exit if
 *	it has none by then
 */
struct part {
	int fd;
	char *name;
};

/**
 * part_open() - make a file that is going to be @path
 *
 * No file that exists is touched. Return: 0, or -errno. If the program exits before
 * part_hand_over() or part_finish(), the file is removed.
 */
int part_open(struct part *p, const char *path);

/* part_hand_over - another thread finishes or drops the file from now on */
void part_hand_over(void);

/*
 * part_finish - give the file its final name, and replace a file of this name; @p->fd stays open.
 * Return 0, or -errno after removing the file
 */
int part_finish(struct part *p, const char *path);

/* part_drop - remove the file; @p->fd stays open */
void part_drop(struct part *p);

#endif /* _RUN_PART_H */
