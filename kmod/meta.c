// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata on the cache device: the slot table, and what the superblock says about
 * it.  "clean" on the medium means that the table is complete and true; an active
 * one was not stopped, and its table is dropped by a new table_epoch.
 *
 * A table page is written to the copy that does not hold its present state.
 */
#include <linux/blkdev.h>
#include <linux/dm-io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "identity.h"
#include "invalidate.h"
#include "meta.h"
#include "super.h"

/* Table pages per I/O: 512 KiB, long enough for full bandwidth. */
#define CHUNK_PAGES	128U
#define CHUNK_BYTES	(CHUNK_PAGES * NEARCACHE_PAGE_SIZE)

/**
 * struct nc_meta - metadata of one cache device
 * @super: superblock
 * @fingerprint_old: its fingerprint may be older than our own writes
 * @buffer: two chunks of table pages; allocated for good, so that neither a
 *	resume nor a suspend can fail for want of memory
 * @pages: table pages in one copy
 * @current_copy: bit per page: the copy that holds its present state
 * @dirty: bit per page: differs from the medium; set from I/O completion
 * @both: bit per page: the next write must go to both copies, because neither
 *	can be relied on
 */
struct nc_meta {
	struct nc_super super;
	bool fingerprint_old;
	struct nearcache_page *buffer;
	u64 pages;
	unsigned long *current_copy;
	unsigned long *dirty;
	unsigned long *both;
};

/* Too long for kmalloc() when the cache is large. */
static unsigned long *page_bitmap(u64 pages)
{
	return kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL);
}

/**
 * nc_meta_open() - read and judge the superblock of a device
 * @bdev: cache device
 * @geo: filled in
 * @uuid: filled in, 16 bytes
 * @why: NC_WHY_SIZE bytes; filled in on failure
 *
 * Return: metadata, nothing loaded yet; or ERR_PTR.
 */
struct nc_meta *nc_meta_open(struct block_device *bdev,
			     struct nc_geometry *geo, u8 *uuid, char *why)
{
	struct nc_meta *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int r = -ENOMEM;

	snprintf(why, NC_WHY_SIZE, "out of memory");
	if (!m)
		return ERR_PTR(r);
	m->buffer = vmalloc(2 * CHUNK_BYTES);
	if (nc_super_init(&m->super) || !m->buffer)
		goto bad;
	r = nc_super_read(&m->super, bdev, geo, why);
	if (r)
		goto bad;
	memcpy(uuid, m->super.sb->uuid, sizeof(m->super.sb->uuid));
	m->pages = geo->table_pages;

	m->current_copy = page_bitmap(m->pages);
	m->dirty = page_bitmap(m->pages);
	m->both = page_bitmap(m->pages);
	if (m->current_copy && m->dirty && m->both)
		return m;
	r = -ENOMEM;
	snprintf(why, NC_WHY_SIZE, "out of memory");
bad:
	nc_meta_close(m);
	return ERR_PTR(r);
}

void nc_meta_close(struct nc_meta *m)
{
	if (!m)
		return;
	kvfree(m->both);
	kvfree(m->dirty);
	kvfree(m->current_copy);
	vfree(m->buffer);
	nc_super_destroy(&m->super);
	kfree(m);
}

/**
 * nc_meta_reread() - the superblock again, right before it is relied on
 * @c: live cache, built from what the constructor read
 *
 * Between the constructor and the first resume the device may have been
 * formatted again, or used under another name.
 *
 * Return: 0; -EIO; -EINVAL or -ESTALE when the device is not what the cache was
 * built for: then only removing the dm device helps.
 */
int nc_meta_reread(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	char why[NC_WHY_SIZE];
	struct nc_geometry geo;
	int r = nc_super_read(&m->super, c->bdev, &geo, why);

	if (r) {
		DMERR("%s: cache device: %s", nc_cache_name(c), why);
		return r;
	}
	/* The epoch differs when another dm device used the cache since. */
	if (memcmp(c->uuid, m->super.sb->uuid, sizeof(c->uuid)) ||
	    c->geo.device_size != geo.device_size ||
	    c->geo.origin_size != geo.origin_size ||
	    c->geo.slot_count != geo.slot_count ||
	    c->geo.data_offset != geo.data_offset ||
	    c->geo.table_offset != geo.table_offset ||
	    c->geo.table_pages != geo.table_pages ||
	    c->geo.block_size != geo.block_size ||
	    c->geo.subblock_size != geo.subblock_size) {
		DMERR("%s: cache device was formatted since table load: remove, open anew",
		      nc_cache_name(c));
		return -ESTALE;
	}
	return 0;
}

