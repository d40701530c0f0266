/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes a header of a tar archive: v7, ustar, GNU and pax. Does no I/O. */
#ifndef HELPER_SHARD_TAR_HEADER_H
#define HELPER_SHARD_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Headers and data are padded to this size, bytes. */
#define TAR_BLOCK	512U
/* Size of a buffer for the name in a header: prefix, '/', name, NUL. */
#define TAR_NAME	257

/* Type of a member's header or of an extension header. */
enum tar_type {
	TAR_FILE	= '0',
	TAR_FILE_OLD	= '\0',
	TAR_HARD_LINK	= '1',
	TAR_SOFT_LINK	= '2',
	TAR_DIRECTORY	= '5',
	TAR_FIFO	= '6',
	TAR_CONTIGUOUS	= '7',
	TAR_LONG_NAME	= 'L',
	TAR_LONG_LINK	= 'K',
	TAR_CONTINUED	= 'M',
	TAR_SPARSE	= 'S',
	TAR_PAX		= 'x',
	TAR_PAX_SUN	= 'X',
	TAR_PAX_GLOBAL	= 'g',
};

/* A record of a pax header. Its strings point into the header, and no NUL ends them. */
struct pax_record {
	const char *key;
	size_t key_length;
	const char *value;
	size_t value_length;
};

bool tar_is_end(const unsigned char *block);
bool tar_is_sound(const unsigned char *block);
enum tar_type tar_type(const unsigned char *block);
const char *tar_size(const unsigned char *block, uint64_t *size);
void tar_name(const unsigned char *block, char *name);

size_t pax_next(const char *text, size_t bytes, struct pax_record *record);
bool pax_is(const struct pax_record *record, const char *key);
bool pax_number(const struct pax_record *record, uint64_t *number);

#endif /* HELPER_SHARD_TAR_HEADER_H */
