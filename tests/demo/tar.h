/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write POSIX (ustar) archives of WebDataset samples, and check a stream of archive bytes.
 *
 * A sample is a run of members whose names agree up to the first dot of the
 * last path component ("a/000042.jpg" and "a/000042.json" are sample a/000042).
 */
#ifndef DEMO_TAR_H
#define DEMO_TAR_H

#include <stdint.h>
#include <stdio.h>

#define TAR_BLOCK	512
#define TAR_NAME	100
#define TAR_EXTENDED	1024

/**
 * struct tar_check - state of the check of a stream
 * @skip: bytes of the current member and its padding that are still to come
 * @offset: bytes fed so far
 * @members: regular files seen
 * @samples: samples completed
 * @key: name of the current sample
 * @type: type of the current member, as in its header
 * @extended_type: 'L' (GNU) or 'x' (POSIX) if a longer name is known for the
 *	next member, otherwise 0
 * @extended_used: bytes of @extended in use
 * @extended: content of the member that holds the longer name, as far as it fits
 * @zero_blocks: zero blocks in a row; two end an archive
 * @error: the error, or ""
 */
struct tar_check {
	uint64_t skip;
	uint64_t offset;
	uint64_t members;
	uint64_t samples;
	char key[TAR_EXTENDED];
	char type;
	char extended_type;
	size_t extended_used;
	char extended[TAR_EXTENDED];
	int zero_blocks;
	char error[160];
};

/* Call before tar_check_feed() of the first byte of an archive. */
void tar_check_start(struct tar_check *check);

/* Check the next @length bytes, a multiple of TAR_BLOCK; 0, or -1 with @check->error set. */
int tar_check_feed(struct tar_check *check, const void *data, size_t length);

/* Check that the archive ends here, count its last sample; 0, or -1 with @check->error set. */
int tar_check_end(struct tar_check *check);

/*
 * Append one regular file; @name has at most TAR_NAME bytes. Returns the number of bytes appended,
 * or -1 with errno set.
 */
long tar_write_member(FILE *file, const char *name, const void *data,
		      size_t length);

/* Append the two zero blocks that end an archive; returns their size, or -1 with errno set. */
long tar_write_end(FILE *file);

#endif /* DEMO_TAR_H */