/* Valid bits that a block may have: the origin's last one is shorter. */
static u64 possible_bits(const struct nc_geometry *geo, u64 block)
{
	u64 bytes = geo->origin_size - block * geo->block_size;
	u64 subs = geo->subblocks;

	if (bytes < geo->block_size)
		subs = DIV_ROUND_UP_ULL(bytes, geo->subblock_size);
	return GENMASK_ULL(subs - 1, 0);
}

static bool slot_possible(const struct nc_geometry *geo,
			  const struct nearcache_slot *disk)
{
	u64 block = le64_to_cpu(disk->origin_block);
	u64 valid = le64_to_cpu(disk->valid);

	return block <= div_u64(geo->origin_size - 1, geo->block_size) &&
	       valid && !(valid & ~possible_bits(geo, block)) &&
	       !(le32_to_cpu(disk->flags) & ~NEARCACHE_SLOT_FLAGS_KNOWN);
}

/* Two slots for one block: the younger one stays. */
static bool drop_twin(struct nc_cache *c, u64 block, u32 generation)
{
	u32 twin = nc_index_find(&c->index, block);
	struct nc_slot *other;

	if (twin == NC_NIL)
		return true;
	other = &c->index.slots[twin];
	if (other->generation >= generation)
		return false;
	nc_index_unlink(&c->index, twin);
	nc_meta_dirty(c->meta, twin);
	nc_count(c, SLOTS_DROPPED);
	c->warm--;
	atomic64_sub(hweight64(other->valid), &c->valid_subblocks);
	return true;
}

static void load_slot(struct nc_cache *c, u32 i,
		      const struct nearcache_slot *disk)
{
	u64 block = le64_to_cpu(disk->origin_block);
	struct nc_slot *slot = &c->index.slots[i];
	struct nc_stripe *stripe;
	bool good = false;

	if (block == NEARCACHE_NO_BLOCK)
		return;
	stripe = nc_index_stripe(&c->index, block);
	spin_lock(&stripe->lock);
	if (slot_possible(&c->geo, disk) &&
	    drop_twin(c, block, le32_to_cpu(disk->generation))) {
		slot->valid = le64_to_cpu(disk->valid);
		slot->generation = le32_to_cpu(disk->generation);
		nc_index_link(&c->index, i, block);
		good = true;
	}
	spin_unlock(&stripe->lock);
	if (good) {
		c->warm++;
		atomic64_add(hweight64(slot->valid), &c->valid_subblocks);
	} else {
		nc_count(c, SLOTS_DROPPED);
		nc_meta_dirty(c->meta, i);
	}
}

/* Which copy of a page counts: 0, 1, or -1 when that cannot be told. */
static int choose_page(struct nc_cache *c, u64 index,
		       const struct nearcache_page *p0,
		       const struct nearcache_page *p1)
{
	u64 epoch = c->geo.table_epoch;

	if (!nc_page_check(p0, c->uuid, index) ||
	    !nc_page_check(p1, c->uuid, index))
		return -1;
	if (p0->epoch != p1->epoch)
		return le64_to_cpu(p1->epoch) == epoch;
	return le64_to_cpu(p1->sequence) > le64_to_cpu(p0->sequence);
}

static void load_page(struct nc_cache *c, u64 index,
		      const struct nearcache_page *p0,
		      const struct nearcache_page *p1)
{
	int copy = choose_page(c, index, p0, p1);
	const struct nearcache_page *page = copy > 0 ? p1 : p0;
	u64 first = index * NEARCACHE_SLOTS_PER_PAGE;
	u64 n = min_t(u64, NEARCACHE_SLOTS_PER_PAGE,
		      c->geo.slot_count - first);
	unsigned int i;

	if (copy < 0) {
		nc_count(c, PAGES_DAMAGED);
		set_bit(index, c->meta->dirty);
		set_bit(index, c->meta->both);
		return;
	}
	if (copy)
		set_bit(index, c->meta->current_copy);
	if (le64_to_cpu(page->epoch) != c->geo.table_epoch)
		return;
	for (i = 0; i < n; i++)
		load_slot(c, first + i, &page->slot[i]);
}

