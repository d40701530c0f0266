// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery: follow the chain of descriptors from the tail, keep all committed epochs, build the
 * overlay map, and record a new generation (rules R1 to R4 of kmod/doc/stage.md).
 */
#include <linux/crc32c.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "stage/stage.h"

static_assert(sizeof(struct nearcache_stage_desc) == NEARCACHE_STAGE_BLOCK);

/* Log blocks that are read at a time: many small epochs need few reads. */
#define WINDOW_BLOCKS	64U

/**
 * struct log_window - log blocks that were read
 * @block: the blocks; from vmalloc()
 * @place: place of the first one
 * @blocks: their number
 * @dropped: epochs were dropped, because of a block that cannot be read (drop_unreadable)
 */
struct log_window {
	struct nearcache_stage_desc *block;
	u64 place;
	u32 blocks;
	bool dropped;
};

/* Start value of the checksum of descriptors. */
u32 nc_stage_seed(const struct nearcache_stage_super *sb)
{
	return crc32c(crc32c(~0U, sb->uuid, sizeof(sb->uuid)), &sb->salt, sizeof(sb->salt));
}

__le32 nc_stage_desc_checksum(u32 seed, struct nearcache_stage_desc *desc)
{
	u32 count = min(le32_to_cpu(desc->count), NEARCACHE_STAGE_DESC_ENTRIES);
	__le32 stored = desc->checksum;
	u32 sum;

	desc->checksum = 0;
	sum = ~crc32c(seed, desc, offsetof(typeof(*desc), entry) + count * sizeof(desc->entry[0]));
	desc->checksum = stored;
	return cpu_to_le32(sum);
}

static int read_blocks(struct nc_stage *s, struct log_window *w, u64 place, u32 blocks)
{
	struct dm_io_region region = {
		.bdev = s->log->bdev,
		.sector = nc_stage_log_sector(s, nc_place_sector(place)),
		.count = nc_place_sector(blocks),
	};
	struct dm_io_request request = {
		.bi_opf = REQ_OP_READ | REQ_SYNC | REQ_META,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = w->block,
		.client = s->super.io,
	};
	int r = nc_dm_io(&request, &region);

	w->place = place;
	w->blocks = r ? 0 : blocks;
	return r;
}

/* Read the block at @place.  Return: the block, or NULL if it cannot be read. */
static struct nearcache_stage_desc *window_block(struct nc_stage *s, struct log_window *w,
						 u64 place)
{
	u64 offset;
	u32 blocks;

	if (place >= w->place && place - w->place < w->blocks)
		return &w->block[place - w->place];
	div64_u64_rem(place, s->ring.blocks, &offset);
	blocks = min_t(u64, WINDOW_BLOCKS, s->ring.blocks - offset);
	/* If another block cannot be read, this one may be readable. */
	if (read_blocks(s, w, place, blocks) && read_blocks(s, w, place, 1))
		return NULL;
	return w->block;
}

/* Does a block belong to the chain as the descriptor @at? */
static bool desc_follows(struct nc_stage *s, struct nearcache_stage_desc *desc,
			 const struct nc_cursor *at)
{
	u64 generation = le64_to_cpu(s->super.block->generation);
	u64 own = le64_to_cpu(desc->generation);

	if (at->number < le64_to_cpu(s->super.block->start_number) ? own >= generation :
								     own != generation)
		return false;
	return le32_to_cpu(desc->magic) == NEARCACHE_STAGE_DESC_MAGIC &&
	       desc->checksum == nc_stage_desc_checksum(s->seed, desc) &&
	       le64_to_cpu(desc->number) == at->number && le64_to_cpu(desc->place) == at->place;
}

/* Can an entry, whose data begins at @place, be one that this code wrote? */
static bool entry_valid(struct nc_stage *s, const struct nearcache_stage_entry *entry, u64 place)
{
	u64 sector = le64_to_cpu(entry->sector), volume = s->ti->len, offset;
	u32 sectors = le32_to_cpu(entry->sectors);
	u64 blocks = nearcache_stage_blocks(entry->kind, sectors);

	div64_u64_rem(place, s->ring.blocks, &offset);
	switch (entry->kind) {
	case NEARCACHE_STAGE_DATA:
		if (sectors > NEARCACHE_STAGE_WRITE_MAX || offset + blocks > s->ring.blocks)
			return false;
		fallthrough;
	case NEARCACHE_STAGE_ZEROES:
	case NEARCACHE_STAGE_DISCARD:
		return sectors && sector < volume && sectors <= volume - sector && !entry->flags;
	case NEARCACHE_STAGE_SKIP:
		return sectors && !sector && offset + blocks == s->ring.blocks;
	default:
		return false;
	}
}

