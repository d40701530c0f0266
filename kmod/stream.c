// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "cache.h"
#include "observe.h"
#include "trace.h"

#define NOWHERE	(~(sector_t)0)

/* Of version 1. */
static_assert(sizeof(struct nearcache_classify) == 136);

/* Threads of the kernel work for anybody, and each for others the next time. */
static u64 whose(struct bio *bio)
{
	return current->flags & PF_KTHREAD ? ~nc_observe_cgroup(bio) : task_pid_nr(current);
}

static void begin(struct nc_stream *s, u64 whose, bool writes)
{
	*s = (struct nc_stream) {
		.whose = whose,
		.writes = writes,
		.sample = NEARCACHE_SAMPLE,
		.run = NOWHERE,
		.before = NOWHERE,
		.end = NOWHERE,
	};
}

/* A stream of a set; a new one takes the place of that which was not seen for longest. */
static struct nc_stream *find(struct nc_stream_set *set, u64 whose, bool writes)
{
	struct nc_stream *oldest = NULL, *s;

	lockdep_assert_held(&set->lock);
	for (s = set->stream; s < set->stream + NC_STREAM_WAYS; s++) {
		if (s->whose == whose && s->writes == writes)
			return s;
		if (!oldest || !s->whose ||
		    (oldest->whose && time_before(s->used, oldest->used)))
			oldest = s;
	}
	begin(oldest, whose, writes);
	return oldest;
}

/* Returns whether a run begins with the piece.  The rest of one that was cut is none of its own. */
static bool take(struct nc_stream *s, const struct bio *bio)
{
	sector_t sector = bio->bi_iter.bi_sector, end = bio_end_sector(bio);
	bool rest = s->end != NOWHERE && sector > s->at && sector < s->end;
	bool begins = !rest && sector != s->end;
	s64 gap = 0;

	s->used = jiffies;
	if (rest && end <= s->end)
		return false;
	s->accesses++;
	s->bytes += rest ? (end - s->end) << SECTOR_SHIFT : bio->bi_iter.bi_size;
	if (begins) {
		if (s->end != NOWHERE)
			gap = sector - s->end;
		s->same_gaps = gap && gap == s->gap ? s->same_gaps + 1 : 0;
		s->gap = gap;
		s->before = s->run;
		s->run = sector;
		s->runs++;
	}
	s->at = sector;
	s->end = end;
	return begins;
}

static u32 reasons(const struct nc_stream *s, u32 hash, bool begins,
		   enum nearcache_verdict verdict)
{
	u32 why = 0;

	if (s->writes)
		why |= NEARCACHE_WHY_WRITE;
	else if (verdict != NEARCACHE_VERDICT_HIT)
		why |= NEARCACHE_WHY_MISS;
	/* The first one of all, too: so soon a program can say how many it wants. */
	if (begins && (s->before == NOWHERE || !(hash & ((1U << s->sample) - 1))))
		why |= NEARCACHE_WHY_RUN;
	if (s->accesses >= NEARCACHE_AMOUNT)
		why |= NEARCACHE_WHY_AMOUNT;
	return why;
}

/* What is told of a stream is not told again. */
static void fill_in(struct nc_stream *s, struct nearcache_classify *told, u32 hash, u32 why)
{
	*told = (struct nearcache_classify) {
		.version = NEARCACHE_CLASSIFY_VERSION,
		.why = why,
		.run = s->run,
		.before = s->before,
		.gap = s->gap,
		.same_gaps = s->same_gaps,
		.accesses = s->accesses,
		.runs = s->runs,
		.hash = hash,
		.bytes = s->bytes,
		.class = s->class,
		.sample = s->sample,
	};
	s->accesses = 0;
	s->runs = 0;
	s->bytes = 0;
}

/* The stream may have gone meanwhile. */
static void obey(struct nc_stream *s, u64 whose, bool writes, const struct nearcache_classify *told)
{
	if (s->whose != whose || s->writes != writes)
		return;
	s->class = told->class < NEARCACHE_CLASSES ? told->class : NEARCACHE_CLASS_UNKNOWN;
	s->sample = min_t(u32, told->sample, NEARCACHE_SAMPLE_MAX);
}

/**
 * nc_stream_tell() - a piece of a stream, when there is a classifier
 * @c: live cache
 * @bio: dm's clone
 * @verdict: what becomes of it if nothing is in the way
 *
 * Whatever the classifier answers, it is asked for nothing but this.
 *
 * Context: map of @bio.
 * Return: whether what is not cached may come into the cache.
 */
bool nc_stream_tell(struct nc_cache *c, struct bio *bio, enum nearcache_verdict verdict)
{
	bool writes = op_is_write(bio_op(bio)), begins;
	struct nearcache_classify told;
	u64 who = whose(bio);
	struct nc_stream_set *set = &c->streams.set[hash_64(2 * who + writes, c->streams.bits)];
	struct nc_stream *s;
	u32 hash, why;

	spin_lock(&set->lock);
	s = find(set, who, writes);
	begins = take(s, bio);
	hash = hash_64(s->run, 32);
	why = reasons(s, hash, begins, verdict);
	if (why)
		fill_in(s, &told, hash, why);
	spin_unlock(&set->lock);
	if (!why)
		return true;
	nc_observe_see(c, bio, &told.io);
	told.io.verdict = verdict;
	trace_nearcache_classify(&told);
	spin_lock(&set->lock);
	obey(s, who, writes, &told);
	spin_unlock(&set->lock);
	return told.admission != NEARCACHE_ADMIT_NOT;
}

/**
 * nc_streams_init() - no stream yet
 * @streams: to be initialised
 *
 * Return: 0 or -ENOMEM; nc_streams_destroy() is harmless after that.
 */
int nc_streams_init(struct nc_streams *streams)
{
	u32 i;

	streams->bits = clamp(ilog2(num_possible_cpus()) + 4, 6, 11);
	streams->set = kvcalloc(1U << streams->bits, sizeof(*streams->set), GFP_KERNEL);
	if (!streams->set)
		return -ENOMEM;
	for (i = 0; i < 1U << streams->bits; i++)
		spin_lock_init(&streams->set[i].lock);
	return 0;
}

void nc_streams_destroy(struct nc_streams *streams)
{
	kvfree(streams->set);
}
