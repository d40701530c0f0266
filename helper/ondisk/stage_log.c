// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/stage_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <uuid/uuid.h>

#include "lib/error.h"

_Static_assert(sizeof(struct nearcache_stage_super) == NEARCACHE_STAGE_SUPER_SIZE,
	       "size of a superblock");
_Static_assert(sizeof(((struct nearcache_stage_super *)0)->origin_id) == DEVICE_ID,
	       "size of a device id");

u64 stage_log_offset(unsigned int copy)
{
	return copy ? NEARCACHE_STAGE_SUPER_OFFSET_1 : NEARCACHE_STAGE_SUPER_OFFSET_0;
}

/* Log blocks of the ring of a log on a device of this size. */
u64 stage_log_ring_blocks(u64 device_bytes)
{
	if (device_bytes < NEARCACHE_STAGE_RING_OFFSET)
		return 0;
	return (device_bytes - NEARCACHE_STAGE_RING_OFFSET) / NEARCACHE_STAGE_BLOCK;
}

static u32 stage_checksum(const struct nearcache_stage_super *sb)
{
	size_t hole = offsetof(struct nearcache_stage_super, checksum);
	size_t behind = hole + sizeof(sb->checksum);
	static const u8 zero[sizeof(sb->checksum)];
	const u8 *p = (const u8 *)sb;
	u32 crc = crc_extend(crc_extend(0, p, hole), zero, sizeof(zero));

	return crc_extend(crc, p + behind, sizeof(*sb) - behind);
}

void stage_log_seal(struct nearcache_stage_super *sb)
{
	sb->checksum = cpu_to_le32(stage_checksum(sb));
}

static bool is_text(const u8 *field, size_t size)
{
	return memchr(field, 0, size);
}

static bool numbers_fit(const struct nearcache_stage_super *sb)
{
	const __le64 *number[] = {
		&sb->sequence, &sb->generation, &sb->tail, &sb->tail_number, &sb->tail_epoch,
		&sb->drained_number, &sb->drained_epoch,
	};
	unsigned int i;

	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		if (le64_to_cpu(*number[i]) > NEARCACHE_STAGE_NUMBER_MAX)
			return false;
	return true;
}

/* Check one copy as read.  @why: NC_WHY_SIZE bytes, set to the reason if it is not valid. */
bool stage_log_check(const struct nearcache_stage_super *sb, u64 device_bytes, char *why)
{
	u64 blocks = le64_to_cpu(sb->ring_blocks), sectors = le64_to_cpu(sb->volume_sectors);

	if (memcmp(sb->magic, NEARCACHE_STAGE_MAGIC, sizeof(sb->magic)))
		snprintf(why, NC_WHY_SIZE, "no magic of a log");
	else if (le32_to_cpu(sb->checksum) != stage_checksum(sb))
		snprintf(why, NC_WHY_SIZE, "checksum is wrong");
	else if (le32_to_cpu(sb->version) != NEARCACHE_STAGE_VERSION)
		snprintf(why, NC_WHY_SIZE, "version %u of a log, this program knows version %u",
			 le32_to_cpu(sb->version), NEARCACHE_STAGE_VERSION);
	else if (blocks < NEARCACHE_STAGE_BLOCKS_MIN || blocks > NEARCACHE_STAGE_BLOCKS_MAX ||
		 blocks > stage_log_ring_blocks(device_bytes))
		snprintf(why, NC_WHY_SIZE,
			 "ring of %llu blocks on a device of %llu bytes: was the device made smaller?",
			 (unsigned long long)blocks, (unsigned long long)device_bytes);
	else if (!sectors || sectors > NEARCACHE_STAGE_NUMBER_MAX >> 9)
		snprintf(why, NC_WHY_SIZE, "volume of %llu sectors", (unsigned long long)sectors);
	else if (!numbers_fit(sb) || !is_text(sb->origin_id, sizeof(sb->origin_id)) ||
		 !is_text(sb->label, sizeof(sb->label)))
		snprintf(why, NC_WHY_SIZE, "a field is out of range");
	else
		return true;
	return false;
}