/* Read @n pages of one copy; those that cannot be read come back as zeros.
 * Returns how many: a dying device is not asked page by page for days.
 */
static u32 read_pages(struct nc_cache *c, int copy, u64 first, u32 n,
		      struct nearcache_page *buffer)
{
	struct block_device *bdev = c->bdev;
	u64 offset = c->geo.table_offset +
		     (copy * c->geo.table_pages + first) * NEARCACHE_PAGE_SIZE;
	u32 i, failed = 0;

	if (!nc_super_io(c->meta->super.io, bdev, REQ_OP_READ | REQ_META, offset,
			 buffer, n * NEARCACHE_PAGE_SIZE))
		return 0;
	for (i = 0; i < n && failed < NC_CACHE_ERRORS_MAX; i++)
		if (nc_super_io(c->meta->super.io, bdev, REQ_OP_READ | REQ_META,
				offset + i * NEARCACHE_PAGE_SIZE, &buffer[i],
				NEARCACHE_PAGE_SIZE)) {
			memset(&buffer[i], 0, NEARCACHE_PAGE_SIZE);
			failed++;
		}
	return failed;
}

static void start_cold(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;

	DMWARN("%s: cache was not stopped cleanly: starting cold",
	       nc_cache_name(c));
	le64_add_cpu(&m->super.sb->table_epoch, 1);
	c->geo.table_epoch = le64_to_cpu(m->super.sb->table_epoch);
	/* A write of the table may have been cut short: neither copy of a
	 * page is known to be whole until it was written again.
	 */
	bitmap_fill(m->dirty, m->pages);
	bitmap_fill(m->both, m->pages);
	c->loaded = NEARCACHE_LOADED_UNCLEAN;
	/* The session that was cut off may have written to the origin. */
	m->fingerprint_old = true;
}

static void push_free_slots(struct nc_cache *c)
{
	u32 i = c->index.count;

	while (i--)
		if (!(c->index.slots[i].flags & NC_SLOT_LINKED))
			nc_index_push(&c->index, i);
	atomic64_set(&c->used, c->index.count - c->index.free_count);
}

static int load_table(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	struct nearcache_page *buffer = m->buffer;
	u32 i, n, failed = 0;
	u64 first;

	for (first = 0; first < m->pages; first += CHUNK_PAGES) {
		n = min_t(u64, CHUNK_PAGES, m->pages - first);
		failed += read_pages(c, 0, first, n, buffer);
		failed += read_pages(c, 1, first, n, buffer + CHUNK_PAGES);
		if (failed >= NC_CACHE_ERRORS_MAX)
			return -EIO;
		for (i = 0; i < n; i++)
			load_page(c, first + i, &buffer[i],
				  &buffer[CHUNK_PAGES + i]);
		cond_resched();
	}
	return 0;
}

/**
 * nc_meta_load() - fill the index from the slot table
 * @c: live cache with an empty index
 *
 * Sets c->loaded and c->warm.  An unclean table is not read.  Pages and slots
 * that cannot be relied on are dropped and counted.
 *
 * Return: 0; -EIO when the device fails too often: then the index is in no
 * state to be used.
 */
int nc_meta_load(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	int r;

	c->geo.table_epoch = le64_to_cpu(m->super.sb->table_epoch);
	if (le32_to_cpu(m->super.sb->state) != NEARCACHE_STATE_CLEAN) {
		start_cold(c);
		push_free_slots(c);
		return 0;
	}
	r = load_table(c);
	if (r) {
		c->warm = 0;
		atomic64_set(&c->valid_subblocks, 0);
		return r;
	}
	push_free_slots(c);
	if (!bitmap_empty(m->both, m->pages))
		c->loaded = NEARCACHE_LOADED_DAMAGED;
	else if (c->warm || le64_to_cpu(m->super.sb->commit_sequence))
		c->loaded = NEARCACHE_LOADED_WARM;
	else
		c->loaded = NEARCACHE_LOADED_NEW;
	return 0;
}

/**
 * nc_meta_mark_active() - from here on slots may be overwritten
 * @c: live cache
 *
 * Return: 0 or -EIO; then nothing may be overwritten.
 */
int nc_meta_mark_active(struct nc_cache *c)
{
	return nc_super_write(&c->meta->super, c->bdev,
			      NEARCACHE_STATE_ACTIVE);
}

/* Can the medium be relied on to make the next load drop the table?  Without
 * nc_cache.life this is a hint.
 */
