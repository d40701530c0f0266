// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes.  A hit section that lasts long proves nothing about the cache device: perhaps the
 * reader's task does not get a processor, and its hit was not yet submitted.  Neither the target
 * nor the block layer can tell when a hit reached the device: the target has returned before, and
 * the counters of requests in flight include those that a task has only plugged, may be switched
 * off, and are not kept for all devices.
 *
 * So while a hit section lasts long, the watch (health.c) has a worker read a little of each cache
 * device.  A device that completes this read answers.  If it does not complete the read either, the
 * hits wait for the device.
 *
 * Each probe comes from the next processor: so in turn all hardware queues of the device are
 * tried, and a processor on which no worker can run delays the probes by one look only.
 *
 * The device may hang at some places only, so a probe reads where a hit may hang: a slot that a
 * reader used since the watch began to wait, in a part of the index that had hits at each look.  In
 * turn it takes all such slots, and any place with valid data in them.  A probe has its own memory.
 */
#include <linux/bio.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "cache.h"
#include "core/members.h"
#include "core/probe.h"

/* Smallest read, bytes; a larger logical block of the cache device is read whole. */
#define PROBE_BYTES	4096U
/* Most slots that the watch looks at for a probe, which takes some milliseconds. */
#define SLOTS_LOOKED	524288U

/* States of a probe.  IDLE -> WANTED: the watch; WANTED -> SENT: the worker; SENT -> IDLE: the
 * completion, which does not touch the probe afterwards.
 */
enum {
	PROBE_IDLE,
	PROBE_WANTED,	/* the worker has not begun */
	PROBE_SENT,	/* handed to the block layer, not completed */
};

/**
 * struct nc_probe - the probe of one member
 * @cache: live cache
 * @member: number of the member
 * @state: PROBE_*; changed without a lock, by compare-and-exchange except to PROBE_IDLE
 * @looks: number of looks since the watch first saw PROBE_SENT; the watch alone uses it
 * @slot: slot to read, counted on this member; the watch changes it in PROBE_IDLE
 * @cpu: processor that sent the last probe; the watch alone uses it
 * @work: submits the probe, and may sleep until the device has a request
 * @bio: the read
 * @vec: its memory
 */
struct nc_probe {
	struct nc_cache *cache;
	u32 member;
	int state;
	u32 looks;
	u32 slot;
	int cpu;
	struct delayed_work work;
	struct bio bio;
	struct bio_vec vec;
};

/* Completion, also in interrupts, and also of a read that failed: the device answered. */
static void probe_end_io(struct bio *bio)
{
	struct nc_probe *p = container_of(bio, struct nc_probe, bio);

	bio_uninit(bio);
	/* The probe may be freed or sent again now.  Pairs with the acquires of nc_probes_*(). */
	smp_store_release(&p->state, PROBE_IDLE);
}

/* Number in the index of slot @n of the probe's member, which may be beyond the end. */
static u64 probe_index(const struct nc_probe *p, u64 n)
{
	return n * nc_members_count(p->cache) + p->member;
}

/* May a hit on slot @i have been in flight since the watch began to wait?  A hint.  An unlinked
 * slot still counts, unless it is free: then it has neither data nor stamp.
 */
static bool may_hang(const struct nc_cache *c, u32 i)
{
	const struct nc_slot *slot = &c->index.slots[i];
	u16 stamp = READ_ONCE(slot->stamp);
	u32 since = READ_ONCE(c->health.since), now = READ_ONCE(c->hot.now);

	if (((stamp - since) & NC_STAMP_TICK) > min(now - since, NC_STAMP_TICK) ||
	    !(stamp || READ_ONCE(slot->valid)))
		return false;
	return test_bit(nc_hit_part(nc_index_hash(&c->index, nc_slot_block_hint(slot))),
			c->health.busy);
}

/* Choose the next slot at which a hit may hang; if there is none, any slot. */
static void choose_slot(struct nc_probe *p)
{
	u32 looked, most = min(p->cache->index.count, SLOTS_LOOKED);
	u64 i;

	/* One more than all slots: without a result, the next probe reads the next slot. */
	for (looked = 0; looked <= most; looked++) {
		i = probe_index(p, ++p->slot);
		if (i >= p->cache->index.count) {
			p->slot = 0;
			i = p->member;
		}
		if (may_hang(p->cache, i))
			return;
		if (!(looked % 4096))
			cond_resched();
	}
}

/* Choose a place in the slot at random, with valid data: hits read only such data.  Returns its
 * first sector in the slot.
 */
static u32 choose_sector(const struct nc_probe *p)
{
	const struct nc_cache *c = p->cache;
	u64 valid = READ_ONCE(c->index.slots[probe_index(p, p->slot)].valid);
	u32 first = get_random_u32() % 64;
	u32 sub = valid ? (first + __ffs64(ror64(valid, first))) % 64 : 0;

	/* A probe may be longer than a sub-block: do not leave the slot. */
	return (sub << c->hot.sub_shift) & ~((p->vec.bv_len >> SECTOR_SHIFT) - 1);
}