/* True if all writes of the log are on the origin, as close recorded, and no start followed. */
bool stage_log_drained(const struct nearcache_stage_super *sb)
{
	return sb->drained_generation == sb->generation;
}

static int read_copy(struct stage_log *log, const struct device *dev, unsigned int i)
{
	struct nearcache_stage_super *sb = device_buffer(NEARCACHE_STAGE_SUPER_SIZE);

	log->copy[i] = sb;
	if (!sb)
		return fail_code();
	if (dev->size >= stage_log_offset(i) + NEARCACHE_STAGE_SUPER_SIZE &&
	    device_read(dev, sb, NEARCACHE_STAGE_SUPER_SIZE, stage_log_offset(i)))
		return fail_code();
	log->magic[i] = !memcmp(sb->magic, NEARCACHE_STAGE_MAGIC, sizeof(sb->magic));
	log->sound[i] = stage_log_check(sb, dev->size, log->why[i]);
	return 0;
}

static const struct nearcache_stage_super *choose_copy(struct stage_log *log)
{
	const struct nearcache_stage_super *a = log->copy[0], *b = log->copy[1];

	if (!log->sound[0] || !log->sound[1])
		return log->sound[0] ? a : log->sound[1] ? b : NULL;
	/* A run was killed while it formatted a log over another one: neither is trustworthy. */
	if (memcmp(a->uuid, b->uuid, sizeof(a->uuid))) {
		snprintf(log->why[0], NC_WHY_SIZE, "uuid differs between the two copies");
		return NULL;
	}
	return le64_to_cpu(b->sequence) > le64_to_cpu(a->sequence) ? b : a;
}

/*
 * Read and check both copies.  Call stage_log_free() even after a failure.  Returns 0 even if no
 * copy is valid: log->best is then NULL, and stage_log_require() fails.
 */
int stage_log_read(struct stage_log *log, const struct device *dev)
{
	memset(log, 0, sizeof(*log));
	if (read_copy(log, dev, 0) || read_copy(log, dev, 1))
		return fail_code();
	log->best = choose_copy(log);
	return 0;
}

/* Fail if there is no valid copy; the message says why. */
int stage_log_require(const struct stage_log *log, const struct device *dev)
{
	if (log->best)
		return 0;
	if (!log->magic[0] && !log->magic[1])
		return fail(CODE_DEVICE,
			    "%s '%s' carries no log: 'nearcache create --stage DEV' makes one",
			    dev->role, dev->path);
	return fail(CODE_DEVICE, "the log on %s '%s' is not usable: %s", dev->role, dev->path,
		    log->why[log->magic[0] ? 0 : 1]);
}

void stage_log_free(struct stage_log *log)
{
	free(log->copy[0]);
	free(log->copy[1]);
	memset(log, 0, sizeof(*log));
}

static int compose_super(struct nearcache_stage_super *sb, const struct device *dev,
			 const struct device *origin, const char *label)
{
	memset(sb, 0, sizeof(*sb));
	memcpy(sb->magic, NEARCACHE_STAGE_MAGIC, sizeof(sb->magic));
	sb->version = cpu_to_le32(NEARCACHE_STAGE_VERSION);
	uuid_generate(sb->uuid);
	sb->volume_sectors = cpu_to_le64(origin->size / 512);
	sb->ring_blocks = cpu_to_le64(min(stage_log_ring_blocks(dev->size),
					  (u64)NEARCACHE_STAGE_BLOCKS_MAX));
	if (getrandom(&sb->salt, sizeof(sb->salt), 0) != sizeof(sb->salt))
		return fail(CODE_DEVICE, "the kernel gives no random numbers");
	sb->tail_number = cpu_to_le64(1);
	sb->tail_epoch = cpu_to_le64(1);
	memcpy(sb->origin_id, origin->id, sizeof(sb->origin_id));
	strncpy((char *)sb->label, label, sizeof(sb->label) - 1);
	return 0;
}

