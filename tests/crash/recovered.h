/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel would serve from a cache device that a crash left: its own sources
 * (kmod/format.c, kmod/recover.c) say what counts, and each sector of it is looked at.
 */
#ifndef NEARCACHE_CRASH_RECOVERED_H
#define NEARCACHE_CRASH_RECOVERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nearcache_witness;

/* Kinds of metadata. */
#define RECOVER_PLACES	8U
#define RECOVER_TABLE	2U
#define RECOVER_BEHIND	6U

/**
 * struct recovered - what was found
 * @origin_sectors: size of the origin, as the superblock has it
 * @blocks: of which something is cached
 * @bytes: in valid sub-blocks
 * @stale: sectors that the origin holds, or held, another generation of
 * @torn: sectors that are damaged, zero, or another sector's
 * @lost: 1 if no superblock is sound: the device would be refused
 * @damaged: table pages of which neither copy counts
 * @cold: 1 if the superblock, the witness or another device says that the table is not to be used
 * @doubt: 1 if the ends of the origin were being written: nothing is used, either
 * @marked: bytes that the table calls valid and a mark of write intent does not
 * @misprinted: 1 if the superblock's fingerprint is not that of the origin's ends
 * @unsound: sub-blocks that do not fit their checksums: the kernel would read them
 *	from the origin, and say that the cache device damaged them
 * @older: pages whose newer copy is torn and whose older one counts
 * @differs: number of the device behind the first that was not in use with the others, or 0
 * @begun: 1 if one of them knows of a commit that the first one does not
 */
struct recovered {
	uint64_t origin_sectors, blocks, bytes, stale, torn, lost, damaged, cold, unsound, older;
	uint64_t doubt, marked, misprinted, differs, begun;
};

/**
 * struct truth - what may be served of each sector of the origin
 * @origin: what it holds
 * @witness: record on the witness device, or NULL
 * @changing: others are changing it: what it held, too
 * @oldest: but nothing older than this generation
 * @devices: cache devices, of one size, one behind the other
 */
struct truth {
	const unsigned char *origin;
	const struct nearcache_witness *witness;
	bool *changing;
	uint64_t *oldest;
	unsigned int devices;
};

void recover_geometry(const unsigned char *cache, size_t bytes, unsigned int devices);
bool recover_is_metadata(uint64_t sector);
bool recover_named(const unsigned char *cache, uint64_t n, uint64_t *sector);
bool recover_place(unsigned int kind, uint64_t n, uint64_t *sector);
void recover(const unsigned char *cache, size_t bytes, const struct truth *truth,
	     struct recovered *out);

#endif /* NEARCACHE_CRASH_RECOVERED_H */
