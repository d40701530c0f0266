/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data that the kernel would serve from a cache device after a crash.  kmod/meta/format.c and
 * recover.c decide which metadata counts; recover() then checks each sector of valid data.
 */
#ifndef NEARCACHE_CRASH_RECOVERED_H
#define NEARCACHE_CRASH_RECOVERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nearcache_witness;

/* Number of kinds of metadata; kind "slot table"; first kind that is only on members 1 and up. */
#define RECOVER_PLACES	8U
#define RECOVER_TABLE	2U
#define RECOVER_BEHIND	6U

/**
 * struct recovered - result of recover()
 * @origin_sectors: size of the origin according to the superblock
 * @blocks: blocks with cached data
 * @bytes: bytes in valid sub-blocks
 * @stale: valid sectors that differ from the origin and that @changing and @oldest do not allow
 * @torn: valid sectors without a valid generation: damaged, zero, or with data of another sector
 * @lost: 1 if no superblock copy is valid: the kernel would refuse the device
 * @damaged: table pages of which neither copy is valid
 * @cold: 1 if the superblock, the witness or another device forbids the use of the slot table
 * @doubt: 1 if the ends of the origin were being written: the fingerprint proves nothing, and the
 *	slot table is not used
 * @marked: bytes that are valid in the slot table but in a region that the write intent marks
 * @misprinted: 1 if the superblock's fingerprint is not that of the origin's ends
 * @unsound: sub-blocks that fail their checksums: the kernel would read them from the origin
 *	and report that the cache device damaged them
 * @older: pages whose newer copy is torn and whose older copy counts
 * @differs: number of the first device that does not match device 0; 0: all match
 * @begun: 1 if another device has recorded a commit that device 0 has not
 */
struct recovered {
	uint64_t origin_sectors, blocks, bytes, stale, torn, lost, damaged, cold, unsound, older;
	uint64_t doubt, marked, misprinted, differs, begun;
};

/**
 * struct truth - allowed content of each sector of the origin
 * @origin: current content
 * @witness: record on the witness device, or NULL
 * @changing: per sector: another host is changing it, so generations from @oldest on are allowed
 * @oldest: per sector: the oldest generation allowed
 * @devices: number of cache devices, of one size, concatenated
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