static int write_copy(const struct device *dev, struct nearcache_stage_super *sb,
		      unsigned int copy, u64 sequence)
{
	sb->sequence = cpu_to_le64(sequence);
	stage_log_seal(sb);
	return device_write(dev, sb, sizeof(*sb), stage_log_offset(copy)) || device_sync(dev) ?
	       fail_code() : 0;
}

/*
 * Make an empty log on the claimed device @dev.  @flags: nearcache_stage_super.flags.  @sb: from
 * device_buffer(), receives the superblock.
 * The superblocks come last.  The first block of the ring is zeroed, lest a descriptor of an earlier
 * log stand there; its checksum would not fit either, as @sb has another uuid and salt.
 */
int stage_log_format(const struct device *dev, const struct device *origin, const char *label,
		     u32 flags, struct nearcache_stage_super *sb)
{
	char why[NC_WHY_SIZE];

	if (compose_super(sb, dev, origin, label))
		return fail_code();
	sb->flags = cpu_to_le32(flags);
	stage_log_seal(sb);
	if (!stage_log_check(sb, dev->size, why))
		return fail(CODE_DEVICE, "%s '%s' does not fit: %s", dev->role, dev->path, why);
	if (stage_log_wipe(dev) ||
	    device_zero(dev, NEARCACHE_STAGE_RING_OFFSET, NEARCACHE_STAGE_BLOCK) ||
	    device_sync(dev))
		return fail_code();
	return write_copy(dev, sb, 0, 1) || write_copy(dev, sb, 1, 2) ? fail_code() : 0;
}

/*
 * A return that failed has cleared this flag in the newest copy only; the kernel looks at both.  A copy
 * that is not intact may have had it.
 */
static void keep_passing(struct nearcache_stage_super *sb, const struct stage_log *log)
{
	unsigned int i;

	for (i = 0; i < STAGE_LOG_COPIES; i++)
		sb->flags |= (log->sound[i] ? log->copy[i]->flags : ~0U) &
			     cpu_to_le32(NEARCACHE_STAGE_PASSING);
}

/*
 * Write both copies again, with a change, while no device uses the log @uuid.  The older copy is
 * written first: one intact copy exists at any time, so a crash leaves the state before or after the
 * change.  @data: for @change.
 */
static int rewrite_super(struct device *dev, const unsigned char *uuid,
			 void (*change)(struct nearcache_stage_super *sb, const void *data),
			 const void *data)
{
	struct nearcache_stage_super *sb = device_buffer(sizeof(*sb));
	struct stage_log log = { 0 };
	unsigned int last;
	u64 sequence;

	if (sb && !device_claim(dev) && !stage_log_read(&log, dev) &&
	    !stage_log_require(&log, dev)) {
		if (uuid_compare(log.best->uuid, uuid))
			fail(CODE_BUSY, "another program replaced the log on '%s' meanwhile",
			     dev->path);
		memcpy(sb, log.best, sizeof(*sb));
		keep_passing(sb, &log);
		change(sb, data);
		sequence = le64_to_cpu(sb->sequence);
		last = log.best == log.copy[1];
		if (!fail_code() && !write_copy(dev, sb, !last, sequence + 1))
			write_copy(dev, sb, last, sequence + 2);
	}
	stage_log_free(&log);
	free(sb);
	return fail_code();
}

static void change_closed(struct nearcache_stage_super *sb, const void *data)
{
	const struct stage_closing *closing = data;

	if (closing->drained)
		sb->drained_generation = sb->generation;
	sb->closed_generation = sb->generation;
	sb->closed_reservation = cpu_to_le32(closing->reservation);
}

/*
 * Record how the device of the log @uuid was closed.  The caller has removed it.  Without the record,
 * the log only counts as one that may hold more than the origin.
 */
int stage_log_record_closed(struct device *dev, const unsigned char *uuid,
			    const struct stage_closing *closing)
{
	return rewrite_super(dev, uuid, change_closed, closing);
}

