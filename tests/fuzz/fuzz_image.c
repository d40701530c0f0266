// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the content of a cache device and its witness (struct image): the module's sources load,
 * use and stop the cache.  A refusal must name a reason.  An accepted device must have a consistent
 * geometry, and its index must hold no impossible block and no data in doubt (doubt.h).  After a
 * clean stop the next load must restore all slots, after a crash all data that is not in doubt.
 */
#include "fuzz.h"

#include "cache.h"
#include "doubt.h"
#include "image.h"
#include "meta/meta.h"
#include "store.h"
#include "dm/target.h"
#include "writes.h"

/* The constructor checks devices with more table pages, but load() would take too long. */
#define PAGES_MAX	64U

static const char *const field_names[] = {
	"magic", "version", "checksum", "incompat", "state", "stripe_count", "stripe_index",
	"label", "reserved0", "origin_fingerprint_type", "block_size", "origin_lbs", "cache_lbs",
	"subblock_size", "origin_size", "slot_count", "device_size", "data_offset", "table_pages",
	"area[", "intent_region", "uuid", "sequence", "table_epoch", "session",
};

static void check_reason(const char *why)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(field_names); i++)
		if (strstr(why, field_names[i]) && strlen(why) < NC_WHY_SIZE - 1)
			return;
	fuzz_bug("refused for the reason '%s'", why);
}

/* Check the areas with 128-bit sums: they cannot overflow, as the module's 64-bit sums could. */
static void check_areas(const struct nearcache_super *sb, const struct nc_geometry *geo)
{
	__int128 start, end, other, other_end;
	u32 i, j;

	for (i = 0; i < NEARCACHE_AREA_ROOM; i++) {
		start = le64_to_cpu(sb->area[i].offset);
		end = start + le64_to_cpu(sb->area[i].length);
		if (start == end)
			continue;
		HOLDS(start >= 1 << 20 && end <= geo->data_offset);
		HOLDS(start % 4096 == 0 && end % 4096 == 0);
		for (j = 0; j < i; j++) {
			other = le64_to_cpu(sb->area[j].offset);
			other_end = other + le64_to_cpu(sb->area[j].length);
			HOLDS(other == other_end || end <= other || other_end <= start);
		}
	}
	HOLDS(le64_to_cpu(sb->area[NEARCACHE_AREA_COMMIT].length) == 16 * 4096);
	HOLDS(geo->commit_offset == le64_to_cpu(sb->area[NEARCACHE_AREA_COMMIT].offset));
	HOLDS(geo->table_offset == le64_to_cpu(sb->area[NEARCACHE_AREA_TABLE].offset));
	HOLDS(geo->sums_offset == le64_to_cpu(sb->area[NEARCACHE_AREA_CHECKSUM].offset));
	HOLDS(geo->sums_length == le64_to_cpu(sb->area[NEARCACHE_AREA_CHECKSUM].length));
	HOLDS(!geo->sums_length == !(le64_to_cpu(sb->incompat) & NEARCACHE_INCOMPAT_CRC32C));
	HOLDS(!geo->sums_length ||
	      geo->sums_length >= (__int128)geo->slot_count * geo->subblocks * 4);
	HOLDS(le64_to_cpu(sb->area[NEARCACHE_AREA_TABLE].length) ==
	      (__int128)geo->table_pages * 2 * 4096);
}

