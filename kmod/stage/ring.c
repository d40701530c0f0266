// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring: gives places to writes, and keeps the entries of all descriptors in memory.
 *
 * The record of a descriptor stands before the records of its entries, as in the ring.  So places
 * follow from the order of the records, and a walk from a descriptor on computes the later ones.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <asm/byteorder.h>

#include "stage/ring.h"

static void ring_add(struct nc_ring *r, u8 kind, u64 sector, u32 sectors)
{
	*nc_ring_record(r, r->head_record++) = (struct nc_record) {
		.kind = kind, .sector = sector, .sectors = sectors,
	};
	r->head += kind == NC_RECORD_DESC ? 1 : nearcache_stage_blocks(kind, sectors);
	if (kind == NC_RECORD_DESC)
		return;
	r->desc_entries++;
	r->epoch_entries++;
}

/* Take the next place for a descriptor. */
static void ring_add_desc(struct nc_ring *r, u64 epoch)
{
	r->last = (struct nc_cursor) {
		.record = r->head_record,
		.place = r->head,
		.number = r->last.number + 1,
		.epoch = epoch,
	};
	r->desc_entries = 0;
	ring_add(r, NC_RECORD_DESC, 0, 0);
}

/* Make the last entry longer, if the write follows it on the volume and in the ring. */
static bool ring_extend(struct nc_ring *r, u64 sector, u32 sectors, u64 offset)
{
	struct nc_record *last = nc_ring_record(r, r->head_record - 1);

	if (!r->desc_entries || last->kind != NEARCACHE_STAGE_DATA || !offset ||
	    last->sector + last->sectors != sector ||
	    last->sectors % NEARCACHE_STAGE_BLOCK_SECTORS ||
	    last->sectors + sectors > NEARCACHE_STAGE_WRITE_MAX)
		return false;
	last->sectors += sectors;
	r->head += nearcache_stage_blocks(NEARCACHE_STAGE_DATA, sectors);
	return true;
}

/**
 * nc_ring_append() - give a write its place, in the open epoch
 * @r: ring
 * @kind: enum nearcache_stage_kind, not NEARCACHE_STAGE_SKIP
 * @sector: first sector of the volume
 * @sectors: number of sectors, at most NEARCACHE_STAGE_WRITE_MAX if @kind has data
 * @place: set to the place of the write's data
 *
 * Context: the lock of the stage.
 * Return: NC_APPENDED; or the reason why the write must wait, with @r unchanged.
 */
enum nc_append nc_ring_append(struct nc_ring *r, u8 kind, u64 sector, u32 sectors, u64 *place)
{
	u64 blocks = nearcache_stage_blocks(kind, sectors), offset, skip;
	u64 start = r->head;

	if (r->epoch_entries + NC_APPEND_RECORDS > r->epoch_entries_max)
		return NC_EPOCH_FULL;
	/* A descriptor and a skip of less than @blocks may be needed. */
	if (nc_ring_free(r) < 2 * blocks + 1 + NC_RING_RESERVE ||
	    nc_ring_free_records(r) < NC_APPEND_RECORDS + NC_RING_RESERVE)
		return NC_RING_FULL;
	div64_u64_rem(r->head, r->blocks, &offset);
	if (offset + blocks <= r->blocks && kind == NEARCACHE_STAGE_DATA &&
	    ring_extend(r, sector, sectors, offset)) {
		*place = start;
		return NC_APPENDED;
	}
	/* The entries of the write and of a skip must find room in one descriptor. */
	if (r->desc_entries + 2 > NEARCACHE_STAGE_DESC_ENTRIES) {
		ring_add_desc(r, r->last.epoch);
		div64_u64_rem(r->head, r->blocks, &offset);
	}
	skip = r->blocks - offset;
	if (skip < blocks)
		ring_add(r, NEARCACHE_STAGE_SKIP, 0, skip * NEARCACHE_STAGE_BLOCK_SECTORS);
	*place = r->head;
	ring_add(r, kind, sector, sectors);
	return NC_APPENDED;
}

