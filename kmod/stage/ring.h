/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring: places, and the entries of all descriptors in memory. */
#ifndef NEARCACHE_STAGE_RING_H
#define NEARCACHE_STAGE_RING_H

#include <linux/math64.h>
#include <linux/types.h>

#include "nearcache_stage.h"

/* Kind of a record that stands for a descriptor; the others are enum nearcache_stage_kind. */
#define NC_RECORD_DESC		0
/* Flag of a NC_RECORD_DESC: the descriptor ends its epoch. */
#define NC_RECORD_COMMIT	1
/* Flag of the first descriptor of an epoch: a FLUSH or a write with FUA ends with the commit of the
 * epoch before, or recovery does not know whether one did.  So this epoch begins a batch (D5).
 */
#define NC_RECORD_FLUSHED	2
/* Room that is kept back for the descriptor after a commit, in blocks and in records. */
#define NC_RING_RESERVE		1U
/* Free blocks with which the longest write finds room: a descriptor, a skip of almost the same
 * length, and the reserve.
 */
#define NC_WRITE_BLOCKS_MAX	(NEARCACHE_STAGE_WRITE_MAX / NEARCACHE_STAGE_BLOCK_SECTORS)
#define NC_APPEND_BLOCKS_MAX	(2ULL * NC_WRITE_BLOCKS_MAX + 1 + NC_RING_RESERVE)
/* Most records that an entry needs: a descriptor, a skip, the entry. */
#define NC_APPEND_RECORDS	3U

/**
 * struct nc_record - an entry, or a descriptor in front of its entries
 * @sector: of an entry: first sector; of the first and the last descriptor of a closed epoch: time
 *	of its commit, nanoseconds since 1970
 * @sectors: of an entry; of the first descriptor of a closed epoch: milliseconds between its first
 *	write and its commit
 * @kind: NC_RECORD_DESC or enum nearcache_stage_kind
 * @flags: NC_RECORD_COMMIT and NC_RECORD_FLUSHED
 */
struct nc_record {
	u64 sector;
	u32 sectors;
	u8 kind;
	u8 flags;
};

/**
 * struct nc_cursor - a descriptor in the ring
 * @record: number of its record; records are counted without end
 * @place: its place
 * @number: nearcache_stage_desc.number
 * @epoch: number of its epoch
 */
struct nc_cursor {
	u64 record;
	u64 place;
	u64 number;
	u64 epoch;
};

/**
 * struct nc_ring - the part of the ring that is in use
 * @records: the records from @tail.record to @head_record
 * @records_max: size of @records, a power of two
 * @blocks: size of the ring
 * @tail: the oldest descriptor
 * @marked: first descriptor of the oldest epoch that is not marked
 * @committed: first descriptor of the oldest epoch that is not committed
 * @open: first descriptor of the open epoch
 * @last: the descriptor that gets the next entry
 * @head_record: number of the next record
 * @head: next free place
 * @usable_tail: the space before this place may be used again: @tail.place, as soon as both copies
 *	of the superblock have it
 * @desc_entries: entries of @last
 * @epoch_entries: entries of the open epoch
 * @epoch_entries_max: limit of @epoch_entries
 * @epoch_blocks_max: an epoch that has this number of blocks is committed
 * @flush_waits: a FLUSH or a write with FUA ends with the commit of the open epoch
 *
 * @tail.record <= @marked.record <= @committed.record <= @open.record <= @last.record <
 * @head_record.  The lock of the stage protects all fields.  Records before @committed do not
 * change; the drain reads them without the lock until it moves @marked, and the worker that makes
 * room until it moves @tail.
 */
struct nc_ring {
	struct nc_record *records;
	u32 records_max;
	u64 blocks;
	struct nc_cursor tail;
	struct nc_cursor marked;
	struct nc_cursor committed;
	struct nc_cursor open;
	struct nc_cursor last;
	u64 head_record;
	u64 head;
	u64 usable_tail;
	u32 desc_entries;
	u32 epoch_entries;
	u32 epoch_entries_max;
	u64 epoch_blocks_max;
	bool flush_waits;
};

/* Result of nc_ring_append(). */
enum nc_append {
	NC_APPENDED,
	NC_EPOCH_FULL,	/* the open epoch must be closed first */
	NC_RING_FULL,	/* the tail must move first */
};

enum nc_append nc_ring_append(struct nc_ring *r, u8 kind, u64 sector, u32 sectors, u64 *place);
void nc_ring_close(struct nc_ring *r, u64 now, u64 since);
void nc_ring_note_flush(struct nc_ring *r);
void nc_ring_start(struct nc_ring *r, const struct nc_cursor *at);
bool nc_ring_restore(struct nc_ring *r, struct nc_cursor *at,
		     const struct nearcache_stage_desc *desc);
void nc_ring_next_desc(const struct nc_ring *r, struct nc_cursor *at);
void nc_ring_next_epoch(const struct nc_ring *r, struct nc_cursor *at);

static inline struct nc_record *nc_ring_record(const struct nc_ring *r, u64 number)
{
	return &r->records[number & (r->records_max - 1)];
}

/* Place of a log block in sectors, counted without end. */
static inline u64 nc_place_sector(u64 place)
{
	return place * NEARCACHE_STAGE_BLOCK_SECTORS;
}

/* Sector of the ring, from its start, that has the data at @at (struct nc_extent.at). */
static inline u64 nc_ring_sector(const struct nc_ring *r, u64 at)
{
	u64 rest;

	div64_u64_rem(at, nc_place_sector(r->blocks), &rest);
	return rest;
}

/* Time of the oldest write that is not marked; valid only if a closed epoch is not marked. */
static inline u64 nc_ring_behind_since(const struct nc_ring *r)
{
	const struct nc_record *first = nc_ring_record(r, r->marked.record);

	return first->sector - first->sectors * 1000000ULL;
}

/* Blocks with data that is not marked. */
static inline u64 nc_ring_behind(const struct nc_ring *r)
{
	return r->epoch_entries || r->open.place != r->marked.place ? r->head - r->marked.place : 0;
}

/* Blocks that can be written. */
static inline u64 nc_ring_free(const struct nc_ring *r)
{
	return r->usable_tail + r->blocks - r->head;
}

static inline u64 nc_ring_free_records(const struct nc_ring *r)
{
	return r->tail.record + r->records_max - r->head_record;
}

/* Is there room for the longest write? */
static inline bool nc_ring_has_room(const struct nc_ring *r)
{
	return nc_ring_free(r) >= NC_APPEND_BLOCKS_MAX &&
	       nc_ring_free_records(r) >= NC_APPEND_RECORDS + NC_RING_RESERVE;
}

#endif /* NEARCACHE_STAGE_RING_H */