static void check_geometry(const struct nearcache_super *sb, const struct nc_geometry *geo,
			   u64 bytes)
{
	__int128 slots = geo->slot_count;

	HOLDS(geo->device_size <= bytes);
	HOLDS(geo->block_size >= 65536 && geo->block_size <= 4 << 20 &&
	      !(geo->block_size & (geo->block_size - 1)));
	HOLDS(geo->subblocks >= 1 && geo->subblocks <= 64 && geo->subblock_size >= 4096 &&
	      geo->subblocks * geo->subblock_size == geo->block_size);
	HOLDS(geo->cache_lbs >= 512 && geo->cache_lbs <= geo->subblock_size);
	HOLDS(slots >= 2 && slots <= 1LL << 31);
	HOLDS(geo->stripe_count >= 1 && geo->stripe_count <= 16 &&
	      geo->stripe_index < geo->stripe_count && geo->stripe_count <= slots);
	HOLDS(geo->stripe_index ? !geo->table_pages :
	      slots <= (__int128)geo->table_pages * 168 &&
	      slots > (__int128)(geo->table_pages - 1) * 168);
	HOLDS(geo->data_offset % geo->block_size == 0);
	/* Number of slots on this device. */
	slots = (slots - 1 - geo->stripe_index) / geo->stripe_count + 1;
	HOLDS(geo->data_offset + slots * geo->block_size <= geo->device_size);
	HOLDS(geo->origin_size && geo->origin_size % 512 == 0);
	HOLDS((geo->origin_size - 1) / geo->block_size < 1ULL << 40);
	HOLDS((geo->origin_size - 1) / le64_to_cpu(sb->intent_region) < 8 * 65536);
	if (!geo->stripe_index)
		check_areas(sb, geo);
}

/* Check each superblock copy, then the pair, as the helper does.  Returns true for a valid pair. */
static bool judge(const struct image *im, struct nc_geometry *geo)
{
	const struct nearcache_super *best;
	char why[NC_WHY_SIZE];
	bool sound = false;
	u32 i;

	for (i = 0; i < 2; i++) {
		memset(why, '?', sizeof(why));
		if (nc_super_check(&im->copy[i], im->cache_bytes, geo, why)) {
			check_geometry(&im->copy[i], geo, im->cache_bytes);
			sound = true;
		} else {
			check_reason(why);
		}
	}
	memset(why, '?', sizeof(why));
	best = nc_super_choose(&im->copy[0], &im->copy[1], im->cache_bytes, geo, why);
	if (!best)
		check_reason(why);
	else
		check_geometry(best, geo, im->cache_bytes);
	HOLDS(!best || sound);
	return best;
}

static u64 used_blocks(const struct nc_cache *c, u64 *subblocks)
{
	u64 used = 0, last = (c->geo.origin_size - 1) / c->geo.block_size, end, bit;
	const struct nc_slot *slot;
	u32 i;

	*subblocks = 0;
	for (i = 0; i < c->index.count; i++) {
		slot = &c->index.slots[i];
		if (!(slot->flags & NC_SLOT_LINKED))
			continue;
		used++;
		HOLDS(nc_slot_block(slot) <= last);
		/* Two slots must not hold the same block: a look-up would find only one. */
		HOLDS(nc_index_find(&c->index, nc_slot_block(slot)) == i);
		/* No valid bit: the origin has grown, so the load dropped the old last block. */
		if (!slot->valid)
			continue;
		bit = 63 - __builtin_clzll(slot->valid);
		end = nc_slot_block(slot) * c->geo.block_size + bit * c->geo.subblock_size;
		HOLDS(bit < c->geo.subblocks && end < c->geo.origin_size);
		*subblocks += hweight64(slot->valid);
	}
	return used;
}

static void check_index(const struct nc_cache *c)
{
	u64 subblocks, used = used_blocks(c, &subblocks), free = 0;
	u32 i;

	HOLDS(c->hot.state == NEARCACHE_NORMAL && c->index.count == c->geo.slot_count);
	HOLDS(c->slots.used.counter == used && c->life.warm == used);
	HOLDS(c->slots.valid_subblocks.counter == subblocks);
	for (i = c->index.free.first; i != NC_NIL; i = c->index.slots[i].next) {
		HOLDS(i < c->index.count && !(c->index.slots[i].flags & NC_SLOT_LINKED));
		HOLDS(free++ < c->index.count);
	}
	HOLDS(free + used == c->index.count && free == c->index.free.count);
}