static bool desc_valid(struct nc_stage *s, const struct nearcache_stage_desc *desc, u64 epoch)
{
	u64 place = le64_to_cpu(desc->place) + 1;
	u32 i, count = le32_to_cpu(desc->count);

	if (count > NEARCACHE_STAGE_DESC_ENTRIES || le64_to_cpu(desc->epoch) != epoch ||
	    le32_to_cpu(desc->flags) & ~(NEARCACHE_STAGE_COMMIT | NEARCACHE_STAGE_CHECKED))
		return false;
	for (i = 0; i < count; i++) {
		if (!entry_valid(s, &desc->entry[i], place))
			return false;
		place += nearcache_stage_blocks(desc->entry[i].kind,
						le32_to_cpu(desc->entry[i].sectors));
	}
	/* The next descriptor needs room as well. */
	return place - s->ring.tail.place < s->ring.blocks &&
	       s->ring.epoch_entries + count <= NEARCACHE_STAGE_EPOCH_ENTRIES;
}

/* Drop everything from @at on: the ring ends with an empty descriptor there. */
static void drop_uncommitted(struct nc_ring *r, const struct nc_cursor *at)
{
	u64 record = at->record;

	*nc_ring_record(r, record) = (struct nc_record) { .kind = NC_RECORD_DESC };
	r->head_record = record + 1;
	r->head = at->place + 1;
	r->desc_entries = 0;
	r->epoch_entries = 0;
	r->last = *at;
	r->open = *at;
	r->committed = *at;
	nc_ring_note_flush(r);
}

/* Log that the epochs from @epoch on are dropped.  @number: first descriptor that is dropped. */
static void report_dropped(struct nc_stage *s, struct log_window *w, u64 epoch, u64 number)
{
	bool committed = number <= le64_to_cpu(s->super.block->committed_number);

	w->dropped = true;
	DMERR("%s: log %s: a block cannot be read: writes from epoch %llu on are dropped%s",
	      nc_stage_name(s), s->log->name, epoch,
	      committed ? ", and some were committed" : ", if there were any");
}

/* The descriptor @at cannot be read, and drop_unreadable is set: end the chain there. */
static void drop_unreadable(struct nc_stage *s, struct log_window *w, const struct nc_cursor *at,
			    struct nearcache_stage_desc *commit, struct nc_cursor *end,
			    struct nc_cursor *before)
{
	struct nearcache_stage_super *sb = s->super.block;
	struct nc_cursor drained = {
		.place = at->place,
		.number = le64_to_cpu(sb->drained_number) + 1,
		.epoch = le64_to_cpu(sb->drained_epoch) + 1,
	};

	/* The block is among the drained ones: drop the rest of the ring, and start it there. */
	if (end->number < drained.number) {
		nc_ring_start(&s->ring, &drained);
		*end = s->ring.last;
		*before = s->ring.last;
		commit->number = 0;
	}
	report_dropped(s, w, end->epoch, end->number);
}

/* Follow the chain.  Sets @commit to a copy of the last descriptor that commits (its number is 0 if
 * there is none), @end to the descriptor after it, and @before to the first one of its epoch.
 */
static int follow_chain(struct nc_stage *s, struct log_window *w,
			struct nearcache_stage_desc *commit, struct nc_cursor *end,
			struct nc_cursor *before)
{
	struct nc_ring *r = &s->ring;
	struct nc_cursor at = r->last;
	struct nearcache_stage_desc *desc;

	*end = at;
	*before = at;
	for (;;) {
		/* The ring is full: this would be the block of the tail. */
		if (at.place - r->tail.place >= r->blocks)
			return 0;
		desc = window_block(s, w, at.place);
		if (!desc && s->drop_unreadable) {
			drop_unreadable(s, w, &at, commit, end, before);
			return 0;
		}
		if (!desc) {
			DMERR("%s: log %s: cannot read block %llu of the ring, which may be in use",
			      nc_stage_name(s), s->log->name, at.place % r->blocks);
			return -EIO;
		}
		if (!desc_follows(s, desc, &at))
			return 0;
		if (!desc_valid(s, desc, at.epoch)) {
			DMERR("%s: log %s: descriptor %llu has impossible entries",
			      nc_stage_name(s), s->log->name, at.number);
			return -EUCLEAN;
		}
		if (!nc_ring_restore(r, &at, desc)) {
			DMERR("%s: log %s needs a larger map_memory than %llu bytes",
			      nc_stage_name(s), s->log->name, s->map_memory);
			return -ENOMEM;
		}
		if (le32_to_cpu(desc->flags) & NEARCACHE_STAGE_COMMIT) {
			*before = *end;
			*end = at;
			*commit = *desc;
		}
	}
}