/* Close the open epoch, which has entries, and open the next one.  @now: time of the commit;
 * @since: time of the first write; nanoseconds since 1970.  Context: the lock of the stage.
 */
void nc_ring_close(struct nc_ring *r, u64 now, u64 since)
{
	struct nc_record *first = nc_ring_record(r, r->open.record);
	struct nc_record *last = nc_ring_record(r, r->last.record);

	last->flags |= NC_RECORD_COMMIT;
	last->sector = now;
	first->sector = now;
	first->sectors = min_t(u64, now > since ? div_u64(now - since, 1000000) : 0, U32_MAX);
	ring_add_desc(r, r->last.epoch + 1);
	r->open = r->last;
	r->epoch_entries = 0;
	if (r->flush_waits)
		nc_ring_note_flush(r);
	r->flush_waits = false;
}

/* Note that a FLUSH or a write with FUA ends with the commit of the newest epoch that has entries,
 * so that the next epoch begins a batch of the drain.  If the open epoch has no entry, it is that
 * next one; otherwise nc_ring_close() sets the flag.  Context: the lock of the stage.
 */
void nc_ring_note_flush(struct nc_ring *r)
{
	if (r->epoch_entries)
		r->flush_waits = true;
	else
		nc_ring_record(r, r->open.record)->flags |= NC_RECORD_FLUSHED;
}

/* Start an empty ring, with a descriptor at @at, whose record counts as number 0. */
void nc_ring_start(struct nc_ring *r, const struct nc_cursor *at)
{
	r->head_record = 0;
	r->head = at->place;
	r->usable_tail = at->place;
	r->last = *at;
	r->last.number--;
	ring_add_desc(r, at->epoch);
	r->epoch_entries = 0;
	r->flush_waits = false;
	r->tail = r->last;
	r->marked = r->last;
	r->committed = r->last;
	r->open = r->last;
}

/**
 * nc_ring_restore() - append the entries of a descriptor that recovery has read
 * @r: ring; the last descriptor is empty and belongs to @desc
 * @at: moves to the next descriptor
 * @desc: checked
 *
 * Context: recovery, before the stage is in use.
 * Return: false if there is no memory for the entries.
 */
bool nc_ring_restore(struct nc_ring *r, struct nc_cursor *at,
		     const struct nearcache_stage_desc *desc)
{
	bool commit = le32_to_cpu(desc->flags) & NEARCACHE_STAGE_COMMIT;
	u32 i, count = le32_to_cpu(desc->count);
	struct nc_record *record = nc_ring_record(r, r->last.record);

	/* The last commit may have taken the record that was kept back. */
	if (nc_ring_free_records(r) < count + 1)
		return false;
	if (commit) {
		record->flags |= NC_RECORD_COMMIT;
		record->sector = le64_to_cpu(desc->time);
		nc_ring_record(r, r->open.record)->sector = record->sector;
	}
	for (i = 0; i < count; i++)
		ring_add(r, desc->entry[i].kind, le64_to_cpu(desc->entry[i].sector),
			 le32_to_cpu(desc->entry[i].sectors));
	ring_add_desc(r, r->last.epoch + commit);
	if (commit) {
		r->epoch_entries = 0;
		r->open = r->last;
		/* The log does not record flushes. */
		nc_ring_note_flush(r);
	}
	*at = r->last;
	return true;
}

/* Move to the next descriptor; there must be one. */
void nc_ring_next_desc(const struct nc_ring *r, struct nc_cursor *at)
{
	struct nc_record *record = nc_ring_record(r, at->record);

	at->epoch += !!(record->flags & NC_RECORD_COMMIT);
	at->number++;
	at->place++;
	at->record++;
	for (; (record = nc_ring_record(r, at->record))->kind != NC_RECORD_DESC; at->record++)
		at->place += nearcache_stage_blocks(record->kind, record->sectors);
}

/* Move to the first descriptor of the next epoch; the epoch of @at must be closed. */
void nc_ring_next_epoch(const struct nc_ring *r, struct nc_cursor *at)
{
	u64 epoch = at->epoch;

	while (at->epoch == epoch)
		nc_ring_next_desc(r, at);
}
