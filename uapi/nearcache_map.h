/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The content of a device of the target nearcache-map: which units of a volume a cache holds, and
 * how recently they were read.
 *
 * The first NEARCACHE_MAP_PAGE bytes are struct nearcache_map_header, then zeros.  Behind them is
 * one byte for each unit of the volume, in the order of the volume, then zeros up to a multiple of
 * NEARCACHE_MAP_PAGE.  Nothing is stored: each read sees the cache at the time of the read.  While
 * the reads of the cache go to the origin (bypass, degraded), the bytes of all units are 0.
 */
#ifndef NEARCACHE_MAP_UAPI_H
#define NEARCACHE_MAP_UAPI_H

#include <linux/types.h>

#define NEARCACHE_MAP_MAGIC	"nc-map\r\n"
#define NEARCACHE_MAP_VERSION	1
#define NEARCACHE_MAP_PAGE	4096U
/* A unit has 1 to this number of blocks of the cache. */
#define NEARCACHE_MAP_BLOCKS_MAX	256U

/**
 * struct nearcache_map_header - the first 64 bytes; all numbers are little-endian
 * @magic: NEARCACHE_MAP_MAGIC without its NUL
 * @version: NEARCACHE_MAP_VERSION; another version has another layout
 * @header_bytes: NEARCACHE_MAP_PAGE, where the bytes of the units begin
 * @volume_bytes: size of the volume when the device of the map was made
 * @unit_bytes: size of a unit, a power of two; the last unit may be shorter
 * @reserved: 0
 * @checksum: CRC-32C (start value and final xor ~0) of the bytes before @checksum
 */
struct nearcache_map_header {
	__u8 magic[8];
	__le32 version;
	__le32 header_bytes;
	__le64 volume_bytes;
	__le64 unit_bytes;
	__u8 reserved[28];
	__le32 checksum;
};

/*
 * The byte of a unit; 0: nothing of the unit is cached.
 * Low four bits, its share: NEARCACHE_MAP_ALL if all of the unit is cached, otherwise 1 to 14, in
 * proportion to the cached bytes.
 * High four bits, its heat, 0 to 15.  Let D be the bytes that were read through the cache since the
 * last read of any of the unit's cached blocks, in whole sixteenths of the cache's size.  The heat
 * is 15 if D is 0, 14 if D is 1, and one less for each doubling of D.
 */
#define NEARCACHE_MAP_SHARE	0x0fU
#define NEARCACHE_MAP_ALL	0x0fU
#define NEARCACHE_MAP_HEAT_SHIFT	4

/**
 * nearcache_map_bytes() - size of the device of a map
 * @volume_bytes: size of the volume
 * @unit_bytes: size of a unit, a power of two
 */
static inline __u64 nearcache_map_bytes(__u64 volume_bytes, __u64 unit_bytes)
{
	__u64 page = NEARCACHE_MAP_PAGE;
	__u64 units = (volume_bytes + unit_bytes - 1) >> __builtin_ctzll(unit_bytes);

	return page + ((units + page - 1) & ~(page - 1));
}

#endif /* NEARCACHE_MAP_UAPI_H */
