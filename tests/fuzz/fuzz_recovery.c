// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the recovery of the slot table: the power of a read-only cache, on a drive with a volatile
 * write cache, is cut at any write, repeatedly, also during recovery.  Evictions and fills change
 * many pages of the slot table, so that commits take more than one batch.  After each power cut a
 * loaded slot must hold the block that the slot table names, and each page must have a valid copy.
 */
#include "fuzz.h"

#include "cache.h"
#include "image.h"
#include "meta/meta.h"
#include "dm/target.h"

#define BLOCK		65536U
#define ORIGIN		((16ULL << 30) + 512)
#define ORIGIN_MAX	(ORIGIN + (1ULL << 20))
#define PAGES_MAX	420U
#define SLOTS_MAX	(PAGES_MAX * NEARCACHE_SLOTS_PER_PAGE)
#define UNITS_MAX	(2 * PAGES_MAX + 512U)
/* Maximum number of writes between two flushes; two batches of a commit need fewer. */
#define PENDING_MAX	1024U
#define EVICT_MAX	500U
#define SECTORS		(FUZZ_UNIT / 512)
/* Value in held[] of a slot whose data a power cut tore: it holds no block. */
#define TORN		(~0ULL)

/* Durable metadata, and the later writes in the drive's cache, oldest first. */
static unsigned char durable[UNITS_MAX][FUZZ_UNIT];
static u32 units;
static struct write {
	u32 unit;
	bool fua;
	unsigned char bytes[FUZZ_UNIT];
} pending[PENDING_MAX];
/* The first @sent pending writes are of completed I/Os, the others of the I/O in flight. */
static u32 pending_count, sent;

/* Block in each slot.  Slots in @unsure: a power cut may tear them or restore @held_before. */
static u64 held[SLOTS_MAX], held_before[SLOTS_MAX];
static u32 unsure[SLOTS_MAX], unsure_count;

/* Number of I/Os until the power is cut; 0: it was cut, or no cut is planned. */
static u32 power_goes;
/* @gone: the power was cut; @left and @left_held have survived.  @full: cut in full_batch(). */
static bool gone, full;
static unsigned char left[UNITS_MAX][FUZZ_UNIT];
static u64 left_held[SLOTS_MAX];

/* Cache in which io() evicts and fills slots, as other threads do during a commit; NULL: none. */
static struct nc_cache *live;
static u32 victim[SLOTS_MAX], victims;

/* Cache of this session, from its constructor to its destructor. */
static struct nc_cache *loaded;

/* Size of the origin in sectors; a session may enlarge it. */
static u64 sectors;

static u64 random_state;

static u32 upto(u32 n)
{
	return image_random(&random_state) % (n + 1);
}

static bool chance(u32 percent)
{
	return upto(99) < percent;
}

static void settle(u32 i)
{
	memcpy(durable[pending[i].unit], pending[i].bytes, FUZZ_UNIT);
}

static void flushed(void)
{
	u32 i;

	for (i = 0; i < pending_count; i++)
		settle(i);
	pending_count = sent = unsure_count = 0;
}

/* Set @left to the content that survives: durable writes, and parts of some pending writes. */
static void power_cut(void)
{
	u32 present = full ? 100 : upto(100), torn = chance(50) ? 40 : 0, i, s;

	memcpy(left, durable, units * FUZZ_UNIT);
	for (i = 0; i < pending_count; i++)
		for (s = chance(present) ? 0 : SECTORS; s < SECTORS; s++)
			if (!chance(i < sent ? torn : 50))
				memcpy(&left[pending[i].unit][s * 512],
				       &pending[i].bytes[s * 512], 512);
	memcpy(left_held, held, sizeof(held));
	for (i = 0; i < unsure_count; i++)
		if (chance(70))
			left_held[unsure[i]] = chance(50) ? TORN : held_before[unsure[i]];
	gone = true;
}

