// SPDX-License-Identifier: GPL-2.0-only
/*
 * Format a log for the target nearcache-stage.
 *
 *	stage_format LOG VOLUME_SECTORS [SEED]
 *
 * Uuid and salt come from SEED (default 1), so that two runs write the same bytes.
 */
#include <endian.h>
#include <string.h>

#include "nearcache_stage.h"
#include "crc32c.h"
#include "device.h"

static unsigned long long seed = 1;

/* SplitMix64. */
static __u64 next_random(void)
{
	__u64 n = seed += 0x9e3779b97f4a7c15ULL;

	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ULL;
	n = (n ^ n >> 27) * 0x94d049bb133111ebULL;
	return n ^ n >> 31;
}

static void write_super(int fd, struct nearcache_stage_super *sb, __u64 sequence, off_t at)
{
	sb->sequence = htole64(sequence);
	sb->checksum = 0;
	sb->checksum = htole32(~crc32_iscsi((unsigned char *)sb, sizeof(*sb), ~0U));
	write_exactly(fd, sb, sizeof(*sb), at);
}

int main(int argc, char **argv)
{
	struct nearcache_stage_super *sb = aligned_room(NEARCACHE_STAGE_SUPER_SIZE);
	__u64 blocks, part[2];
	off_t size;
	int fd;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: stage_format LOG VOLUME_SECTORS [SEED]\n");
		return 2;
	}
	if (argc == 4)
		seed = strtoull(argv[3], NULL, 0);
	fd = device_open(argv[1], O_RDWR | O_DSYNC);
	size = lseek(fd, 0, SEEK_END);
	blocks = size < (off_t)NEARCACHE_STAGE_RING_OFFSET ? 0 :
		 (size - NEARCACHE_STAGE_RING_OFFSET) / NEARCACHE_STAGE_BLOCK;
	if (blocks < NEARCACHE_STAGE_BLOCKS_MIN) {
		fprintf(stderr, "%s: %lld bytes; a log needs 17 MiB or more\n", argv[1],
			(long long)size);
		return 1;
	}
	memset(sb, 0, sizeof(*sb));
	write_exactly(fd, sb, NEARCACHE_STAGE_BLOCK, NEARCACHE_STAGE_RING_OFFSET);
	memcpy(sb->magic, NEARCACHE_STAGE_MAGIC, sizeof(sb->magic));
	sb->version = htole32(NEARCACHE_STAGE_VERSION);
	part[0] = next_random();
	part[1] = next_random();
	memcpy(sb->uuid, part, sizeof(sb->uuid));
	sb->volume_sectors = htole64(strtoull(argv[2], NULL, 0));
	sb->ring_blocks = htole64(blocks);
	sb->salt = htole64(next_random());
	sb->tail_number = htole64(1);
	sb->tail_epoch = htole64(1);
	write_super(fd, sb, 1, NEARCACHE_STAGE_SUPER_OFFSET_0);
	write_super(fd, sb, 2, NEARCACHE_STAGE_SUPER_OFFSET_1);
	return 0;
}
