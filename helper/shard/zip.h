/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a zip file from its end: the end record has the offset of the central directory, whose
 * entries have the offsets of the members. zip64 adds a second end record and an extra field
 * in entries for values that exceed 32 bits.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 * All offsets and sizes are in bytes.
 */
#ifndef HELPER_SHARD_ZIP_H
#define HELPER_SHARD_ZIP_H

#include "shard/reader.h"

/* Bytes of a local header, which the name follows, and offset of the name's length in it. */
#define ZIP_LOCAL_BYTES		30U
#define ZIP_LOCAL_NAME_BYTES	26U

/**
 * struct zip - an open zip file
 * @scan: the file
 * @entries: number of members
 * @directory: offset of the central directory
 * @end: offset of the end of the central directory
 */
struct zip {
	struct index_scan *scan;
	uint64_t entries;
	uint64_t directory;
	uint64_t end;
};

/**
 * struct zip_entry - an entry of the central directory
 * @next: offset of the next entry
 * @name: offset of the member's name
 * @name_bytes: length of the name
 * @encrypted: the member is encrypted
 * @local: offset of the member's local header
 * @size: size of the member's data as stored
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