/* The I/O in flight completes: its FUA writes become durable, its other writes stay pending. */
static void ended(void)
{
	u32 i, n = sent;

	for (i = sent; i < pending_count; i++)
		if (pending[i].fua)
			settle(i);
		else
			pending[n++] = pending[i];
	pending_count = sent = n;
}

static u64 last_block(void)
{
	return (sectors * 512 - 1) / BLOCK;
}

/* All valid bits of a block; the last block of the origin may be short. */
static u64 bits_of(u64 block)
{
	u64 bytes = min(sectors * 512 - block * BLOCK, (u64)BLOCK);

	return ~0ULL >> (64 - (bytes + FUZZ_UNIT - 1) / FUZZ_UNIT);
}

/* Fill a block as a miss does: take a slot if the block has none, then set the valid bits. */
static void fill(struct nc_cache *c, u64 block)
{
	struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);
	u32 i = nc_index_find(&c->index, block);

	if (i == NC_NIL) {
		if (c->index.free.first == NC_NIL || unsure_count == SLOTS_MAX)
			return;
		i = nc_index_pop(&c->index);
		spin_lock(&bucket->lock);
		c->index.generation[i] = nc_meta_generation(c->meta);
		nc_index_link(&c->index, i, block);
		spin_unlock(&bucket->lock);
		held_before[i] = held[i];
		held[i] = block;
		unsure[unsure_count++] = i;
		atomic64_add(1, &c->slots.used);
	}
	atomic64_add(hweight64(bits_of(block) & ~c->index.slots[i].valid), &c->slots.valid_subblocks);
	c->index.slots[i].valid |= bits_of(block);
	nc_table_dirty(c, i);
}

/* Evict up to @want slots into @victim, as reclaim does; fill 5 % of the blocks again elsewhere. */
static void unlink_some(struct nc_cache *c, u32 want)
{
	u32 i;

	for (i = upto(chance(50) ? c->index.count - 1 : 4000); i < c->index.count && want; i++) {
		struct nc_slot *slot = &c->index.slots[i];
		u64 block = nc_slot_block(slot);
		struct nc_bucket_lock *bucket = nc_index_bucket(&c->index, block);

		if (!(slot->flags & NC_SLOT_LINKED))
			continue;
		spin_lock(&bucket->lock);
		nc_index_unlink(&c->index, i);
		nc_table_dirty(c, i);
		spin_unlock(&bucket->lock);
		victim[victims++] = i;
		want--;
		if (chance(5))
			fill(c, block);
	}
}

/* Evict, commit, then free the evicted slots.  Before the commit, the table on the medium still
 * names the old blocks, so no fill may reuse the slots.
 */
static void evict(struct nc_cache *c)
{
	u32 n;

	unlink_some(c, chance(50) ? upto(8) : 250 + upto(EVICT_MAX - 250));
	n = victims;
	if (nc_commit_run(c))
		fuzz_bug("the commit failed");
	while (n) {
		u32 i = victim[--n];

		atomic64_sub(hweight64(c->index.slots[i].valid), &c->slots.valid_subblocks);
		nc_index_push(&c->index, i);
		atomic64_dec(&c->slots.used);
		victim[n] = victim[--victims];
	}
}

static void fill_some(struct nc_cache *c)
{
	u32 n;

	for (n = upto(EVICT_MAX); n; n--)
		fill(c, image_random(&random_state) % (ORIGIN / BLOCK));
}

/* A page that a batch writes twice would count as written to its other copy. */
static void check_batch(const struct nc_table *t)
{
	bool seen[PAGES_MAX] = { false };
	u32 i;

	for (i = 0; i < t->batched; i++) {
		if (seen[t->batch[i]])
			fuzz_bug("page %u is in the batch twice", t->batch[i]);
		seen[t->batch[i]] = true;
	}
}