static u64 count_of(const struct nc_cache *c, enum nearcache_counter counter)
{
	return c->hot.counters->count[counter];
}

static int ctr(const struct image *im, struct fuzz_table *t)
{
	static const char *const modes[] = { "read-only", "writearound", "writethrough" };
	char *argv[] = {
		(char *)modes[im->mode % 3], "/dev/origin", "/dev/cache", "2", "witness",
		"/dev/witness",
	};

	memset(t, 0, sizeof(*t));
	t->table.mode = BLK_OPEN_READ | BLK_OPEN_WRITE;
	return fuzz_ctr(t, im->sectors, im->witness % 4 ? ARRAY_SIZE(argv) : 3, argv);
}

static struct nc_cache *cache_of(struct fuzz_table *t)
{
	return ((struct nc_target *)t->ti.private)->cache;
}

static bool is_told(const struct nc_cache *c)
{
	return c->intent.mode == NC_INTENT_ON && !fuzz_failures && !writes_broken();
}

static bool holds_data(const struct nc_slot *slot)
{
	return slot->flags & NC_SLOT_LINKED && slot->valid;
}

/* Copy the slots, for comparison with those of a later load; the caller frees the copy. */
static struct nc_slot *slots_of(const struct nc_cache *c)
{
	struct nc_slot *copy = calloc(c->index.count, sizeof(*copy));
	u32 i;

	if (!copy)
		abort();
	memcpy(copy, c->index.slots, c->index.count * sizeof(*copy));
	/* No slot has a tag here, so @tagged of the copy can store the generation. */
	for (i = 0; i < c->index.count; i++)
		copy[i].tagged = c->index.generation[i];
	return copy;
}

static void same_slots(const struct nc_slot *then, const struct nc_cache *c)
{
	const struct nc_slot *now = c->index.slots;
	u32 i;

	for (i = 0; i < c->index.count; i++)
		HOLDS(holds_data(&now[i]) == holds_data(&then[i]) && (!holds_data(&now[i]) ||
		      (nc_slot_block(&now[i]) == nc_slot_block(&then[i]) &&
		       now[i].valid == then[i].valid &&
		       c->index.generation[i] == then[i].tagged)));
}

/* Is a sequence number so near its limit that the next load may refuse the device? */
static bool near_end(const struct nc_cache *c)
{
	const struct nearcache_super *sb = c->meta->super.sb;
	const u64 end = NEARCACHE_MAX_SEQUENCE - 1000;

	return c->meta->commit.sequence > end || le64_to_cpu(sb->sequence) > end ||
	       le64_to_cpu(sb->table_epoch) > end;
}

static u64 doubted(const struct nc_cache *c, const struct nc_slot *slot, const struct doubt *d)
{
	u64 at = nc_slot_block(slot) * c->geo.block_size, bits = 0;
	u32 sub;

	for (sub = 0; sub < c->geo.subblocks; sub++, at += c->geo.subblock_size)
		if (at < c->geo.origin_size &&
		    doubt_of(d, at, min(at + c->geo.subblock_size, c->geo.origin_size)))
			bits |= 1ULL << sub;
	return bits;
}

/* Returns true if no data in the index is in doubt according to @d. */
static bool fits(const struct nc_cache *c, const struct doubt *d)
{
	u32 i;

	for (i = 0; i < c->index.count; i++)
		if (holds_data(&c->index.slots[i]) &&
		    c->index.slots[i].valid & doubted(c, &c->index.slots[i], d))
			return false;
	return true;
}

/* Data that a write made stale must not be in the index; this check does not use doubt.c. */
static void check_unwritten(const struct nc_cache *c)
{
	const struct nc_slot *slot;
	u32 i, sub;
	u64 at;

	for (i = 0; i < c->index.count; i++) {
		slot = &c->index.slots[i];
		at = nc_slot_block(slot) * c->geo.block_size;
		for (sub = 0; sub < c->geo.subblocks; sub++, at += c->geo.subblock_size)
			HOLDS(!holds_data(slot) || !(slot->valid >> sub & 1) ||
			      !writes_touched(at, at + c->geo.subblock_size));
	}
}

