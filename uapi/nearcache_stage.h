/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The log of the target nearcache-stage, version 1: format on the medium, and the device's status.
 *
 * Shared by the kernel module, the helper and the tests.  All integers are little-endian; the
 * structures have no padding.  Layout of a log device:
 *
 *	0		never touched
 *	4 KiB		superblock, copy 0
 *	512 KiB		superblock, copy 1
 *	1 MiB ...	the ring: struct nearcache_stage_super.ring_blocks log blocks of 4 KiB
 *
 * A place is the number of a log block, counted on without end: place p is ring block
 * p % ring_blocks.  From the tail on, the ring is a chain of descriptors and data.  A descriptor
 * (one log block) stands before the data that it lists.  It is written after the data, or together
 * with it if it commits a single small write.  The data of its entries follows in their order, each
 * from a whole log block on; after the data is the place of the next descriptor.  A descriptor with
 * NEARCACHE_STAGE_COMMIT ends an epoch.  No data wraps around the end of the ring: an entry
 * NEARCACHE_STAGE_SKIP takes the blocks up to there.
 *
 * Recovery follows the chain from the tail, as long as a descriptor is intact and has the expected
 * number, place and generation.  It drops everything after the last commit.
 *
 * kmod/doc/stage.md states the rules of order and the state after a crash between any two steps.
 */
#ifndef NEARCACHE_STAGE_H
#define NEARCACHE_STAGE_H

#include <linux/types.h>

#define NEARCACHE_STAGE_MAGIC		"nc-stage"	/* 8 bytes, no NUL */
#define NEARCACHE_STAGE_VERSION		1

#define NEARCACHE_STAGE_SUPER_OFFSET_0	4096ULL
#define NEARCACHE_STAGE_SUPER_OFFSET_1	(512ULL << 10)
#define NEARCACHE_STAGE_SUPER_SIZE	4096
#define NEARCACHE_STAGE_RING_OFFSET	(1024ULL << 10)
#define NEARCACHE_STAGE_BLOCK		4096U
#define NEARCACHE_STAGE_BLOCK_SECTORS	8U

/* 16 MiB to 1 EiB: 16 writes of NEARCACHE_STAGE_WRITE_MAX find room in the smallest ring. */
#define NEARCACHE_STAGE_BLOCKS_MIN	4096ULL
#define NEARCACHE_STAGE_BLOCKS_MAX	0x1000000000000ULL
/* Longest entry with data, in sectors: 1 MiB. */
#define NEARCACHE_STAGE_WRITE_MAX	2048U
/* Entries of an epoch, at most.  A full epoch is committed without a flush. */
#define NEARCACHE_STAGE_EPOCH_ENTRIES	16384U
/* Highest place, number, epoch or generation.  No device lives long enough to reach it: a higher
 * one is damage.
 */
#define NEARCACHE_STAGE_NUMBER_MAX	0x7ffffffffffffffULL

/* Fingerprint of the origin: blocks of 4 KiB at each end, at both ends, and sectors of both. */
#define NEARCACHE_STAGE_END_BLOCKS	16U
#define NEARCACHE_STAGE_PRINT_BLOCKS	(2 * NEARCACHE_STAGE_END_BLOCKS)
#define NEARCACHE_STAGE_PRINT_SECTORS	(NEARCACHE_STAGE_PRINT_BLOCKS * \
					 NEARCACHE_STAGE_BLOCK_SECTORS)

/**
 * struct nearcache_stage_super - superblock of a log device, NEARCACHE_STAGE_SUPER_SIZE bytes
 * @magic: NEARCACHE_STAGE_MAGIC
 * @version: NEARCACHE_STAGE_VERSION
 * @checksum: CRC-32C (initial value and final XOR all ones) of the block with this field as zero
 * @uuid: uuid of the log
 * @sequence: counts the writes of superblocks; the intact copy with the higher one is valid
 * @generation: counts the starts of the log; a descriptor has the generation of the start that
 *	wrote it
 * @volume_sectors: size of the origin
 * @ring_blocks: size of the ring
 * @salt: secret random number; part of the checksum of descriptors, so that data of a user is not
 *	taken for a descriptor
 * @tail: place of the oldest descriptor in use
 * @tail_number: number of that descriptor
 * @tail_epoch: number of the epoch of that descriptor
 * @drained_number: number of the last descriptor of the newest epoch that is durable on the origin;
 *	0: none
 * @drained_epoch: number of that epoch
 * @drained_time: time of the commit of that epoch, nanoseconds since 1970; 0: none
 * @origin_id: device id of the origin, as in the superblock of a cache; ends with NUL; "": the
 *	origin has none.  The helper sets it, and the kernel keeps it
 * @label: name of the cache above the stage; ends with NUL.  The helper sets it, and the kernel
 *	keeps it
 * @drained_generation: if it equals @generation, all of the log is on the origin.  The helper sets
 *	it after it has drained the log and removed the device.  Each start raises @generation, and
 *	so makes it invalid
 * @start_number: number of the first descriptor of @generation: one with a lower number has a lower
 *	generation, all others have @generation
 * @committed_number: number of the last committed descriptor at the time of this write
 * @origin_now: CRC-32C of each sector of the first and last blocks of the origin, as of
 *	@drained_epoch; 0: not known.  The last blocks end at the last multiple of 4 KiB
 * @origin_next: the same as of the epoch after @drained_epoch, whose drain may have begun; equal
 *	to @origin_now if that epoch does not touch the sector
 * @flags: NEARCACHE_STAGE_PASSING and others.  Only the helper changes NEARCACHE_STAGE_RESERVE and
 *	the next two fields; the kernel keeps them
 * @closed_reservation: generation counter of the keys that were registered with the origin when the
 *	device was closed; valid if this node had reserved it, otherwise 0
 * @closed_generation: if it equals @generation, and is not 0, @closed_reservation is valid
 * @reserved: 0.  A writer keeps fields that it does not know
 */
