/* SPDX-License-Identifier: GPL-2.0-only */
/* A list of files with their SHA-256, as sha256sum writes it. */
#ifndef HELPER_VERIFY_MANIFEST_H
#define HELPER_VERIFY_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#define MANIFEST_DIGEST	32
/* Room for a reason. */
#define MANIFEST_WHY	120

/**
 * struct manifest_entry - one file
 * @path: as it is in the list
 * @digest: SHA-256 of its content
 * @line: number of its line, from 1
 */
struct manifest_entry {
	char *path;
	unsigned char digest[MANIFEST_DIGEST];
	unsigned long line;
};

/**
 * struct manifest - all files
 * @entry: in the order of the list
 * @count: how many
 * @room: that fit
 */
struct manifest {
	struct manifest_entry *entry;
	size_t count;
	size_t room;
};

bool manifest_parse(char *line, struct manifest_entry *entry, char *why);
int manifest_read(struct manifest *manifest, const char *path);
void manifest_free(struct manifest *manifest);

#endif /* HELPER_VERIFY_MANIFEST_H */