/*
 * First resume of a dm table: the load must drop the data in doubt.  After an I/O error the module
 * may have read only one superblock copy, so the data must fit at least one of the copies.
 */
static int resume(const struct image *im, struct fuzz_table *t)
{
	static struct doubt d[3];
	struct nc_cache *c = cache_of(t);
	u32 i, failures = fuzz_failures;
	bool sound[3], cold;
	int r;

	for (i = 0; i < 3; i++)
		sound[i] = doubt_read(&d[i], (int)i - 1, im->witness % 4, false);
	r = fuzz_target->preresume(&t->ti);
	if (r || c->hot.state != NEARCACHE_NORMAL)
		return r;
	if (failures != fuzz_failures) {
		HOLDS((sound[1] && fits(c, &d[1])) || (sound[2] && fits(c, &d[2])));
		return r;
	}
	cold = c->life.loaded == NEARCACHE_LOADED_UNCLEAN;
	HOLDS(sound[0] && fits(c, &d[0]) && cold == d[0].all);
	if (le32_to_cpu(d[0].super.state) == NEARCACHE_STATE_WRITING)
		fuzz_count(cold ? "images_cold" : "images_warm", 1);
	return r;
}

/* Load after a clean stop, with no I/O error.  @then: slots that must be loaded, or NULL. */
static void load_again(const struct image *im, const struct nc_slot *then)
{
	struct fuzz_table t;
	struct nc_cache *c;

	fuzz_fail_at = 0;
	if (ctr(im, &t) || resume(im, &t))
		fuzz_bug("the next load fails");
	c = cache_of(&t);
	check_index(c);
	check_unwritten(c);
	if (then) {
		HOLDS(c->life.loaded == NEARCACHE_LOADED_WARM || c->life.loaded == NEARCACHE_LOADED_NEW);
		HOLDS(!count_of(c, NEARCACHE_COUNTER_PAGES_DAMAGED));
		HOLDS(!count_of(c, NEARCACHE_COUNTER_SLOTS_DROPPED));
		same_slots(then, c);
	}
	fuzz_target->postsuspend(&t.ti);
	fuzz_target->dtr(&t.ti);
}

/* The cache must have all data of @then that is not in doubt, and no data that @begun lacks. */
static void check_left(const struct nc_cache *c, const struct nc_slot *begun,
		       const struct nc_slot *then, const struct doubt *d)
{
	const struct nc_slot *now = c->index.slots;
	u64 bits;
	u32 i;

	for (i = 0; i < c->index.count; i++) {
		if (holds_data(&now[i]))
			HOLDS(holds_data(&begun[i]) &&
			      nc_slot_block(&now[i]) == nc_slot_block(&begun[i]) &&
			      !(now[i].valid & ~begun[i].valid));
		bits = holds_data(&then[i]) ? then[i].valid & ~doubted(c, &then[i], d) : 0;
		HOLDS(!bits || (holds_data(&now[i]) && !(bits & ~now[i].valid)));
	}
}

/* Only regions of requested writes may be marked; sent() checks that each write is marked. */
static void check_marks(const struct doubt *d)
{
	u64 bit;
	u32 i;

	HOLDS(!d->all || writes_touched_ends());
	for (i = 0; i < DOUBT_SECTORS; i++) {
		HOLDS(!d->full[i]);
		for (bit = 0; bit < NEARCACHE_INTENT_BITS; bit++)
			if (!d->area[i].bits[bit / 8])
				bit |= 7;
			else
				HOLDS(!(d->area[i].bits[bit / 8] >> bit % 8 & 1) ||
				      writes_held_at((i * NEARCACHE_INTENT_BITS + bit) * d->region,
						     d->region));
	}
}

