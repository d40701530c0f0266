// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulates writers of a live cache, as in kmod/io/writearound.c, at random between the work items
 * that the module queues for them.  The rule under test: the module sends a write to the origin
 * only after its region is durably marked, so that a load after a power cut distrusts the region.
 */
#include "fuzz.h"

#include "cache.h"
#include "doubt.h"
#include "image.h"
#include "io/invalidate.h"
#include "meta/meta.h"
#include "meta/write_intent_clear.h"
#include "writes.h"

#define WRITES		32U
#define SECTOR_SIZE	512U
#define ENDS		(65536U / SECTOR_SIZE)

/* @end: writes to an end of the origin; @under_way: @range is in nc_cache.write_ranges */
static struct writer {
	struct bio bio;
	struct nc_write_range range;
	bool end, under_way;
} writers[WRITES];

static u32 count;
static struct nc_cache *live;
static bool with_witness, may_break, broken;

static void sent(const struct bio *bio)
{
	const struct writer *w = container_of(bio, const struct writer, bio);
	u64 from = bio->bi_iter.bi_sector << SECTOR_SHIFT, at;
	static struct doubt d;

	if (!doubt_read(&d, -1, with_witness, true))
		fuzz_bug("no superblock is valid");
	for (at = from; at < from + bio->bi_iter.bi_size; at += SECTOR_SIZE)
		if (!d.all && !doubt_of(&d, at, at + SECTOR_SIZE))
			fuzz_bug("write at %llu without a durable mark", at);
	if (w->end) {
		HOLDS(d.all);
		fuzz_ends++;
	}
	fuzz_count("writes", 1);
	fuzz_count("writes_marked", !d.all);
}

void fuzz_submit(struct bio *bio)
{
	HOLDS(bio->done == FUZZ_BIO_HELD);
	bio->done = FUZZ_BIO_SENT;
	sent(bio);
}

/* Invalidate the cached data of the sectors @first to @last. */
static void drop(u64 first, u64 last)
{
	struct nc_cache *c = live;
	struct nc_bucket_lock *bucket;
	u64 block, sub, bits;
	u32 i;

	for (block = first >> c->hot.block_shift; block <= last >> c->hot.block_shift; block++) {
		bits = 0;
		for (sub = 0; sub < c->geo.subblocks; sub++) {
			u64 start = (block << c->hot.block_shift) + (sub << c->hot.sub_shift);

			if (start <= last && first < start + (1U << c->hot.sub_shift))
				bits |= BIT_ULL(sub);
		}
		bucket = nc_index_bucket(&c->index, block);
		spin_lock(&bucket->lock);
		i = nc_index_find(&c->index, block);
		if (i != NC_NIL)
			nc_invalidate_bits(c, bucket, i, bits);
		spin_unlock(&bucket->lock);
	}
}

/* Draw a sector of the origin: mostly a cached one, seldom one near an end. */
static u64 any_sector(u64 *random, u64 sectors)
{
	u32 i = image_random(random) % live->index.count, n = 0;
	u64 r = image_random(random);

	if (!(r % 32))
		return r / 64 % 2 ? r / 128 % ENDS % sectors :
				    sectors - 1 - r / 128 % ENDS % sectors;
	while (n++ < 400 && !live->index.slots[i].valid)
		i = (i + 1) % live->index.count;
	if (!(r / 32 % 2 + r / 8 % 4) || !live->index.slots[i].valid)
		return r / 128 % sectors;
	return ((nc_slot_block(&live->index.slots[i]) << live->hot.block_shift) +
		r / 128 % (1U << live->hot.block_shift)) % sectors;
}

static void begin_write(u64 *random)
{
	u64 sectors = live->geo.origin_size >> SECTOR_SHIFT, at = any_sector(random, sectors);
	u64 n = 1 + image_random(random) % 4096 % (8U << image_random(random) % 10);
	struct writer *w = &writers[count];

	if (count == WRITES)
		return;
	count++;
	n = min(n, sectors - at);
	*w = (struct writer) {
		.bio = { .bi_opf = REQ_OP_WRITE, .bi_iter = { at, n << SECTOR_SHIFT } },
		.range = { .first = at, .last = at + n - 1 },
		.end = at < ENDS || at + n + ENDS > sectors,
		.under_way = true,
	};
	live->origin.written = true;
	nc_write_range_add(&live->write_ranges, &w->range);
	drop(at, at + n - 1);
	if (nc_intent_admit(live, &live->intent, &w->bio))
		fuzz_submit(&w->bio);
	else
		fuzz_count("writes_held", 1);
}

static void complete_writer(struct writer *w)
{
	if (!w->under_way || w->bio.done == FUZZ_BIO_HELD)
		return;
	/* A fingerprint taken before this completion may be of the old or the new data. */
	fuzz_ends += w->bio.done == FUZZ_BIO_SENT && w->end;
	nc_write_range_remove(&live->write_ranges, &w->range);
	w->under_way = false;
}

