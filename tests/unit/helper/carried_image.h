/* SPDX-License-Identifier: GPL-2.0-only */
/* Images of a cache device, a log and a witness in sparse files, for tests of programs that probe. */
#ifndef HELPER_CARRIED_IMAGE_H
#define HELPER_CARRIED_IMAGE_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "ondisk/layout.h"
#include "ondisk/stage_log.h"
#include "ondisk/superblock.h"

#define CARRIED_BYTES	(32ULL << 20)
#define CARRIED_CACHE	"11111111-2222-3333-4444-555555555555"
#define CARRIED_LOG	"66666666-7777-8888-9999-aaaaaaaaaaaa"
#define CARRIED_OTHER	"bbbbbbbb-cccc-dddd-eeee-ffffffffffff"

static inline void carried_put(int fd, const void *data, size_t bytes, off_t at)
{
	if (pwrite(fd, data, bytes, at) != (ssize_t)bytes)
		abort();
}

/* Open an empty image of @bytes bytes. */
static inline int carried_open(const char *path, uint64_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		abort();
	return fd;
}

/* Both superblocks of a cache device. @label: at most 63 bytes. */
static inline void carried_cache(int fd, const char *label)
{
	struct nearcache_super sb = { .version = cpu_to_le32(NEARCACHE_VERSION) };
	struct layout layout;
	char why[NC_WHY_SIZE];

	if (!layout_compute(&layout, CARRIED_BYTES, 64 << 10, false, 64ULL << 20, 512, 512, why))
		abort();
	layout_to_super(&layout, &sb);
	memcpy(sb.magic, NEARCACHE_MAGIC, sizeof(sb.magic));
	uuid_parse(CARRIED_CACHE, sb.uuid);
	strncpy((char *)sb.label, label, sizeof(sb.label) - 1);
	sb.sequence = cpu_to_le64(1);
	sb.table_epoch = cpu_to_le64(1);
	nc_super_seal(&sb);
	carried_put(fd, &sb, sizeof(sb), NEARCACHE_SUPER_OFFSET_0);
	carried_put(fd, &sb, sizeof(sb), NEARCACHE_SUPER_OFFSET_1);
}

/* Both superblocks of a log. */
static inline void carried_log(int fd, const char *label)
{
	struct nearcache_stage_super sb = {
		.version = cpu_to_le32(NEARCACHE_STAGE_VERSION),
		.sequence = cpu_to_le64(1),
		.volume_sectors = cpu_to_le64(1 << 17),
		.ring_blocks = cpu_to_le64(stage_log_ring_blocks(CARRIED_BYTES)),
	};

	memcpy(sb.magic, NEARCACHE_STAGE_MAGIC, sizeof(sb.magic));
	uuid_parse(CARRIED_LOG, sb.uuid);
	strncpy((char *)sb.label, label, sizeof(sb.label) - 1);
	stage_log_seal(&sb);
	carried_put(fd, &sb, sizeof(sb), NEARCACHE_STAGE_SUPER_OFFSET_0);
	carried_put(fd, &sb, sizeof(sb), NEARCACHE_STAGE_SUPER_OFFSET_1);
}

/* Record @at of a witness, for the cache @uuid. */
static inline void carried_record(int fd, unsigned int at, const char *uuid, u32 state)
{
	struct nearcache_witness record;
	uuid_t parsed;

	uuid_parse(uuid, parsed);
	nc_witness_init(&record, parsed);
	record.session = cpu_to_le64(1);
	record.state = cpu_to_le32(state);
	nc_witness_seal(&record);
	carried_put(fd, &record, sizeof(record), (off_t)at * NEARCACHE_WITNESS_SIZE);
}

/* Change a byte that a checksum covers, and nothing else checks. */
static inline void carried_damage(int fd, off_t at)
{
	carried_put(fd, "\xff", 1, at + 4000);
}

#endif /* HELPER_CARRIED_IMAGE_H */
