/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a manifest: a list of files and their SHA-256, in the format of sha256sum. */
#ifndef HELPER_VERIFY_MANIFEST_H
#define HELPER_VERIFY_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#define MANIFEST_DIGEST	32
/* Size of the buffer for the reason why a line is invalid, in bytes. */
#define MANIFEST_WHY	120

/* A file: @path as written in the list, @digest of its content (SHA-256), @line from 1. */
struct manifest_entry {
	char *path;
	unsigned char digest[MANIFEST_DIGEST];
	unsigned long line;
};

/* The entries in the order of the list. @room: entries that are allocated. */
struct manifest {
	struct manifest_entry *entry;
	size_t count;
	size_t room;
};

bool manifest_parse(char *line, struct manifest_entry *entry, char *why);
int manifest_read(struct manifest *manifest, const char *path);
void manifest_free(struct manifest *manifest);

#endif /* HELPER_VERIFY_MANIFEST_H */
