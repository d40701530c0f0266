// SPDX-License-Identifier: GPL-2.0-only
#include "io/stream.h"

#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "cache.h"
#include "core/bio.h"
#include "io/observe.h"
#include "io/read.h"
#include "core/tracepoints.h"
#include "prefetch/readahead.h"

#define NOWHERE	(~(sector_t)0)
/* Of a window one of so many parts is asked for at a time. */
#define WINDOW_PARTS	4U

/* Of version 1. */
static_assert(sizeof(struct nearcache_classify) == 144);

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
		.asked = NOWHERE,
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

/* Returns whether a run begins with the piece.  The rest of one that was cut is none of its own.
 * As the rest of these: the lock of its set is held.
 */
static bool take(struct nc_stream *s, const struct bio *bio, u32 sectors)
{
	sector_t sector = bio->bi_iter.bi_sector, end = sector + sectors;
	bool rest = s->asked != NOWHERE && sector > s->at && sector < s->asked;
	bool begins = !rest && sector != s->asked;
	s64 gap = 0;

	s->used = jiffies;
	s->at = sector;
	/* A piece that was cut to less than was told, too. */
	s->bytes += (rest && sector < s->end ? end - min(s->end, end) : sectors) << SECTOR_SHIFT;
	s->end = rest ? max(s->end, end) : end;
	if (rest && bio_end_sector(bio) <= s->asked)
		return false;
	s->accesses++;
	if (begins) {
		if (s->asked != NOWHERE)
			gap = sector - s->asked;
		s->same_gaps = gap && gap == s->gap ? s->same_gaps + 1 : 0;
		s->gap = gap;
		s->before = s->run;
		s->run = sector;
		s->runs++;
	}
	s->asked = bio_end_sector(bio);
	return begins;
}

static u32 hash_of_run(const struct nc_stream *s)
{
	return hash_64(s->run, 32);
}

static u32 reasons(const struct nc_stream *s, bool begins, enum nearcache_verdict verdict)
{
	u32 why = 0;

	if (s->writes)
		why |= NEARCACHE_WHY_WRITE;
	else if (verdict != NEARCACHE_VERDICT_HIT)
		why |= NEARCACHE_WHY_MISS;
	/* The first one of all, too: so soon a program can say how many it wants. */
	if (begins && (s->before == NOWHERE || !(hash_of_run(s) & ((1U << s->sample) - 1))))
		why |= NEARCACHE_WHY_RUN;
	if (s->accesses >= NEARCACHE_AMOUNT)
		why |= NEARCACHE_WHY_AMOUNT;
	return why;
}

/* What is told of a stream is not told again. */
static void fill_in(struct nc_stream *s, struct nearcache_classify *told, u32 why)
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
		.hash = hash_of_run(s),
		.bytes = s->bytes,
		.class = s->class,
		.sample = s->sample,
		.window = s->window,
		.length = s->length,
	};
	s->accesses = 0;
	s->runs = 0;
	s->bytes = 0;
}

/* Returns false if the stream has gone meanwhile. */
static bool obey(struct nc_stream *s, u64 whose, bool writes, const struct nearcache_classify *told)
{
	if (s->whose != whose || s->writes != writes)
		return false;
	s->class = told->class < NEARCACHE_CLASSES ? told->class : NEARCACHE_CLASS_UNKNOWN;
	s->sample = min_t(u32, told->sample, NEARCACHE_SAMPLE_MAX);
	s->window = min_t(u32, told->window, NEARCACHE_WINDOW_MAX);
	s->length = told->length;
	return true;
}

/* What is to be asked for ahead of a stream: none until it is a good part of the window. */
static bool reaches(const struct nc_cache *c, struct nc_stream *s, struct nc_window *window)
{
	sector_t end;

	if (!s->window || s->writes)
		return false;
	end = min_t(sector_t, s->asked + s->window, c->geo.origin_size >> SECTOR_SHIFT);
	if (s->length)
		end = min(end, s->run + s->length);
	/* Another run, or one that is over soon. */
	if (s->ahead < s->asked || s->ahead > s->asked + s->window)
		s->ahead = s->asked;
	if (end < s->ahead + max(s->window / WINDOW_PARTS, 1U))
		return false;
	*window = (struct nc_window) { .first = s->ahead, .end = end };
	s->ahead = end;
	return true;
}

static u32 sectors_of(const struct nc_cache *c, const struct bio *bio, const struct nc_span *span)
{
	return span ? nc_read_sectors(c, bio, span) : bio_sectors(bio);
}

/* Ask the classifier.  The lock of @set is held, and let go.  On its own, as most pieces
 * do not come here and have no use for that much of the stack.
 */
static noinline bool ask(struct nc_cache *c, struct bio *bio, const struct nc_span *span,
			 enum nearcache_verdict verdict, struct nc_stream_set *set,
			 struct nc_stream *s, u32 why)
	__releases(&set->lock)
{
	struct nearcache_classify told;
	struct nc_window window;
	bool writes = s->writes, reach;
	u64 who = s->whose;

	lockdep_assert_held(&set->lock);
	fill_in(s, &told, why);
	spin_unlock(&set->lock);
	nc_observe_see(c, bio, &told.io);
	told.io.nr_sectors = sectors_of(c, bio, span);
	told.io.verdict = verdict;
	trace_nearcache_classify(&told);
	spin_lock(&set->lock);
	reach = obey(s, who, writes, &told) && reaches(c, s, &window);
	spin_unlock(&set->lock);
	if (reach)
		nc_window_ask(c, &window);
	return told.admission != NEARCACHE_ADMIT_NOT;
}

/* What is not told goes on with its window.  The lock of @set is held, and let go. */
static noinline void go_on(struct nc_cache *c, struct nc_stream_set *set, struct nc_stream *s)
	__releases(&set->lock)
{
	struct nc_window window;
	bool reach;

	lockdep_assert_held(&set->lock);
	reach = reaches(c, s, &window);
	spin_unlock(&set->lock);
	if (reach)
		nc_window_ask(c, &window);
}

/**
 * nc_stream_tell() - a piece of a stream, when there is a classifier
 * @c: live cache
 * @bio: dm's clone, as it came
 * @io: what is known about it
 * @span: what the piece is of; NULL: all of @bio
 * @verdict: what becomes of it if nothing is in the way
 *
 * Once for each piece: when a fill or an eviction is faster, it is looked at again, and gets the
 * same answer.  Whatever the classifier answers, no more comes of it than that other things are
 * cached.
 *
 * Context: map of @bio.
 * Return: whether what is not cached may come into the cache.
 */
bool nc_stream_tell(struct nc_cache *c, struct bio *bio, struct nc_io *io,
		    const struct nc_span *span, enum nearcache_verdict verdict)
{
	bool writes = op_is_write(bio_op(bio)), begins;
	struct nc_stream_set *set;
	struct nc_stream *s;
	u64 who;
	u32 why;

	if (io->told)
		return !io->refused;
	io->told = true;
	io->refused = false;
	who = whose(bio);
	set = &c->streams.set[hash_64(2 * who + writes, c->streams.bits)];
	spin_lock(&set->lock);
	s = find(set, who, writes);
	begins = take(s, bio, sectors_of(c, bio, span));
	why = reasons(s, begins, verdict);
	if (why)
		io->refused = !ask(c, bio, span, verdict, set, s, why);
	else if (s->window)
		go_on(c, set, s);
	else
		spin_unlock(&set->lock);
	return !io->refused;
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
