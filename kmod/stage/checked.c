// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checked commits: an epoch of few small writes is committed by one flush, instead of a flush and a
 * write with FUA.
 *
 * The descriptor has a checksum of the epoch's data, and is flushed together with it.  Recovery
 * reads the data of the last commit, and drops the epoch if the checksum differs (rules C4 and R3
 * of kmod/doc/stage.md).
 *
 * If the epoch is empty when a small write comes, and no commit is under way, the same bio writes a
 * descriptor in front of the data, as if the epoch had this write alone.  If a flush follows, the
 * commit writes nothing else (rule C5).  If another entry follows, the commit replaces the
 * descriptor.
 *
 * The checksum must be that of the bytes that the log gets.  A writer may change its memory while a
 * write is in flight, so a small write is copied first.  If there is no memory for the copy, the
 * epoch gets an ordinary commit.
 */
#include <linux/crc32c.h>
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "stage/stage.h"

#define SMALL_BLOCKS_MAX	(NEARCACHE_STAGE_CHECKED_MAX / NEARCACHE_STAGE_BLOCK)

/**
 * struct nc_small_write - a copy of a small write
 * @bio: writes @page, if it is embedded, and @data to the log
 * @vec: of @bio
 * @user: the bio of the writer
 * @page: for a descriptor, or NULL
 * @desc: the descriptor, if @embedded
 * @embedded: the write carries the descriptor of its epoch
 * @sum: the write's part of nearcache_stage_desc.data_checksum
 * @data: whole log blocks, from kmalloc()
 * @bytes: length of the write
 * @crc: CRC-32C of the data in each block
 */
struct nc_small_write {
	struct bio bio;
	struct bio_vec vec[2];
	struct bio *user;
	struct page *page;
	struct nc_cursor desc;
	bool embedded;
	u64 sum;
	u8 *data;
	u32 bytes;
	u32 crc[SMALL_BLOCKS_MAX];
};

static u32 block_crc(const u8 *data, u32 bytes)
{
	return ~crc32c(~0U, data, min(bytes, NEARCACHE_STAGE_BLOCK));
}

/* What a block adds to nearcache_stage_desc.data_checksum. */
static u64 block_sum(u64 place, u32 crc)
{
	return (2 * place + 1) * crc;
}

/**
 * nc_small_write_copy() - copy a write, if its epoch may get a checked commit
 * @s: stage
 * @bio: the write
 *
 * Context: any; does not sleep.
 * Return: the copy; NULL: the write is too long, the epoch gets an ordinary commit in any case, or
 * there is no memory.
 */
struct nc_small_write *nc_small_write_copy(struct nc_stage *s, struct bio *bio)
{
	struct nc_small_write *w;
	struct bvec_iter iter;
	struct bio_vec bv;
	u32 at = 0, i;
	/* Only a hint: nc_small_write_count() decides. */
	bool first = !READ_ONCE(s->ring.epoch_entries);

	if (bio->bi_iter.bi_size > NEARCACHE_STAGE_CHECKED_MAX)
		return NULL;
	if (!first && (READ_ONCE(s->check.unchecked) || !bdev_write_cache(s->log->bdev)))
		return NULL;
	w = kmalloc(sizeof(*w), GFP_NOWAIT | __GFP_NOWARN);
	if (!w)
		return NULL;
	w->bytes = bio->bi_iter.bi_size;
	w->data = kmalloc(round_up(w->bytes, NEARCACHE_STAGE_BLOCK), GFP_NOWAIT | __GFP_NOWARN);
	if (!w->data) {
		kfree(w);
		return NULL;
	}
	bio_for_each_segment(bv, bio, iter) {
		memcpy_from_bvec(w->data + at, &bv);
		at += bv.bv_len;
	}
	for (at = 0, i = 0; at < w->bytes; at += NEARCACHE_STAGE_BLOCK, i++)
		w->crc[i] = block_crc(w->data + at, w->bytes - at);
	w->user = bio;
	w->embedded = false;
	w->page = first ? alloc_page(GFP_NOWAIT | __GFP_NOWARN) : NULL;
	return w;
}

void nc_small_write_free(struct nc_small_write *w)
{
	if (!w)
		return;
	if (w->page)
		__free_page(w->page);
	kfree(w->data);
	kfree(w);
}

/* Can a write at @place, the first of its epoch, carry the epoch's descriptor? */
static bool can_embed(const struct nc_stage *s, const struct nc_small_write *w, u64 place)
{
	const struct nc_ring *r = &s->ring;

	/* A commit under way may not have flushed yet: recovery trusts it if another follows it. */
	return w->page && s->commit.phase == NC_COMMIT_IDLE &&
	       r->committed.record == r->open.record && place == r->open.place + 1 &&
	       nc_ring_sector(r, nc_place_sector(place));
}

/**
 * nc_small_write_count() - count a write in the checksum of the open epoch
 * @s: stage
 * @w: copy of the write; NULL: none, so the epoch needs an ordinary commit
 * @first: the epoch was empty
 * @place: place of the write
 *
 * Context: @s->lock.
 */
void nc_small_write_count(struct nc_stage *s, struct nc_small_write *w, bool first, u64 place)
{
	struct nc_epoch_check *check = &s->check;
	u32 i;

	check->embedded = false;
	if (!w || check->bytes + w->bytes > NEARCACHE_STAGE_CHECKED_MAX)
		check->unchecked = true;
	if (check->unchecked)
		return;
	w->sum = 0;
	for (i = 0; i * NEARCACHE_STAGE_BLOCK < w->bytes; i++)
		w->sum += block_sum(place + i, w->crc[i]);
	check->bytes += w->bytes;
	check->sum += w->sum;
	if (!first || !can_embed(s, w, place))
		return;
	check->embedded = true;
	w->embedded = true;
	w->desc = s->ring.open;
}