bool nc_meta_is_active(const struct nc_meta *m)
{
	return READ_ONCE(m->super.active);
}

/* The last sub-block, if the origin ended inside, holds zeros where there may be
 * data now.
 */
static void drop_short_subblock(struct nc_cache *c)
{
	u64 end = c->geo.origin_size;
	u64 block = end >> (c->block_shift + SECTOR_SHIFT);
	struct nc_stripe *stripe = nc_index_stripe(&c->index, block);
	u32 sub = (end & (c->geo.block_size - 1)) >>
		  (c->sub_shift + SECTOR_SHIFT);
	u32 i;

	spin_lock(&stripe->lock);
	i = nc_index_find(&c->index, block);
	if (end & (c->geo.subblock_size - 1) && i != NC_NIL &&
	    c->index.slots[i].valid & BIT_ULL(sub)) {
		c->index.slots[i].valid &= ~BIT_ULL(sub);
		atomic64_dec(&c->valid_subblocks);
		nc_meta_dirty(c->meta, i);
	}
	spin_unlock(&stripe->lock);
}

/**
 * nc_meta_resize() - the origin has another size
 * @c: live cache, suspended
 * @size: of the origin, bytes: it has grown, or growing is taken back because
 *	the superblock could not be written
 *
 * On the medium with the superblock's next write.
 */
void nc_meta_resize(struct nc_cache *c, u64 size)
{
	struct nc_meta *m = c->meta;

	drop_short_subblock(c);
	c->geo.origin_size = size;
	nc_super_resize(&m->super, size);
	m->fingerprint_old = true;
}

/* Is there anything that nc_meta_settle() has to do on the origin? */
bool nc_meta_unsettled(const struct nc_cache *c)
{
	return c->origin_written || c->meta->fingerprint_old;
}

static void build_page(struct nc_cache *c, u64 index, u64 sequence,
		       struct nearcache_page *page)
{
	u64 first = index * NEARCACHE_SLOTS_PER_PAGE;
	u64 n = min_t(u64, NEARCACHE_SLOTS_PER_PAGE,
		      c->geo.slot_count - first);
	unsigned int i;

	nc_page_init(page, c->uuid, index, sequence, c->geo.table_epoch);
	for (i = 0; i < n; i++) {
		const struct nc_slot *slot = &c->index.slots[first + i];

		if (!(slot->flags & NC_SLOT_LINKED) || !slot->valid)
			continue;
		page->slot[i].origin_block = cpu_to_le64(nc_slot_block(slot));
		page->slot[i].valid = cpu_to_le64(slot->valid);
		page->slot[i].generation = cpu_to_le32(slot->generation);
	}
	nc_page_seal(page);
}

/* Must this commit write @index into @copy? */
static bool page_due(const struct nc_meta *m, u64 index, int copy)
{
	return test_bit(index, m->dirty) &&
	       (test_bit(index, m->both) ||
		test_bit(index, m->current_copy) != copy);
}

static int write_pages(struct nc_cache *c, int copy, u64 sequence)
{
	struct nc_meta *m = c->meta;
	struct nearcache_page *buffer = m->buffer;
	u64 base = c->geo.table_offset +
		   copy * c->geo.table_pages * NEARCACHE_PAGE_SIZE;
	u64 i = 0, n;
	int r;

	while (i < m->pages) {
		u64 room = min_t(u64, CHUNK_PAGES, m->pages - i);

		for (n = 0; n < room && page_due(m, i + n, copy); n++)
			build_page(c, i + n, sequence, &buffer[n]);
		if (!n) {
			i = find_next_bit(m->dirty, m->pages, i + 1);
			continue;
		}
		r = nc_super_io(m->super.io, c->bdev, REQ_OP_WRITE | REQ_META,
				base + i * NEARCACHE_PAGE_SIZE, buffer,
				n * NEARCACHE_PAGE_SIZE);
		if (r)
			return r;
		nc_count_add(c, COMMIT_PAGES, n);
		i += n;
		cond_resched();
	}
	return 0;
}

static void table_written(struct nc_meta *m)
{
	unsigned long i;

	for_each_set_bit(i, m->dirty, m->pages)
		if (test_bit(i, m->both))
			clear_bit(i, m->current_copy);
		else
			change_bit(i, m->current_copy);
	bitmap_zero(m->dirty, m->pages);
	bitmap_zero(m->both, m->pages);
}