/* Drop all that is not committed, and write the last commit again: the drives of a mirror below the
 * log may differ in a write that was cut off.
 */
static int settle_chain(struct nc_stage *s, struct log_window *w,
			const struct nearcache_stage_desc *commit, const struct nc_cursor *end,
			const struct nc_cursor *before)
{
	bool checked = le32_to_cpu(commit->flags) & NEARCACHE_STAGE_CHECKED;
	int fits = 1;

	/* Its flush has ended: the origin has the epoch. */
	if (le64_to_cpu(commit->number) <= le64_to_cpu(s->super.block->drained_number)) {
		drop_uncommitted(&s->ring, end);
		return 0;
	}
	if (checked)
		fits = nc_checked_verify(s, commit, false, w->block);
	if (fits < 0 && fits != -EUCLEAN && s->drop_unreadable) {
		report_dropped(s, w, before->epoch, before->number);
		fits = 0;
	}
	if (fits > 0 && checked)
		fits = nc_checked_verify(s, commit, true, w->block);
	if (fits < 0)
		return fits;
	if (!fits) {
		drop_uncommitted(&s->ring, before);
		return 0;
	}
	drop_uncommitted(&s->ring, end);
	if (!nc_stage_commit_rewrite(s, commit, le64_to_cpu(commit->place)))
		return -EIO;
	return 0;
}

/* Put all entries from the tail on into the overlay map. */
static void fill_overlay(struct nc_stage *s)
{
	struct nc_ring *r = &s->ring;
	u64 number = r->tail.record, place = r->tail.place;
	const struct nc_record *record;

	for (; number < r->head_record; number++) {
		record = nc_ring_record(r, number);
		if (record->kind == NC_RECORD_DESC) {
			place++;
			continue;
		}
		if (record->kind != NEARCACHE_STAGE_SKIP)
			nc_overlay_insert(&s->overlay, &(struct nc_extent) {
				.sector = record->sector, .sectors = record->sectors,
				.at = nc_place_sector(place), .kind = record->kind,
			});
		place += nearcache_stage_blocks(record->kind, record->sectors);
		cond_resched();
	}
	s->mapped = s->overlay.count;
}

/* Find the first epoch that is not marked. */
static int find_marked(struct nc_stage *s, const struct log_window *w)
{
	struct nc_ring *r = &s->ring;
	u64 drained = le64_to_cpu(s->super.block->drained_epoch);
	u64 number = le64_to_cpu(s->super.block->drained_number);

	r->marked = r->tail;
	while (r->marked.epoch <= drained && r->marked.record != r->committed.record)
		nc_ring_next_epoch(r, &r->marked);
	if (r->committed.number <= le64_to_cpu(s->super.block->committed_number) && !w->dropped) {
		DMERR("%s: log %s has lost data: it ends at descriptor %llu, %llu was committed",
		      nc_stage_name(s), s->log->name, r->committed.number - 1,
		      le64_to_cpu(s->super.block->committed_number));
		return -EUCLEAN;
	}
	if (r->marked.epoch == drained + 1 && r->marked.number == number + 1)
		return 0;
	if (r->marked.epoch > drained)
		DMERR("%s: log %s: epoch %llu does not end at descriptor %llu", nc_stage_name(s),
		      s->log->name, drained, number);
	else
		DMERR("%s: log %s has lost data: it ends at epoch %llu, the origin has epoch %llu",
		      nc_stage_name(s), s->log->name, r->marked.epoch - 1, drained);
	return -EUCLEAN;
}

/* Forget marked data: another host may have changed it on the origin since. */
static void drop_retained(struct nc_stage *s)
{
	struct nearcache_stage_super *sb = s->super.block;
	struct nc_ring *r = &s->ring;

	r->tail = r->marked;
	r->usable_tail = r->tail.place;
	sb->tail = cpu_to_le64(r->tail.place);
	sb->tail_number = cpu_to_le64(r->tail.number);
	sb->tail_epoch = cpu_to_le64(r->tail.epoch);
}

/* Make durable what readers will see on the origin (rule R5).  After a crash of the node, writes
 * may be in its volatile cache that were passed, or drained from an epoch that is dropped now.
 * Return: 0, or the error of the origin if such writes may be lost.
 */