static void change_reservation(struct nearcache_stage_super *sb, const void *count)
{
	sb->closed_reservation = cpu_to_le32(*(const u32 *)count);
}

/* Record that the count of keys of the origin is @count now, while the device is closed. */
int stage_log_record_reservation(struct device *dev, const unsigned char *uuid, u32 count)
{
	return rewrite_super(dev, uuid, change_reservation, &count);
}

static void change_reserve(struct nearcache_stage_super *sb, const void *reserve)
{
	const __le32 flag = cpu_to_le32(NEARCACHE_STAGE_RESERVE);

	sb->flags = *(const bool *)reserve ? sb->flags | flag : sb->flags & ~flag;
}

/* Record whether the stage reserves its origin, while the device is closed. */
int stage_log_record_reserve(struct device *dev, const unsigned char *uuid, bool reserve)
{
	return rewrite_super(dev, uuid, change_reserve, &reserve);
}

static void change_origin(struct nearcache_stage_super *sb, const void *id)
{
	memcpy(sb->origin_id, id, sizeof(sb->origin_id));
}

/* Record that the origin has another device id now.  @id: DEVICE_ID bytes. */
int stage_log_record_origin(struct device *dev, const unsigned char *uuid, const char *id)
{
	return rewrite_super(dev, uuid, change_origin, id);
}

/* First sector of block @i of the fingerprint. */
static u64 print_sector(const struct nearcache_stage_super *sb, unsigned int i)
{
	u64 blocks = le64_to_cpu(sb->volume_sectors) / NEARCACHE_STAGE_BLOCK_SECTORS;

	if (i >= NEARCACHE_STAGE_END_BLOCKS)
		i += blocks - NEARCACHE_STAGE_PRINT_BLOCKS;
	return (u64)i * NEARCACHE_STAGE_BLOCK_SECTORS;
}

/* Compare a block of the fingerprint.  @known: counts the sectors that have a checksum. */
static bool block_matches(const struct nearcache_stage_super *sb, unsigned int block, const u8 *data,
			  unsigned int *known)
{
	unsigned int i, at = block * NEARCACHE_STAGE_BLOCK_SECTORS;

	for (i = 0; i < NEARCACHE_STAGE_BLOCK_SECTORS; i++) {
		u32 sum = crc_extend(0, data + (size_t)i * 512, 512);
		__le32 is = cpu_to_le32(sum ? sum : 1);
		__le32 now = sb->origin_now[at + i], next = sb->origin_next[at + i];

		if (!now || !next)
			continue;
		if (is != now && is != next)
			return false;
		++*known;
	}
	return true;
}

/*
 * True if the origin has the content that the fingerprint of the log describes.  For origins without
 * a device id; two empty origins cannot be distinguished.
 */
bool stage_log_describes(const struct nearcache_stage_super *sb, const struct device *origin)
{
	u64 sectors = le64_to_cpu(sb->volume_sectors);
	unsigned int i, known = 0;
	bool same = true;
	u8 *data;

	if (sectors > origin->size / 512 ||
	    sectors < NEARCACHE_STAGE_PRINT_BLOCKS * NEARCACHE_STAGE_BLOCK_SECTORS)
		return false;
	data = device_buffer(NEARCACHE_STAGE_BLOCK);
	for (i = 0; data && same && i < NEARCACHE_STAGE_PRINT_BLOCKS; i++)
		if (device_read(origin, data, NEARCACHE_STAGE_BLOCK, print_sector(sb, i) * 512))
			fail_reset();
		else
			same = block_matches(sb, i, data, &known);
	free(data);
	return same && known;
}

/* Overwrite both copies on a claimed device with zeros, and flush the device. */
int stage_log_wipe(const struct device *dev)
{
	unsigned int i;

	for (i = 0; i < STAGE_LOG_COPIES; i++)
		if (dev->size >= stage_log_offset(i) + NEARCACHE_STAGE_SUPER_SIZE &&
		    device_zero(dev, stage_log_offset(i), NEARCACHE_STAGE_SUPER_SIZE))
			return fail_code();
	return device_sync(dev);
}