struct nearcache_stage_super {
	__u8 magic[8];
	__le32 version;
	__le32 checksum;
	__u8 uuid[16];
	__le64 sequence;
	__le64 generation;
	__le64 volume_sectors;
	__le64 ring_blocks;
	__le64 salt;
	__le64 tail;
	__le64 tail_number;
	__le64 tail_epoch;
	__le64 drained_number;
	__le64 drained_epoch;
	__le64 drained_time;
	__u8 origin_id[128];
	__u8 label[64];
	__le64 drained_generation;
	__le64 start_number;
	__le64 committed_number;
	__le32 origin_now[NEARCACHE_STAGE_PRINT_SECTORS];
	__le32 origin_next[NEARCACHE_STAGE_PRINT_SECTORS];
	__le32 flags;
	__le32 closed_reservation;
	__le64 closed_generation;
	__u8 reserved[1696];
};

/*
 * Flags of struct nearcache_stage_super.flags.  A writer keeps those that it does not know.
 *
 * NEARCACHE_STAGE_RESERVE: the node that opens the device reserves the origin, until the device is
 * closed and the origin has all of the log.
 *
 * NEARCACHE_STAGE_PASSING: all epochs are durable on the origin, and later writes may have been
 * passed to the origin: a start must flush the origin first, also if only the older copy has the
 * flag, or a copy is not intact.
 */
#define NEARCACHE_STAGE_RESERVE		0x1U
#define NEARCACHE_STAGE_PASSING		0x2U

/* Kinds of entries. */
enum nearcache_stage_kind {
	NEARCACHE_STAGE_DATA	= 1,	/* sectors of the volume were written */
	NEARCACHE_STAGE_ZEROES	= 2,	/* sectors were zeroed; takes an unused block of the ring */
	NEARCACHE_STAGE_DISCARD	= 3,	/* sectors were discarded; takes an unused block as well */
	NEARCACHE_STAGE_SKIP	= 4,	/* unused blocks up to the end of the ring; sector is 0 */
};

/**
 * struct nearcache_stage_entry - a write, discard, write-zeroes or skip
 * @sector: first sector of the volume (512 bytes)
 * @sectors: number of sectors of the volume; with NEARCACHE_STAGE_SKIP, of the ring
 * @kind: enum nearcache_stage_kind
 * @flags: 0
 * @reserved: 0
 */
struct nearcache_stage_entry {
	__le64 sector;
	__le32 sectors;
	__u8 kind;
	__u8 flags;
	__le16 reserved;
};

#define NEARCACHE_STAGE_DESC_MAGIC	0x7364636eU	/* "ncds" */
#define NEARCACHE_STAGE_DESC_ENTRIES	252U

/*
 * Flags of struct nearcache_stage_desc.flags.
 *
 * NEARCACHE_STAGE_COMMIT: the descriptor ends an epoch.  Without NEARCACHE_STAGE_CHECKED, it was
 * written with PREFLUSH and FUA, after all else of the epoch.
 *
 * NEARCACHE_STAGE_CHECKED, only with NEARCACHE_STAGE_COMMIT: the descriptor was written without
 * PREFLUSH and FUA.  The writer flushes the log before it writes the next commit.  If this is the
 * last commit of the chain, it is valid only if data_checksum is right.  It is the only descriptor
 * of its epoch, whose entries have at most NEARCACHE_STAGE_CHECKED_MAX bytes of data.
 */
#define NEARCACHE_STAGE_COMMIT		0x1U
#define NEARCACHE_STAGE_CHECKED		0x2U
#define NEARCACHE_STAGE_CHECKED_MAX	65536U

