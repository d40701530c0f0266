// SPDX-License-Identifier: GPL-2.0-only
/* Stubs for functions of kmod/ that the fuzzed sources call but that are not compiled in. */
#include "fuzz.h"

#include "cache.h"
#include "core/probe.h"
#include "io/fill.h"
#include "meta/origin_fingerprint.h"
#include "io/invalidate.h"
#include "meta/meta.h"
#include "io/origin_retry.h"
#include "io/read.h"
#include "evict/reclaim.h"
#include "io/write_path.h"

sector_t fuzz_told_first, fuzz_told_last;
u32 fuzz_ends;
void (*fuzz_resched)(void);

void nc_write_ranges_init(struct nc_write_ranges *in)
{
	memset(in, 0, sizeof(*in));
}

/* Here write ranges are in a singly linked list, not in trees as in the module. */
void nc_write_range_add(struct nc_write_ranges *in, struct nc_write_range *range)
{
	range->rb.rb_left = in->across.root.rb_root.rb_node;
	in->across.root.rb_root.rb_node = &range->rb;
}

void nc_write_range_remove(struct nc_write_ranges *in, struct nc_write_range *range)
{
	struct rb_node **at = &in->across.root.rb_root.rb_node;

	while (*at != &range->rb)
		at = &(*at)->rb_left;
	*at = range->rb.rb_left;
}

bool nc_write_range_first(struct nc_write_ranges *in, u64 first, u64 last, u64 *found)
{
	struct rb_node *node = in->across.root.rb_root.rb_node;
	struct nc_write_range *range;

	for (; node; node = node->rb_left) {
		range = container_of(node, struct nc_write_range, rb);
		if (range->first <= last && first <= range->last) {
			*found = max(range->first, first);
			return true;
		}
	}
	return false;
}

bool nc_write_ranges_empty(const struct nc_write_ranges *in)
{
	return !in->across.root.rb_root.rb_node;
}

int nc_origin_flush(struct nc_cache *c)
{
	int r = fuzz_flush(c->origin.bdev);

	if (r)
		WRITE_ONCE(c->origin.flush_owed, true);
	return r;
}

void nc_origin_retry_init(struct nc_cache *c)
{
	memset(&c->origin_retry, 0, sizeof(c->origin_retry));
}

void nc_origin_retry_suspend(struct nc_target *t)
{
	if (t->cache->origin_retry.count.counter)
		abort();
}

bool nc_fill_finish(struct nc_cache *c)
{
	(void)c;
	return true;
}

void nc_fill_drain(struct nc_cache *c)
{
	if (c->fills.count.counter)
		abort();
}

int nc_read_map(struct nc_target *t, struct bio *bio)
{
	(void)t;
	(void)bio;
	abort();
}

int nc_read_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		   blk_status_t *error)
{
	(void)io;
	(void)error;
	return nc_read_map(t, bio);
}

int nc_write_map(struct nc_target *t, struct bio *bio)
{
	return nc_read_map(t, bio);
}

int nc_write_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		    blk_status_t *error)
{
	(void)io;
	(void)error;
	return nc_read_map(t, bio);
}

void nc_retry_init(struct nc_retry *retry, work_func_t work)
{
	INIT_WORK(&retry->work, work);
}

void nc_read_retry_work(struct work_struct *work)
{
	(void)work;
}

void nc_reclaim_work(struct work_struct *work)
{
	(void)work;
}

void nc_reclaim_settle(struct nc_cache *c)
{
	(void)c;
}

void nc_invalidate_lost_work(struct work_struct *work)
{
	nc_invalidate_all(container_of(work, struct nc_cache, workers.drop_all));
}

u64 nc_invalidate_bits(struct nc_cache *c, struct nc_bucket_lock *bucket, u32 i, u64 bits)
{
	struct nc_slot *slot = &c->index.slots[i];

	bits &= slot->valid;
	slot->valid &= ~bits;
	bucket->drops++;
	c->slots.valid_subblocks.counter -= hweight64(bits);
	nc_table_dirty(c, i);
	return bits;
}

void nc_invalidate_lost(struct nc_cache *c)
{
	if (!c->origin.written)
		return;
	nc_intent_leave(c);
	queue_work(c->workers.completion, &c->workers.drop_all);
}

void nc_invalidate_tail(struct nc_cache *c)
{
	u64 end = c->geo.origin_size, block = end / c->geo.block_size;
	u32 i = nc_index_find(&c->index, block);
	u32 sub = end % c->geo.block_size / c->geo.subblock_size;

	if (end % c->geo.subblock_size && i != NC_NIL)
		nc_invalidate_bits(c, nc_index_bucket(&c->index, block), i, BIT_ULL(sub));
}

bool nc_invalidate_unless_flushed(struct nc_cache *c)
{
	bool written = c->origin.written;

	if (!nc_meta_flush_written(c))
		return true;
	if (written)
		nc_invalidate_lost(c);
	c->origin.written = true;
	return false;
}

int fuzz_record_drop(struct nc_cache *c)
{
	if (!nc_meta_starts_cold(c))
		return nc_meta_record_drop(c, false, nc_invalidate_unless_flushed(c));
	c->origin.written = true;
	return 0;
}

int nc_probes_alloc(struct nc_cache *c)
{
	(void)c;
	return 0;
}

void nc_probes_free(struct nc_cache *c)
{
	(void)c;
}

void nc_probes_look(struct nc_cache *c, bool wanted)
{
	(void)c;
	(void)wanted;
}