/* Complete the oldest write in flight, or in one of four cases all writes in flight. */
static void complete_some(u64 r)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (writers[i].under_way && writers[i].bio.done != FUZZ_BIO_HELD) {
			complete_writer(&writers[i]);
			if (r % 4)
				return;
		}
}

static void break_something(u64 *random)
{
	u64 r = image_random(random);

	broken = true;
	switch (r % 4) {
	case 0:
		nc_health_bypass(live, NEARCACHE_REASON_ERRORS);
		break;
	case 1:
		fuzz_flush_fails = 1;
		break;
	default:
		/* One I/O or 256 in a row fail; to the cache device, to the witness, or to any. */
		fuzz_fail_only = r / 4 % 3 ? r / 4 % 3 == 1 ? &fuzz_cache : &fuzz_witness : NULL;
		fuzz_fail_at = 1 + r / 16 % 4;
		fuzz_fail_count = r / 64 % 2 ? 255 : 0;
	}
}

/* Another host wrote, then sends "invalidate": as after a local write, old data must not return. */
static void invalidate(u64 *random)
{
	u64 at = any_sector(random, live->geo.origin_size >> SECTOR_SHIFT);
	struct writer *w = &writers[count];

	if (count == WRITES)
		return;
	count++;
	*w = (struct writer) { .range = { .first = at, .last = at } };
	mutex_lock(&live->life.lock);
	drop(at, at);
	w->bio.done = fuzz_record_drop(live) ? FUZZ_BIO_FAILED : FUZZ_BIO_SENT;
	mutex_unlock(&live->life.lock);
}

static void sweep(void)
{
	fuzz_jiffies += NC_INTENT_PERIOD;
	flush_work(&live->intent.clear_work.work);
}

/**
 * writes_begin() - forget all writers and serve another cache
 * @c: live cache in a writing mode
 * @witness: the dm table names a witness
 * @breaks: writes_step() may let devices fail
 */
void writes_begin(struct nc_cache *c, bool witness, bool breaks)
{
	may_break = breaks;
	live = c;
	with_witness = witness;
	count = 0;
	memset(writers, 0, sizeof(writers));
	broken = false;
}

/* Let one random event happen: a write, a completion, a work item, or a failure. */
void writes_step(u64 *random)
{
	u64 r = image_random(random);

	switch (r % 16) {
	default:
		begin_write(random);
		break;
	case 4:
	case 5:
		flush_work(&live->intent.mark_work);
		break;
	case 6:
	case 7:
		flush_work(&live->intent.ready_work);
		break;
	case 8:
		flush_work(&live->intent.leave_work);
		break;
	case 9:
	case 10:
		complete_some(r / 16);
		break;
	case 11:
	case 12:
		sweep();
		break;
	case 13:
		fuzz_jiffies += HZ;
		flush_work(&live->intent.slow_work.work);
		break;
	case 14:
		if (r / 16 % 4 == 0)
			invalidate(random);
		flush_work(&live->workers.commit.work);
		flush_work(&live->workers.drop_all);
		break;
	case 15:
		if (may_break)
			break_something(random);
	}
}

/* Run the queued work, check that the module has sent or failed all writes, and complete them. */
void writes_end(void)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		flush_work(&live->intent.mark_work);
		flush_work(&live->intent.leave_work);
		flush_work(&live->intent.ready_work);
	}
	for (i = 0; i < count; i++) {
		HOLDS(writers[i].bio.done != FUZZ_BIO_HELD);
		complete_writer(&writers[i]);
	}
}

/* Did a write, also one of another host, reach a byte of the origin from @from to before @to? */
bool writes_touched(u64 from, u64 to)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (writers[i].bio.done == FUZZ_BIO_SENT &&
		    writers[i].range.first << SECTOR_SHIFT < to &&
		    from < (writers[i].range.last + 1) << SECTOR_SHIFT)
			return true;
	return false;
}

/* Did a writer request a write to these bytes of the origin, even if the module did not send it? */
bool writes_held_at(u64 from, u64 bytes)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (writers[i].range.first << SECTOR_SHIFT < from + bytes &&
		    from < (writers[i].range.last + 1) << SECTOR_SHIFT)
			return true;
	return false;
}

bool writes_touched_ends(void)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (writers[i].end)
			return true;
	return false;
}

/* Let the module clear marks three times, one period apart, with no write in between. */
void writes_sweep(void)
{
	u32 i;

	for (i = 0; i < 3; i++)
		sweep();
}

/* Has writes_step() injected a failure since writes_begin()? */
bool writes_broken(void)
{
	return broken;
}