/**
 * struct nearcache_stage_desc - descriptor, one log block
 * @magic: NEARCACHE_STAGE_DESC_MAGIC
 * @checksum: CRC-32C of uuid and salt of the superblock, then of the first 64 + 16 * @count bytes
 *	with this field as zero
 * @number: number of the descriptor: that of the one before it, plus 1
 * @generation: generation of the start that wrote it
 * @epoch: number of the epoch; the first is 1
 * @place: its own place
 * @time: when the epoch was committed, nanoseconds since 1970; 0 without NEARCACHE_STAGE_COMMIT
 * @count: number of entries
 * @flags: see above
 * @data_checksum: with NEARCACHE_STAGE_CHECKED: sum, modulo 2^64, over all log blocks with data of
 *	(2 * place + 1) * CRC-32C of the data in the block (the last block of an entry may be partly
 *	filled)
 * @entry: the entries in the order of the ring; only the first @count have a meaning
 */
struct nearcache_stage_desc {
	__le32 magic;
	__le32 checksum;
	__le64 number;
	__le64 generation;
	__le64 epoch;
	__le64 place;
	__le64 time;
	__le32 count;
	__le32 flags;
	__le64 data_checksum;
	struct nearcache_stage_entry entry[NEARCACHE_STAGE_DESC_ENTRIES];
};

/* States of the device, field state of the status line. */
enum nearcache_stage_state {
	NEARCACHE_STAGE_NORMAL	= 0,
	NEARCACHE_STAGE_RETRIES	= 1,	/* the origin fails; the drain tries again */
	NEARCACHE_STAGE_LOG_BAD	= 2,	/* the log has failed: writes fail, and the drain writes the
					 * committed epochs that it can read.  If a write of the
					 * superblock by the drain has failed, or the user gave
					 * up the log, the drain has stopped
					 */
	NEARCACHE_STAGE_READ_ONLY = 3,	/* the origin has failed for origin_timeout: writes fail
					 * until it works; the log keeps its data
					 */
};

/* Where writes go: field mode of the status line.  See kmod/doc/stage.md, "A full log". */
enum nearcache_stage_mode {
	NEARCACHE_STAGE_LOGS	= 0,	/* to the log */
	NEARCACHE_STAGE_EMPTIES	= 1,	/* to the log, slowly: the stage empties it */
	NEARCACHE_STAGE_PASSES	= 2,	/* to the origin */
	NEARCACHE_STAGE_RETURNS	= 3,	/* they wait until the passed writes are durable */
};

/*
 * Fields of the status line, in order; new ones are only appended.  Sizes are in bytes, times in
 * nanoseconds since 1970; a time is 0 if there is none.  Counters count from the load of the table.
 *
 * version		NEARCACHE_STAGE_STATUS_VERSION
 * state		enum nearcache_stage_state
 * ring_bytes		size of the ring
 * behind_bytes		bytes of the ring in epochs that are not marked, including the open epoch
 * retained_bytes	bytes of the ring with marked data that is still readable there
 * open_epoch		number of the open epoch
 * committed_epoch	number of the newest committed epoch; 0: none
 * drained_epoch	number of the newest marked epoch; 0: none
 * behind_since		time of the oldest write that is not marked
 * drained_time		time of the commit of drained_epoch: the origin has the state of this time
 * entries		entries in memory
 * entries_max		entries for which memory is reserved
 * waiting		writes that wait for room
 * written_bytes	counter: bytes written by users
 * drained_bytes	counter: bytes written to the origin
 * log_read_bytes	counter: bytes read from the log by users
 * commits		counter: commits
 * retries		counter: failed attempts of the drain to write a batch, which it repeats
 * failing_ns		for how long the origin has failed, nanoseconds; 0: it works
 * in_flight		requests of the stage to the log, and of its drain, that have not ended,
 *			and tasks of the stage that wait for the log
 * mode			enum nearcache_stage_mode
 * passed_bytes		counter: bytes of writes that went to the origin and not to the log
 * origin_error		errno of the origin while it fails; 0: none.  EBADE: another node has
 *			reserved it.  ESTALE: another host has changed it.  ETIMEDOUT: it
 *			completes no request, or not in time
 */
#define NEARCACHE_STAGE_STATUS_VERSION	1
#define NEARCACHE_STAGE_STATUS(X) \
	X(version) X(state) X(ring_bytes) X(behind_bytes) X(retained_bytes) X(open_epoch) \
	X(committed_epoch) X(drained_epoch) X(behind_since) X(drained_time) X(entries) \
	X(entries_max) X(waiting) X(written_bytes) X(drained_bytes) X(log_read_bytes) X(commits) \
	X(retries) X(failing_ns) X(in_flight) X(mode) X(passed_bytes) X(origin_error)

/* Number of log blocks that an entry takes after its descriptor. */
static inline __u64 nearcache_stage_blocks(__u8 kind, __u32 sectors)
{
	if (kind == NEARCACHE_STAGE_ZEROES || kind == NEARCACHE_STAGE_DISCARD)
		return 1;
	return ((__u64)sectors + NEARCACHE_STAGE_BLOCK_SECTORS - 1) / NEARCACHE_STAGE_BLOCK_SECTORS;
}

#endif /* NEARCACHE_STAGE_H */