/* Load after a crash.  @begun: slots at the start of the session.  @then: slots at the crash, or
 * NULL.  @told: no failure was injected, so only requested writes have marks on the medium.
 */
static void load_left(const struct image *im, const struct nc_slot *begun,
		      const struct nc_slot *then, bool told)
{
	static struct doubt d;
	struct fuzz_table t;
	struct nc_cache *c;

	HOLDS(doubt_read(&d, -1, im->witness % 4, false));
	if (told)
		check_marks(&d);
	if (ctr(im, &t) || resume(im, &t))
		fuzz_bug("the next load fails");
	c = cache_of(&t);
	check_index(c);
	check_unwritten(c);
	if (then && !d.all)
		check_left(c, begun, then, &d);
	/* If the origin's ends are not in doubt, the fingerprint must match their last change. */
	if (!d.all && fuzz_ends && d.super.origin_fingerprint_type == NEARCACHE_FP_ENDS)
		HOLDS(d.super.origin_fingerprint[0] == (u8)(0x5a + fuzz_ends));
	fuzz_count("crashes", 1);
	fuzz_count("crashes_warm", !d.all);
	fuzz_target->postsuspend(&t.ti);
	fuzz_target->dtr(&t.ti);
}

/* Crash: no later write reaches the medium; a power cut also loses writes that are not durable. */
static void cut_off(const struct image *im, struct fuzz_table *t, u64 *random)
{
	cache_of(t)->life.active = NULL;
	fuzz_target->dtr(&t->ti);
	fuzz_fail_at = 0;
	if (im->end % IMAGE_END_COUNT == IMAGE_END_POWER)
		store_cut(NULL);
	else if (im->end % IMAGE_END_COUNT == IMAGE_END_POWER_SOME)
		store_cut(random);
}

/* After all writes have ended and time has passed, no region may be marked on the medium. */
static void idle(const struct nc_cache *c)
{
	static struct doubt d;
	u32 i;

	writes_sweep();
	HOLDS(doubt_read(&d, -1, true, false) && !d.all && !nc_intent_count(&c->intent));
	for (i = 0; i < sizeof(d.area); i++)
		HOLDS(i % 512 < 256 || !((u8 *)d.area)[i]);
}

static void stop(const struct image *im, struct fuzz_table *t)
{
	struct nc_cache *c = cache_of(t);
	bool failing = im->fail_at;

	writes_end();
	if (is_told(c) && im->script % 16 < 12)
		idle(c);
	fuzz_target->presuspend(&t->ti);
	fuzz_target->postsuspend(&t->ti);
	HOLDS(c->hot.state == NEARCACHE_NORMAL ||
	      ((failing || writes_broken()) && strstr(fuzz_said, "is bypassed: ")));
}

/* Does the image have pages of a future epoch?  The module never leaves such pages behind. */
static bool has_future(const struct image *im, const struct nc_cache *c)
{
	u32 i;

	for (i = 0; i < 2 * IMAGE_PAGES; i++)
		if (c->life.loaded == NEARCACHE_LOADED_UNCLEAN &&
		    le64_to_cpu(im->page[i / IMAGE_PAGES][i % IMAGE_PAGES].epoch) >=
		    c->geo.table_epoch)
			return true;
	return false;
}

/* Resume, then run writers.  Returns a copy of the slots after the load, NULL if it failed. */
static struct nc_slot *session(const struct image *im, struct fuzz_table *t, u64 *random)
{
	struct nc_cache *c = cache_of(t);
	u32 steps;
	struct nc_slot *begun;

	fuzz_said[0] = 0;
	writes_begin(c, im->witness % 4, im->script % 8 < 3);
	if (resume(im, t)) {
		HOLDS(im->fail_at && fuzz_said[0]);
		return NULL;
	}
	if (c->hot.state == NEARCACHE_NORMAL)
		check_index(c);
	fuzz_target->resume(&t->ti);
	begun = slots_of(c);
	steps = im->mode % 3 && !near_end(c) ? im->writes : 0;
	while (steps--)
		writes_step(random);
	return begun;
}