static void small_write_endio(struct bio *bio)
{
	struct nc_small_write *w = container_of(bio, struct nc_small_write, bio);
	struct bio *user = w->user;

	user->bi_status = bio->bi_status;
	bio_uninit(bio);
	nc_small_write_free(w);
	bio_endio(user);
}

/* Fill the descriptor of an epoch that has this write alone. */
static void fill_embedded(struct nc_stage *s, const struct nc_small_write *w,
			  const struct nc_stage_io *io)
{
	struct nearcache_stage_desc *desc = page_address(w->page);

	memset(desc, 0, NEARCACHE_STAGE_BLOCK);
	desc->magic = cpu_to_le32(NEARCACHE_STAGE_DESC_MAGIC);
	desc->number = cpu_to_le64(w->desc.number);
	desc->generation = cpu_to_le64(s->generation);
	desc->epoch = cpu_to_le64(w->desc.epoch);
	desc->place = cpu_to_le64(w->desc.place);
	desc->time = cpu_to_le64(ktime_get_real_ns());
	desc->count = cpu_to_le32(1);
	desc->flags = cpu_to_le32(NEARCACHE_STAGE_COMMIT | NEARCACHE_STAGE_CHECKED);
	desc->data_checksum = cpu_to_le64(w->sum);
	desc->entry[0] = (struct nearcache_stage_entry) {
		.sector = cpu_to_le64(io->sector),
		.sectors = cpu_to_le32(io->sectors),
		.kind = NEARCACHE_STAGE_DATA,
	};
	desc->checksum = nc_stage_desc_checksum(s->seed, desc);
}

/* Write the copy to the log; the writer's bio ends with it.  Context: map. */
void nc_small_write_submit(struct nc_stage *s, struct nc_small_write *w,
			   const struct nc_stage_io *io)
{
	blk_opf_t flags = w->user->bi_opf & (REQ_SYNC | REQ_META | REQ_PRIO | REQ_BACKGROUND);
	struct bio *bio = &w->bio;

	bio_init(bio, s->log->bdev, w->vec, ARRAY_SIZE(w->vec), REQ_OP_WRITE | flags);
	bio_clone_blkg_association(bio, w->user);
	bio->bi_ioprio = w->user->bi_ioprio;
	bio->bi_iter.bi_sector = nc_stage_log_sector(s, io->at);
	bio->bi_end_io = small_write_endio;
	if (w->embedded) {
		fill_embedded(s, w, io);
		bio->bi_iter.bi_sector -= NEARCACHE_STAGE_BLOCK_SECTORS;
		__bio_add_page(bio, w->page, NEARCACHE_STAGE_BLOCK, 0);
	}
	__bio_add_page(bio, virt_to_page(w->data), w->bytes, offset_in_page(w->data));
	submit_bio_noacct(bio);
}

/* Read or write the data of an entry, whole blocks. */
static int entry_io(struct nc_stage *s, blk_opf_t opf, u64 place, u64 blocks, void *buffer)
{
	struct dm_io_region region = {
		.bdev = s->log->bdev,
		.sector = nc_stage_log_sector(s, nc_place_sector(place)),
		.count = nc_place_sector(blocks),
	};
	struct dm_io_request request = {
		.bi_opf = opf | REQ_SYNC,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = buffer,
		.client = s->super.io,
	};

	return nc_dm_io(&request, &region);
}

/**
 * nc_checked_verify() - does the data of a checked commit match its checksum?
 * @s: stage in recovery
 * @desc: descriptor of the commit, with valid entries
 * @rewrite: also write the data again, as mirrors below the log may differ in it
 * @buffer: NEARCACHE_STAGE_CHECKED_MAX bytes from vmalloc()
 *
 * Context: may sleep.
 * Return: 1: it matches; 0: it differs; or the error of the log.
 */
int nc_checked_verify(struct nc_stage *s, const struct nearcache_stage_desc *desc, bool rewrite,
		      void *buffer)
{
	u64 place = le64_to_cpu(desc->place) + 1, sum = 0, blocks;
	const struct nearcache_stage_entry *entry;
	u32 i, j, bytes, all = 0;
	int r;

	for (i = 0; i < le32_to_cpu(desc->count); i++, place += blocks) {
		entry = &desc->entry[i];
		bytes = le32_to_cpu(entry->sectors) << SECTOR_SHIFT;
		blocks = nearcache_stage_blocks(entry->kind, le32_to_cpu(entry->sectors));
		if (entry->kind != NEARCACHE_STAGE_DATA)
			continue;
		all += bytes;
		if (all > NEARCACHE_STAGE_CHECKED_MAX)
			return -EUCLEAN;
		r = entry_io(s, REQ_OP_READ, place, blocks, buffer);
		if (!r && rewrite)
			r = entry_io(s, REQ_OP_WRITE, place, blocks, buffer);
		if (r)
			return r;
		for (j = 0; j < blocks; j++)
			sum += block_sum(place + j,
					 block_crc(buffer + j * NEARCACHE_STAGE_BLOCK,
						   bytes - j * NEARCACHE_STAGE_BLOCK));
	}
	return sum == le64_to_cpu(desc->data_checksum);
}