static void io(blk_opf_t opf)
{
	static bool fua;
	u32 i;

	if (loaded)
		check_batch(&loaded->meta->table);
	for (i = sent; i < pending_count; i++)
		pending[i].fua = fua;
	/* Most I/Os have one unit, so prefer to cut the power in an I/O of many units. */
	if (power_goes && (!--power_goes || (pending_count - sent > 16 && chance(full ? 100 : 30)))) {
		power_goes = 0;
		power_cut();
	}
	ended();
	if (opf & REQ_PREFLUSH)
		flushed();
	fua = opf & REQ_FUA;
	if (live && chance(20)) {
		unlink_some(live, 1 + upto(5));
		fill(live, image_random(&random_state) % (ORIGIN / BLOCK));
	}
}

/* Change a page that the batch under way has, as another thread may between two pages. */
static void dirty_batched(void)
{
	const struct nc_table *t = &loaded->meta->table;

	if (t->batched && chance(10))
		nc_table_dirty(loaded, t->batch[upto(t->batched - 1)] * NEARCACHE_SLOTS_PER_PAGE);
}

static unsigned char *unit(u64 offset, bool write)
{
	u32 n = offset / FUZZ_UNIT, i;

	if (offset % FUZZ_UNIT || n >= units)
		fuzz_bug("I/O at %llu", offset);
	if (write) {
		if (pending_count == PENDING_MAX)
			fuzz_bug("%u writes without a flush", pending_count);
		pending[pending_count].unit = n;
		return pending[pending_count++].bytes;
	}
	for (i = pending_count; i--;)
		if (pending[i].unit == n)
			return pending[i].bytes;
	return durable[n];
}

/* Make a new cache with one cached block in each page of the table. */
static void create(struct image *im, struct nc_geometry *geo)
{
	u32 pages = 1 + (chance(50) ? upto(19) : 255 + upto(PAGES_MAX - 256)), n, slot;
	u64 seed = random_state, bytes = (2ULL << 20) + 2 * pages * FUZZ_UNIT +
					 pages * 168ULL * BLOCK, block;
	char why[NC_WHY_SIZE];
	struct nearcache_page *page;

	do {
		image_create(im, &seed, bytes, ORIGIN, BLOCK);
	} while (im->copy[0].incompat);
	sectors = im->sectors;
	if (!nc_super_choose(&im->copy[0], &im->copy[1], bytes, geo, why) ||
	    geo->table_pages > PAGES_MAX)
		fuzz_bug("no cache: %s", why);
	units = min(geo->data_offset / FUZZ_UNIT, (u64)UNITS_MAX);
	memset(durable, 0, units * FUZZ_UNIT);
	memcpy(durable[NEARCACHE_SUPER_OFFSET_0 / FUZZ_UNIT], &im->copy[0], FUZZ_UNIT);
	memcpy(durable[NEARCACHE_SUPER_OFFSET_1 / FUZZ_UNIT], &im->copy[1], FUZZ_UNIT);
	for (n = 0; n < geo->table_pages; n++) {
		page = (void *)durable[geo->table_offset / FUZZ_UNIT + n];
		nc_page_init(page, im->copy[0].uuid, n, 0, 1);
		/* The first page holds the last block of the origin.  Its slot and the page's
		 * checksum are in different sectors: in a torn page only one of them is new.
		 */
		block = n ? n : last_block();
		slot = 20 + n % 100;
		if (n * NEARCACHE_SLOTS_PER_PAGE + slot < geo->slot_count) {
			page->slot[slot].origin_block = cpu_to_le64(block);
			page->slot[slot].valid = cpu_to_le64(bits_of(block));
			held[n * NEARCACHE_SLOTS_PER_PAGE + slot] = block;
		}
		nc_page_seal(page);
		page += geo->table_pages;
		nc_page_init(page, im->copy[0].uuid, n, 0, 1);
		nc_page_seal(page);
	}
	pending_count = sent = unsure_count = 0;
	power_goes = 0;
	gone = false;
}

