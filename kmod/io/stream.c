// SPDX-License-Identifier: GPL-2.0-only
/* Streams: per thread, the sequence of its reads or writes, which a classifier (BPF) judges. */
#include "io/stream.h"

#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "cache.h"
#include "core/bio.h"
#include "io/trace_io.h"
#include "io/read.h"
#include "core/tracepoints.h"

#define NOWHERE	(~(sector_t)0)
/* A readahead window is requested in parts of at least 1 / WINDOW_PARTS of its length. */
#define WINDOW_PARTS	4U

/* The size is ABI: compiled BPF programs depend on it. */
static_assert(sizeof(struct nearcache_classify) == 144);

/* Thread id; for a kernel thread the inverted cgroup id, as the thread may serve any cgroup. */
static u64 stream_owner(struct bio *bio)
{
	return current->flags & PF_KTHREAD ? ~nc_observe_cgroup(bio) : task_pid_nr(current);
}

/* Hash of the submitting process's parent and program name, equal for siblings, see struct
 * nearcache_classify.  RCU keeps the parent and the group leader; a name that changes meanwhile
 * gives one report another hash.
 */
static u32 siblings_hash(void)
{
	u32 hash;

	if (current->flags & PF_KTHREAD)
		return 0;
	rcu_read_lock();
	hash = jhash(current->group_leader->comm, TASK_COMM_LEN,
		     task_tgid_nr(rcu_dereference(current->real_parent)));
	rcu_read_unlock();
	return hash ?: 1;
}

static void stream_begin(struct nc_stream *s, u64 whose, bool writes)
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

/* Find the stream in its set, or begin it in an unused or else the least recently used entry. */
static struct nc_stream *find_stream(struct nc_stream_set *set, u64 whose, bool writes)
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
	stream_begin(oldest, whose, writes);
	return oldest;
}

/* Account a piece.  Returns whether the piece begins a run of sequential accesses; the rest of a
 * read or write that was cut does not.  Wherever a stream is used, the lock of its set is held.
 */
