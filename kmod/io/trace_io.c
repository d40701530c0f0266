// SPDX-License-Identifier: GPL-2.0-only
/* Emits the trace events nearcache_access, _done and _latency for each piece of a read or write. */
#include "io/trace_io.h"

#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "cache.h"
#include "core/tracepoints.h"

/* The size is ABI: compiled BPF programs depend on it. */
static_assert(sizeof(struct nearcache_io) == 64);

/* Return the id of the cgroup that a piece belongs to: the cgroup of the current process, or in a
 * kernel thread the cgroup that @bio is charged to; 0: unknown.  Context: map of @bio.
 */
u64 nc_observe_cgroup(struct bio *bio)
{
	u64 id = 0;
#ifdef CONFIG_CGROUPS
	struct cgroup_subsys_state *css;

	/* A clone of dm is charged to no cgroup before dm submits it.  Charging it here selects the
	 * same cgroup as dm would.
	 */
	if (current->flags & PF_KTHREAD) {
		if (!bio_blkcg_css(bio))
			bio_associate_blkg(bio);
		css = bio_blkcg_css(bio);
		return css ? cgroup_id(css->cgroup) : 0;
	}
	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
#endif
	return id;
}

static u16 flags_of(const struct bio *bio)
{
	return (bio->bi_opf & REQ_RAHEAD ? NEARCACHE_IO_AHEAD : 0) |
	       (bio->bi_opf & REQ_META ? NEARCACHE_IO_META : 0) |
	       (bio->bi_opf & REQ_SYNC ? NEARCACHE_IO_SYNC : 0);
}

/* Fill in all that is known about a piece before its verdict.  Context: map of @bio. */
void nc_observe_see(struct nc_cache *c, struct bio *bio, struct nearcache_io *seen)
{
	*seen = (struct nearcache_io) {
		.sector = bio->bi_iter.bi_sector,
		.cgroup = nc_observe_cgroup(bio),
		.dev = c->dev.dm_devt,
		.nr_sectors = bio_sectors(bio),
		.opf = (__force u32)bio->bi_opf,
		.op = (__force u16)bio_op(bio),
		.flags = flags_of(bio),
		.label = nc_ranges_label(c, bio->bi_iter.bi_sector),
		.pid = task_tgid_nr(current),
		.tid = task_pid_nr(current),
		.weight = 1,
	};
}

/*
 * Shall nearcache_latency report this piece?  Reading the clock twice takes longer than most of
 * the work for a hit, so of the hits only one in NEARCACHE_TIMED is timed.
 */
bool nc_observe_is_timed(struct nc_cache *c, enum nearcache_verdict verdict)
{
	if (verdict != NEARCACHE_VERDICT_HIT && verdict != NEARCACHE_VERDICT_PARTIAL)
		return true;
	return !(this_cpu_inc_return(c->hot.counters->untimed) % NEARCACHE_TIMED);
}

/**
 * nc_observe_verdict() - slow path of nc_observe(): at least one tracepoint is enabled
 * @c: live cache
 * @bio: dm's clone
 * @verdict: fate of the piece
 * @timed: nearcache_latency will report the piece
 */
void nc_observe_verdict(struct nc_cache *c, struct bio *bio, enum nearcache_verdict verdict,
			bool timed)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nearcache_io told;

	/* A worker gives a retried read another verdict: keep process and time of the first. */
	if (!io->observed) {
		nc_observe_see(c, bio, &io->seen);
		io->begun = ktime_get_ns();
		io->observed = true;
		io->timed = false;
	}
	io->timed |= timed;
	io->seen.verdict = verdict;
	if (!trace_nearcache_access_enabled())
		return;
	/* A copy, because a BPF program may write to the event. */
	told = io->seen;
	trace_nearcache_access(&told);
}

/* Slow path of nc_observe_done(): emit the events of an observed piece that completed. */
void nc_observe_over(struct bio *bio, struct nc_io *io, blk_status_t error)
{
	struct nearcache_io told = io->seen;

	told.latency = ktime_get_ns() - io->begun;
	told.error = blk_status_to_errno(error);
	io->seen = told;
	trace_nearcache_done(&told);
	io->observed = false;
	if (!io->timed)
		return;
	if (io->seen.verdict == NEARCACHE_VERDICT_HIT ||
	    io->seen.verdict == NEARCACHE_VERDICT_PARTIAL)
		io->seen.weight = NEARCACHE_TIMED;
	trace_nearcache_latency(&io->seen);
}