static void check_loaded(const struct nc_cache *c)
{
	const struct nc_slot *slot = c->index.slots;
	u32 i;

	if (c->hot.counters->count[NEARCACHE_COUNTER_PAGES_DAMAGED])
		fuzz_bug("%llu pages lost",
			 c->hot.counters->count[NEARCACHE_COUNTER_PAGES_DAMAGED]);
	if (c->hot.state != NEARCACHE_NORMAL || c->life.loaded == NEARCACHE_LOADED_UNCLEAN)
		fuzz_bug("the cache is not warm");
	for (i = 0; i < c->index.count; i++)
		if (slot[i].flags & NC_SLOT_LINKED && slot[i].valid && held[i] != nc_slot_block(&slot[i]))
			fuzz_bug("the table says slot %u holds block %llu, it holds %llx", i,
				 nc_slot_block(&slot[i]), held[i]);
}

/* Commit as many pages as a commit record can name.  Leave out page 0, as the recovery changes it
 * too if the origin has grown.
 */
static void full_batch(struct nc_cache *c)
{
	u32 page;

	for (page = 1; page < c->geo.table_pages && page <= NC_TABLE_BATCH; page++)
		nc_table_dirty(c, page * NEARCACHE_SLOTS_PER_PAGE);
	unlink_some(c, EVICT_MAX);
	if (nc_commit_run(c))
		fuzz_bug("the commit failed");
}

/* Load, then evict and fill until a stop or a power cut.  Returns true after a power cut. */
static bool session(void)
{
	char *argv[] = { "read-only", "/dev/origin", "/dev/cache" };
	struct fuzz_table t = { .table.mode = BLK_OPEN_READ };
	struct nc_cache *c;
	u32 n;

	gone = false;
	victims = 0;
	power_goes = chance(80) ? 1 + upto(chance(50) ? 6 : 60) : 0;
	if (full)
		power_goes = 100;
	else if (chance(50) && sectors + 100 < ORIGIN_MAX / 512)
		sectors += upto(100);
	fuzz_origin.bytes = sectors * 512;
	if (fuzz_ctr(&t, sectors, ARRAY_SIZE(argv), argv))
		fuzz_bug("the table is refused");
	loaded = c = ((struct nc_target *)t.ti.private)->cache;
	fuzz_resched = dirty_batched;
	if (fuzz_target->preresume(&t.ti))
		fuzz_bug("the load fails");
	/* A power cut in preresume hits the writes after the load, so the index is complete. */
	check_loaded(c);
	fuzz_target->resume(&t.ti);
	live = full ? NULL : c;
	if (full)
		full_batch(c);
	else if (chance(50))
		fill(c, last_block());
	for (n = upto(6); n && !gone; n--) {
		evict(c);
		if (chance(70))
			fill_some(c);
		if (chance(50) && nc_commit_run(c))
			fuzz_bug("the commit failed");
	}
	live = NULL;
	fuzz_target->presuspend(&t.ti);
	fuzz_target->postsuspend(&t.ti);
	fuzz_resched = NULL;
	loaded = NULL;
	fuzz_target->dtr(&t.ti);
	if (!gone) {
		power_goes = 0;
		io(REQ_PREFLUSH);
		return false;
	}
	memcpy(durable, left, units * FUZZ_UNIT);
	memcpy(held, left_held, sizeof(held));
	pending_count = sent = unsure_count = 0;
	return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct nc_geometry geo;
	static struct image im;
	bool crashed;
	u32 n;

	if (!fuzz_target)
		nc_target_register();
	for (random_state = size; size; size--)
		random_state = (random_state ^ *data++) * 0x100000001b3ULL;
	create(&im, &geo);
	fuzz_devices(ORIGIN, im.cache_bytes, 0);
	fuzz_cache.unit = unit;
	fuzz_cache.io = io;
	full = geo.table_pages > NC_TABLE_BATCH && chance(70);
	crashed = session();
	full = false;
	for (n = 1 + upto(6); n; n--)
		crashed |= session();
	fuzz_count("crash_states", crashed);
	return 0;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t room, unsigned int seed);

/* An input is only a seed of random numbers: draw a new seed instead of mutating the old one. */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t room, unsigned int seed)
{
	u64 random = seed, word = image_random(&random);

	(void)size;
	if (room < sizeof(word))
		return 0;
	memcpy(data, &word, sizeof(word));
	return sizeof(word);
}
