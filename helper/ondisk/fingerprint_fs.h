/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fingerprints of file systems, on the device itself, in its partitions and in LVM logical volumes.
 * They show most writes that leave the first and last 64 KiB of the origin unchanged. They cover
 * only metadata, so they miss file data that is overwritten in place.
 *
 * The file system is untrusted input: nothing is read beyond the end of the device, and each parser
 * reads a bounded number of bytes.
 */
#ifndef HELPER_ONDISK_FINGERPRINT_FS_H
#define HELPER_ONDISK_FINGERPRINT_FS_H

#include "block/device.h"
#include "nearcache_format.h"
#include "ondisk/partition_table.h"
#include "ondisk/volume_map.h"

#define FSPRINT_SIZE	32
/* Bytes per entry of struct fsprint_places, and most entries. */
#define FSPRINT_PLACE	65536U
#define FSPRINT_PLACES	2048U
/*
 * Limits for hostile content: volumes inside each other; volumes that are looked into; bytes read;
 * reads of volumes inside, where a partition table counts as FSPRINT_TABLE_READS. Volumes
 * beyond these limits count as unknown.
 */
#define FSPRINT_DEPTH	4U
#define FSPRINT_VOLUMES	512U
#define FSPRINT_READ	(256ULL << 20)
#define FSPRINT_READS	16384U
#define FSPRINT_TABLE_READS	16U
/* Most bytes that count for NEARCACHE_FP_MORE. */
#define FSPRINT_MORE	(64ULL << 20)

/**
 * struct fsprint_places - where the metadata lies that a fingerprint covers
 * @places: entries of @place; further ones are left out
 * @place: byte of the device divided by FSPRINT_PLACE; an entry may stand twice
 */
struct fsprint_places {
	unsigned int places;
	uint64_t place[FSPRINT_PLACES];
};

/**
 * struct fsprint_result - what the content of a device is, as far as it is known
 * @type: NEARCACHE_FP_EXT4 (also for ext2 and ext3), _XFS, _EROFS, _BTRFS, _VOLUMES, or _NONE
 * @digest: fingerprint of type @type + NEARCACHE_FP_MORE
 * @former: fingerprint of type @type, as former versions of nearcache record it; zero for _NONE
 * @plain_type: as @type, but of a file system on the whole device only, never _VOLUMES
 * @plain: fingerprint of that file system, as former versions record it
 * @volumes: number of partitions and logical volumes
 * @unknown: number of volumes that were not read to the end, or have content that is not
 *	recognised, alone or beside recognised content
 * @mixed: the device itself also has content that is not recognised
 * @starts: the start of the device and of each volume
 * @metadata: all that was read
 */
struct fsprint_result {
	enum nearcache_fingerprint type;
	unsigned char digest[FSPRINT_SIZE];
	unsigned char former[FSPRINT_SIZE];
	enum nearcache_fingerprint plain_type;
	unsigned char plain[FSPRINT_SIZE];
	unsigned int volumes;
	unsigned int unknown;
	bool mixed;
	struct fsprint_places starts;
	struct fsprint_places metadata;
};

struct fsprint;

int fsprint_take(const struct device *dev, uint64_t size,
		 struct fsprint_result *result);

/* Used by the parsers below. A parser returns false if the volume has another content. */
const void *fsprint_look(struct fsprint *print, uint64_t offset, size_t bytes);
void fsprint_add(struct fsprint *print, uint64_t offset, uint64_t bytes);
void fsprint_add_more(struct fsprint *print, uint64_t offset, uint64_t bytes);
void fsprint_add_data(struct fsprint *print, const void *data, size_t bytes);
void fsprint_add_number(struct fsprint *print, uint64_t number);
uint64_t fsprint_size(const struct fsprint *print);
const struct volume *fsprint_volume(const struct fsprint *print);
bool fsprint_read_table(struct fsprint *print, struct partition_table *table);
void fsprint_enter(struct fsprint *print, const struct volume *volume);
void fsprint_skip(struct fsprint *print, unsigned int volumes);

bool fsprint_ext4(struct fsprint *print);
bool fsprint_xfs(struct fsprint *print);
bool fsprint_erofs(struct fsprint *print);
bool fsprint_btrfs(struct fsprint *print);
bool fsprint_partitions(struct fsprint *print);
bool fsprint_lvm(struct fsprint *print);

#endif /* HELPER_ONDISK_FINGERPRINT_FS_H */