/* Submit a probe.  A work that was moved to another processor too late finds nothing to do. */
static void probe_work(struct work_struct *work)
{
	struct nc_probe *p = container_of(to_delayed_work(work), struct nc_probe, work);
	struct nc_cache *c = p->cache;
	const struct nc_members *m = c->dev.members;
	sector_t start = m ? m->member[p->member].data_start : c->hot.data_start;

	if (cmpxchg(&p->state, PROBE_WANTED, PROBE_SENT) != PROBE_WANTED)
		return;
	bio_init(&p->bio, nc_members_bdev(c, p->member), &p->vec, 1, REQ_OP_READ);
	p->bio.bi_vcnt = 1;
	p->bio.bi_end_io = probe_end_io;
	p->bio.bi_iter.bi_sector = start + ((sector_t)p->slot << c->hot.block_shift) +
				   choose_sector(p);
	p->bio.bi_iter.bi_size = p->vec.bv_len;
	submit_bio_noacct(&p->bio);
}

/**
 * nc_probes_look() - one look of the watch at the probes
 * @c: live cache
 * @wanted: a hit section lasts long: have each member probed that has no probe in flight
 *
 * Context: the watch.
 */
void nc_probes_look(struct nc_cache *c, bool wanted)
{
	struct nc_health *h = &c->health;
	u32 i;

	for (i = 0; i < nc_members_count(c); i++) {
		struct nc_probe *p = &h->probes[i];

		/* Pairs with the release in probe_end_io(). */
		if (smp_load_acquire(&p->state) == PROBE_SENT) {
			p->looks++;
			continue;
		}
		p->looks = 0;
		if (!wanted)
			continue;
		/* Here, not in the worker: until the read is submitted, the worker must not be
		 * stopped for long.
		 */
		if (READ_ONCE(p->state) == PROBE_IDLE)
			choose_slot(p);
		cmpxchg(&p->state, PROBE_IDLE, PROBE_WANTED);
		p->cpu = cpumask_next(p->cpu, cpu_online_mask);
		if (p->cpu >= nr_cpu_ids)
			p->cpu = cpumask_first(cpu_online_mask);
		/* Also moves a work that still waits for its processor. */
		mod_delayed_work_on(p->cpu, c->workers.probe, &p->work, 0);
	}
}

/* Has a member left a probe without an answer for this number of looks?  Context: the watch. */
bool nc_probes_wait(const struct nc_cache *c, u32 looks)
{
	u32 i;

	for (i = 0; i < nc_members_count(c); i++)
		if (READ_ONCE(c->health.probes[i].state) == PROBE_SENT &&
		    c->health.probes[i].looks >= looks)
			return true;
	return false;
}

static void stop_probe(struct nc_probe *p)
{
	cancel_delayed_work_sync(&p->work);
	cmpxchg(&p->state, PROBE_WANTED, PROBE_IDLE);
	/* Pairs with the release in probe_end_io(). */
	while (smp_load_acquire(&p->state) != PROBE_IDLE)
		fsleep(1000);
}

/* Wait until no probe is in flight.  The watch does not run.  May sleep, as long as the device
 * hangs: after this call the table may close the device.
 */
void nc_probes_stop(struct nc_cache *c)
{
	u32 i;

	for (i = 0; i < nc_members_count(c); i++)
		stop_probe(&c->health.probes[i]);
}

/* Allocate the probes.  The members are open.  May sleep.  Return: 0; -ENOMEM, and the caller calls
 * nc_probes_free().
 */
int nc_probes_alloc(struct nc_cache *c)
{
	struct nc_health *h = &c->health;
	u32 i, bytes;

	h->probes = kcalloc(nc_members_count(c), sizeof(*h->probes), GFP_KERNEL);
	if (!h->probes)
		return -ENOMEM;
	for (i = 0; i < nc_members_count(c); i++) {
		struct nc_probe *p = &h->probes[i];

		bytes = max(PROBE_BYTES, bdev_logical_block_size(nc_members_bdev(c, i)));
		p->cache = c;
		p->member = i;
		p->cpu = -1;
		INIT_DELAYED_WORK(&p->work, probe_work);
		bvec_set_page(&p->vec, alloc_pages(GFP_KERNEL, get_order(bytes)), bytes, 0);
		if (!p->vec.bv_page)
			return -ENOMEM;
	}
	return 0;
}

/* Stop and free the probes, perhaps only some of which were allocated.  The watch does not run.
 * May sleep, as nc_probes_stop().
 */
void nc_probes_free(struct nc_cache *c)
{
	struct nc_health *h = &c->health;
	u32 i;

	for (i = 0; h->probes && i < nc_members_count(c); i++) {
		struct nc_probe *p = &h->probes[i];

		if (!p->vec.bv_page)
			continue;
		stop_probe(p);
		__free_pages(p->vec.bv_page, get_order(p->vec.bv_len));
	}
	kfree(h->probes);
}
