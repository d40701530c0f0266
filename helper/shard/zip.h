/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A zip file, which is read from its end: the end record says where the central
 * directory is, which has an entry for each member, which says where the member is.
 * zip64 puts another end record before it, and a field into entries, for what does not
 * fit into 32 bits.
 */
#ifndef HELPER_SHARD_ZIP_H
#define HELPER_SHARD_ZIP_H

#include "shard/reader.h"

/**
 * struct zip - the frame of a zip file
 * @scan: the file
 * @entries: members
 * @directory: where the central directory is, bytes
 * @end: where it ends, bytes
 */
struct zip {
	struct index_scan *scan;
	uint64_t entries;
	uint64_t directory;
	uint64_t end;
};

/**
 * struct zip_entry - a member, by the central directory
 * @next: where the next entry is, bytes
 * @name: where its name is, bytes
 * @name_bytes: how long
 * @encrypted: it is
 * @local: where the member is, bytes
 * @size: of its data, as stored, bytes
 */
struct zip_entry {
	uint64_t next;
	uint64_t name;
	uint16_t name_bytes;
	bool encrypted;
	uint64_t local;
	uint64_t size;
};

int zip_open(struct zip *zip, struct index_scan *scan);
int zip_entry(const struct zip *zip, uint64_t at, struct zip_entry *entry);
int zip_data(const struct zip *zip, uint64_t local, const char *name,
	     uint64_t *data);

#endif /* HELPER_SHARD_ZIP_H */