static bool stream_take(struct nc_stream *s, const struct bio *bio, u32 sectors)
{
	sector_t sector = bio->bi_iter.bi_sector, end = sector + sectors;
	bool rest = s->asked != NOWHERE && sector > s->at && sector < s->asked;
	bool begins = !rest && sector != s->asked;
	s64 gap = 0;

	s->used = jiffies;
	s->at = sector;
	/* The last piece may have been cut shorter than it was accounted: count no byte twice. */
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

static u32 ask_reasons(const struct nc_stream *s, bool begins, enum nearcache_verdict verdict)
{
	u32 why = 0;

	if (s->writes)
		why |= NEARCACHE_WHY_WRITE;
	else if (verdict != NEARCACHE_VERDICT_HIT)
		why |= NEARCACHE_WHY_MISS;
	/* Always report the stream's first run, so that a program can set the sampling rate. */
	if (begins && (s->before == NOWHERE || !(hash_of_run(s) & ((1U << s->sample) - 1))))
		why |= NEARCACHE_WHY_RUN;
	if (s->accesses >= NEARCACHE_AMOUNT)
		why |= NEARCACHE_WHY_AMOUNT;
	return why;
}

/* Fill in the event from the stream, and reset the counts that are per event. */
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

/* Apply the classifier's answer.  Returns false if the stream was replaced meanwhile. */
static bool stream_obey(struct nc_stream *s, u64 whose, bool writes,
			const struct nearcache_classify *told)
{
	if (s->whose != whose || s->writes != writes)
		return false;
	s->class = told->class < NEARCACHE_CLASSES ? told->class : NEARCACHE_CLASS_UNKNOWN;
	s->sample = min_t(u32, told->sample, NEARCACHE_SAMPLE_MAX);
	s->window = min_t(u32, told->window, NEARCACHE_WINDOW_MAX);
	s->length = told->length;
	return true;
}

/* Compute the next part to prefetch.  Returns false if it is under 1 / WINDOW_PARTS of a window. */
static bool window_reached(const struct nc_cache *c, struct nc_stream *s,
			   struct nc_readahead_window *window)
{
	sector_t end;

	if (!s->window || s->writes)
		return false;
	end = min_t(sector_t, s->asked + s->window, c->geo.origin_size >> SECTOR_SHIFT);
	if (s->length)
		end = min(end, s->run + s->length);
	/* Restart after a jump, or when the reader has overtaken the window. */
	if (s->ahead < s->asked || s->ahead > s->asked + s->window)
		s->ahead = s->asked;
	if (end < s->ahead + max(s->window / WINDOW_PARTS, 1U))
		return false;
	*window = (struct nc_readahead_window) { .first = s->ahead, .end = end };
	s->ahead = end;
	return true;
}

static u32 sectors_of(const struct nc_cache *c, const struct bio *bio, const struct nc_span *span)
{
	return span ? nc_bio_sectors(&c->hot, bio, span) : bio_sectors(bio);
}

/* Ask the classifier and apply its answer to the stream.  Releases the lock of @set.  Returns
 * whether the piece may be cached.  Not inlined: most pieces do not need this much stack.
 */
static noinline bool ask_classifier(struct nc_cache *c, struct bio *bio, const struct nc_span *span,
				    enum nearcache_verdict verdict, struct nc_stream_set *set,
				    struct nc_stream *s, u32 why)
	__releases(&set->lock)
{
	struct nearcache_classify told;
	struct nc_readahead_window window;
	bool writes = s->writes, reach;
	u64 who = s->whose;

	lockdep_assert_held(&set->lock);
	fill_in(s, &told, why);
	spin_unlock(&set->lock);
	nc_observe_see(c, bio, &told.io);
	told.io.nr_sectors = sectors_of(c, bio, span);
	told.io.verdict = verdict;
	told.siblings = siblings_hash();
	trace_nearcache_classify(&told);
	spin_lock(&set->lock);
	reach = stream_obey(s, who, writes, &told) && window_reached(c, s, &window);
	spin_unlock(&set->lock);
	if (reach)
		c->streams.ask_window(c, &window);
	return told.admission != NEARCACHE_ADMIT_NOT;
}

/* Extend the readahead window for a piece that is not reported.  Releases the lock of @set. */
static noinline void extend_window(struct nc_cache *c, struct nc_stream_set *set,
				   struct nc_stream *s)
	__releases(&set->lock)
{
	struct nc_readahead_window window;
	bool reach;

	lockdep_assert_held(&set->lock);
	reach = window_reached(c, s, &window);
	spin_unlock(&set->lock);
	if (reach)
		c->streams.ask_window(c, &window);
}

/**
 * nc_stream_report() - slow path of nc_stream_admits(): a classifier may listen
 * @c: live cache
 * @bio: dm's clone, not yet cut to the piece
 * @io: per-bio data of @bio
 * @span: sub-blocks of the piece, or NULL for all of @bio
 * @verdict: expected fate
 *
 * Asks only once for each piece: when a concurrent fill or eviction forces a new look-up, returns
 * the same answer again.  The answer decides only about caching and readahead, so a wrong answer
 * can do no other harm.
 *
 * Context: map of @bio.
 * Return: whether uncached data of the piece may be cached.
 */
bool nc_stream_report(struct nc_cache *c, struct bio *bio, struct nc_io *io,
		      const struct nc_span *span, enum nearcache_verdict verdict)
{
	bool writes = op_is_write(bio_op(bio)), begins;
	struct nc_stream_set *set;
	struct nc_stream *s;
	u64 who;
	u32 why;

	if (io->reported)
		return !io->refused;
	io->reported = true;
	io->refused = false;
	who = stream_owner(bio);
	set = &c->streams.set[hash_64(2 * who + writes, c->streams.bits)];
	spin_lock(&set->lock);
	s = find_stream(set, who, writes);
	begins = stream_take(s, bio, sectors_of(c, bio, span));
	why = ask_reasons(s, begins, verdict);
	if (why)
		io->refused = !ask_classifier(c, bio, span, verdict, set, s, why);
	else if (s->window)
		extend_window(c, set, s);
	else
		spin_unlock(&set->lock);
	return !io->refused;
}

/* Allocate empty sets.  Returns 0 or -ENOMEM; nc_streams_destroy() is harmless in both cases. */
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