static void load(const struct image *im, struct fuzz_table *t)
{
	struct nc_cache *c = cache_of(t);
	struct nc_slot *begun, *then = NULL;
	bool cut = im->end % IMAGE_END_COUNT, again, told;
	u64 random = im->script;

	begun = session(im, t, &random);
	cut = cut && begun;
	if (begun && !cut)
		stop(im, t);
	again = !near_end(c);
	told = is_told(c);
	if (begun && c->hot.state == NEARCACHE_NORMAL && !fuzz_failures &&
	    (cut ? !has_future(im, c) : !writes_broken()))
		then = slots_of(c);
	if (cut)
		cut_off(im, t, &random);
	else
		fuzz_target->dtr(&t->ti);
	if (again && cut)
		load_left(im, begun, then, told);
	else if (again)
		load_again(im, then);
	free(begun);
	free(then);
}

/* Change the superblocks between load and resume of the dm table: the resume must fail. */
static void load_changed(struct image *im, struct fuzz_table *t)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		if (im->late == 1)
			im->copy[i].uuid[3] ^= 1;
		else
			memset(&im->copy[i], 0, sizeof(im->copy[i]));
		nc_super_seal(&im->copy[i]);
	}
	image_place(im);
	fuzz_said[0] = 0;
	HOLDS(fuzz_target->preresume(&t->ti) && fuzz_said[0]);
	fuzz_target->dtr(&t->ti);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct image im;
	struct nc_geometry geo;
	struct fuzz_table t;
	bool sound;
	int r;

	if (!fuzz_target)
		nc_target_register();
	memset(&im, 0, sizeof(im));
	memcpy(&im, data, min(size, sizeof(im)));
	fuzz_devices(im.origin_bytes & ~511ULL, im.cache_bytes & ~511ULL,
		     im.witness_bytes & ~511ULL);
	im.cache_bytes = fuzz_cache.bytes;
	fuzz_cache.lbs = 512 << im.lbs % 4;
	fuzz_fail_at = im.fail_at;
	fuzz_fail_count = im.fail_count;
	fuzz_fail_only = im.fail_who % 3 == 1 ? &fuzz_cache :
			 im.fail_who % 3 == 2 ? &fuzz_witness : NULL;
	sound = judge(&im, &geo);
	fuzz_count("fuzz_inputs", 1);
	fuzz_count("images_sound", sound);
	image_place(&im);
	fuzz_no_memory = im.no_memory;
	r = ctr(&im, &t);
	HOLDS(r <= 0 && (!r || fuzz_said[0] || im.no_memory));
	fuzz_no_memory = 0;
	/* judge() refused the pair, but an I/O error may have hidden one copy from the module. */
	HOLDS(r || sound || im.fail_at);
	if (r)
		HOLDS(t.ti.error && t.ti.error[0]);
	else if (im.late == 1 || im.late == 2)
		load_changed(&im, &t);
	else if (sound && geo.table_pages <= PAGES_MAX)
		load(&im, &t);
	else
		fuzz_target->dtr(&t.ti);
	HOLDS(!fuzz_allocated);
	return 0;
}

size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t room, unsigned int seed);

/* image_mutate() changes fields; one input in eight is mutated as plain bytes by libFuzzer. */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t room, unsigned int seed)
{
	static struct image im;
	u64 random = seed;

	if (room < sizeof(im) || !(image_random(&random) % 8))
		return LLVMFuzzerMutate(data, size, room);
	if (size < sizeof(im))
		image_create(&im, &random, 32 << 20, 64 << 20, 65536);
	else
		memcpy(&im, data, sizeof(im));
	image_mutate(&im, &random);
	memcpy(data, &im, sizeof(im));
	return sizeof(im);
}