static bool has_fingerprint(const struct nc_meta *m)
{
	return le32_to_cpu(m->super.sb->origin_fingerprint_type) ==
	       NEARCACHE_FP_ENDS;
}

/* Of the origin as it is, with the size that it had. */
static int take_fingerprint(struct nc_cache *c, u8 *digest)
{
	return nc_identity_ends(c->origin, c->meta->super.io,
				c->geo.origin_size, c->meta->buffer, digest);
}

/**
 * nc_meta_origin_changed() - did somebody else write to the ends of the origin?
 * @c: live cache
 *
 * As far as the fingerprint tells: not while it is older than our own writes.
 *
 * Return: 1, 0, or what reading the origin returned.
 */
int nc_meta_origin_changed(struct nc_cache *c)
{
	u8 now[NC_FINGERPRINT_SIZE];
	int r;

	if (!has_fingerprint(c->meta) || nc_meta_unsettled(c))
		return 0;
	r = take_fingerprint(c, now);
	return r ? r : !!memcmp(now, c->meta->super.sb->origin_fingerprint,
				sizeof(now));
}

/**
 * nc_meta_accept_origin() - all that is cached will be dropped: what the origin
 *	holds now is what the next load has to find
 * @c: live cache, its superblock active
 *
 * Before anything is filled again: that cannot be older, then.
 *
 * Return: 0 or what reading the origin returned.
 */
int nc_meta_accept_origin(struct nc_cache *c)
{
	if (!has_fingerprint(c->meta) || nc_meta_unsettled(c))
		return 0;
	return take_fingerprint(c, c->meta->super.sb->origin_fingerprint);
}

/**
 * nc_meta_settle() - make what was written to the origin durable there
 * @c: live cache, suspended, before the superblock is written
 *
 * Slots may hold what the origin acknowledged but would lose with its power;
 * and its fingerprint is another one now.  If it cannot be flushed, nobody knows
 * what it holds: all that is cached is dropped.
 *
 * Return: 0 or what flushing or reading the origin returned: then the cache must
 * not be marked clean.
 */
int nc_meta_settle(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	int r = 0;

	if (!nc_meta_unsettled(c))
		return 0;
	if (c->origin_written) {
		r = blkdev_issue_flush(c->origin);
		if (r) {
			nc_invalidate_all(c);
			return r;
		}
		c->origin_written = false;
		m->fingerprint_old = true;
	}
	if (has_fingerprint(m))
		r = take_fingerprint(c, m->super.sb->origin_fingerprint);
	if (!r)
		m->fingerprint_old = false;
	return r;
}

/**
 * nc_meta_commit_clean() - write the table and mark the superblock clean
 * @c: live cache; no read, fill or eviction is under way
 *
 * Return: 0 or -EIO; on error the medium still says "active".
 */
int nc_meta_commit_clean(struct nc_cache *c)
{
	struct nc_meta *m = c->meta;
	struct block_device *bdev = c->bdev;
	u64 sequence = le64_to_cpu(m->super.sb->commit_sequence) + 1;
	int copy, r;

	/* The data before its mapping. */
	r = blkdev_issue_flush(bdev);
	for (copy = 0; !r && copy < 2; copy++)
		r = write_pages(c, copy, sequence);
	if (!r)
		r = blkdev_issue_flush(bdev);
	if (r)
		return r;
	table_written(m);
	nc_count(c, COMMITS);
	m->super.sb->commit_sequence = cpu_to_le64(sequence);
	return nc_super_write(&m->super, c->bdev, NEARCACHE_STATE_CLEAN);
}

/**
 * nc_meta_dirty() - a slot differs from its entry in the table
 * @m: metadata
 * @slot: slot
 *
 * Context: any.
 */
void nc_meta_dirty(struct nc_meta *m, u32 slot)
{
	u32 page = slot / NEARCACHE_SLOTS_PER_PAGE;

	if (!test_bit(page, m->dirty))
		set_bit(page, m->dirty);
}

/* Number that slots given out now carry, see struct nearcache_slot. */
u32 nc_meta_generation(const struct nc_meta *m)
{
	return (u32)le64_to_cpu(m->super.sb->commit_sequence) + 1;
}

/* RAM of the page bitmaps, bytes. */
size_t nc_meta_memory(const struct nc_meta *m)
{
	return 3 * BITS_TO_LONGS(m->pages) * sizeof(long);
}