static int flush_before_start(struct nc_stage *s, const struct log_window *w)
{
	int r = blkdev_issue_flush(s->origin->bdev);

	if (!r)
		return 0;
	if (!s->super.passing && !w->dropped) {
		DMWARN("%s: origin %s: flush: error %d", nc_stage_name(s), s->origin->name, r);
		return 0;
	}
	DMERR("%s: origin %s: flush: error %d; it may have lost writes that nobody flushed",
	      nc_stage_name(s), s->origin->name, r);
	return r;
}

static int recover_ring(struct nc_stage *s, struct log_window *w,
			struct nearcache_stage_desc *commit)
{
	const struct nearcache_stage_super *sb = s->super.block;
	struct nc_cursor tail = {
		.place = le64_to_cpu(sb->tail),
		.number = le64_to_cpu(sb->tail_number),
		.epoch = le64_to_cpu(sb->tail_epoch),
	};
	struct nc_cursor end, before;
	bool changed;
	int r;

	nc_ring_start(&s->ring, &tail);
	r = follow_chain(s, w, commit, &end, &before) ?:
	    settle_chain(s, w, commit, &end, &before) ?: find_marked(s, w) ?:
	    nc_stage_super_rewrite(s) ?: flush_before_start(s, w) ?:
	    nc_origin_print_check(s, &changed);
	if (r)
		return r;
	/* The origin may have newer data, if a dropped epoch was drained in part. */
	if (!s->keep_retained || changed || w->dropped)
		drop_retained(s);
	fill_overlay(s);
	r = nc_stage_super_start(s, s->ring.open.number);
	if (r || !w->dropped)
		return r;
	/* The chain should end at a block that can be read, even if nothing is written before the
	 * next start.  Only now: without the superblock, the log would seem to have lost data.  If
	 * the block takes no write either, the epochs before it can still be drained.
	 */
	memset(commit, 0, sizeof(*commit));
	if (!nc_stage_commit_rewrite(s, commit, s->ring.open.place))
		DMWARN("%s: log %s: the block cannot be written either: the log will soon fail",
		       nc_stage_name(s), s->log->name);
	return 0;
}

/**
 * nc_stage_recover() - rebuild ring and overlay map from the log
 * @s: stage that is not started
 *
 * Context: may sleep; no request is served yet.
 * Return: 0 or an error, which the kernel log explains.
 */
int nc_stage_recover(struct nc_stage *s)
{
	/* I/O of the device, and with it a file system's memory, waits for the resume. */
	unsigned int noio = memalloc_noio_save();
	struct nearcache_stage_desc *commit = vzalloc(sizeof(*commit));
	struct log_window w = { .block = vmalloc(WINDOW_BLOCKS * NEARCACHE_STAGE_BLOCK) };
	char *error;
	int r = -ENOMEM;

	if (!commit || !w.block)
		goto out;
	r = nc_stage_super_read(s, &error);
	if (r) {
		DMERR("%s: log %s: %s", nc_stage_name(s), s->log->name, error);
		goto out;
	}
	if (le64_to_cpu(s->super.block->volume_sectors) > s->ti->len) {
		DMERR("%s: log %s is for an origin of %llu sectors, the table has %llu",
		      nc_stage_name(s), s->log->name,
		      le64_to_cpu(s->super.block->volume_sectors), (u64)s->ti->len);
		r = -EINVAL;
		goto out;
	}
	if (le64_to_cpu(s->super.block->ring_blocks) != s->ring.blocks) {
		DMERR("%s: log %s was formatted anew: load the table again", nc_stage_name(s),
		      s->log->name);
		r = -EINVAL;
		goto out;
	}
	s->drained_time = le64_to_cpu(s->super.block->drained_time);
	s->seed = nc_stage_seed(s->super.block);
	nc_overlay_clear(&s->overlay);
	r = recover_ring(s, &w, commit);
	if (r)
		DMERR("%s: log %s cannot be used: error %d", nc_stage_name(s), s->log->name, r);
	else
		DMINFO("%s: log %s: epoch %llu committed, %llu on the origin", nc_stage_name(s),
		       s->log->name, s->ring.committed.epoch - 1, s->ring.marked.epoch - 1);
out:
	/* If the table is given up, no read may take an empty map for the truth. */
	if (r) {
		nc_overlay_clear(&s->overlay);
		WRITE_ONCE(s->mapped, false);
	}
	vfree(w.block);
	vfree(commit);
	memalloc_noio_restore(noio);
	return r;
}