bool nc_probes_wait(const struct nc_cache *c, u32 looks)
{
	(void)c;
	(void)looks;
	return true;
}

void nc_probes_stop(struct nc_cache *c)
{
	(void)c;
}

void nc_scrub_init(struct nc_scrub *s)
{
	memset(s, 0, sizeof(*s));
}

int nc_scrub_start(struct nc_cache *c, u64 rate, bool compare)
{
	(void)rate;
	(void)compare;
	c->scrub.wanted = true;
	return 0;
}

int nc_scrub_stop(struct nc_cache *c)
{
	c->scrub.wanted = false;
	return 0;
}

void nc_scrub_pause(struct nc_cache *c)
{
	c->scrub.paused = true;
}

void nc_scrub_resume(struct nc_cache *c)
{
	c->scrub.paused = false;
}

u32 nc_scrub_left(const struct nc_cache *c)
{
	return c->scrub.wanted;
}

void nc_ranges_count_mixed(struct nc_cache *c, sector_t sector, u32 bytes)
{
	(void)c;
	(void)sector;
	(void)bytes;
	abort();
}

/* The functions of evict/read_plan.c and of the files below do nothing: no plan or range exists. */
void nc_plan_init(struct nc_cache *c)
{
	(void)c;
}

void nc_plan_destroy(struct nc_cache *c)
{
	(void)c;
}

void nc_plan_took(struct nc_cache *c, u64 block, bool brought, bool pinned)
{
	(void)c;
	(void)block;
	(void)brought;
	(void)pinned;
}

int nc_plan_alloc_works(struct nc_cache *c)
{
	(void)c;
	return 0;
}

void nc_plan_stop_works(struct nc_cache *c)
{
	(void)c;
}

void nc_plan_kick(struct nc_cache *c)
{
	(void)c;
}

void nc_ranges_init(struct nc_cache *c, const struct nc_ranges_ops *ops)
{
	(void)c;
	(void)ops;
}

void nc_ranges_destroy(struct nc_cache *c)
{
	(void)c;
}

void nc_ranges_inherit(struct nc_cache *c, struct nc_cache *before, u64 end)
{
	(void)c;
	(void)before;
	(void)end;
}

void nc_ranges_loaded(struct nc_cache *c)
{
	(void)c;
}

void nc_ranges_grown(struct nc_cache *c, u64 old)
{
	(void)c;
	(void)old;
}

void nc_ranges_live(struct nc_cache *c)
{
	(void)c;
}

u64 nc_ranges_memory(const struct nc_cache *c)
{
	(void)c;
	return 0;
}

void nc_prefetch_init(struct nc_cache *c)
{
	c->prefetch.paused = true;
}

void nc_readahead_init(struct nc_cache *c)
{
	c->readahead.paused = true;
}

void nc_readahead_ask(struct nc_cache *c, const struct nc_readahead_window *window)
{
	abort();
}

void nc_readahead_pause(struct nc_cache *c)
{
	c->readahead.paused = true;
}

void nc_readahead_resume(struct nc_cache *c)
{
	c->readahead.paused = false;
}

void nc_fill_writer_init(struct nc_fill_writer *s)
{
	(void)s;
}

int nc_fill_writer_start(struct nc_cache *c)
{
	(void)c;
	return 0;
}

void nc_fill_writer_destroy(struct nc_fill_writer *s)
{
	(void)s;
}

int nc_streams_init(struct nc_streams *streams)
{
	(void)streams;
	return 0;
}

void nc_streams_destroy(struct nc_streams *streams)
{
	(void)streams;
}

int nc_prefetch_alloc(struct nc_cache *c)
{
	(void)c;
	return 0;
}

void nc_prefetch_destroy(struct nc_cache *c)
{
	(void)c;
}

void nc_prefetch_pause(struct nc_cache *c)
{
	c->prefetch.paused = true;
}

void nc_prefetch_resume(struct nc_cache *c)
{
	c->prefetch.paused = false;
}

void nc_throttle_set_memory(struct nc_cache *c, u64 least, u64 most)
{
	c->fills.memory_max = least;
	(void)most;
}

void nc_prefetch_hold_peers(struct nc_cache *c, bool hold)
{
	(void)c;
	(void)hold;
}

void nc_prefetched_stays(struct nc_cache *c, struct nc_slot *slot)
{
	(void)c;
	(void)slot;
}

void nc_slots_look_again(struct nc_cache *c)
{
	(void)c;
}

void nc_reserve_wake(struct nc_cache *c)
{
}

void nc_slots_check(struct nc_cache *c)
{
	(void)c;
}

void nc_invalidate_all(struct nc_cache *c)
{
	u32 i;

	for (i = 0; i < c->index.count; i++)
		if (c->index.slots[i].valid) {
			c->slots.valid_subblocks.counter -= hweight64(c->index.slots[i].valid);
			c->index.slots[i].valid = 0;
			nc_table_dirty(c, i);
		}
}

int nc_invalidate_changed(struct nc_cache *c, sector_t first, sector_t last)
{
	(void)c;
	fuzz_told_first = first;
	fuzz_told_last = last;
	return 0;
}

/* Each change of the origin's ends gives another fingerprint, so that a stale one is detected. */
int nc_origin_fingerprint(struct block_device *bdev, struct dm_io_client *io, u64 size, void *buffer,
		     u8 *digest)
{
	(void)bdev;
	(void)io;
	(void)size;
	(void)buffer;
	memset(digest, 0x5a + fuzz_ends, NC_FINGERPRINT_SIZE);
	return 0;
}
