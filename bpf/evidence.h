/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics that find the class of a stream and of a set.  All functions are pure: the BPF
 * program and the unit tests compile this file.
 *
 * A stream is the reads, or the writes, of a process.  A run is a sequence of adjacent accesses.  A
 * stream is sequential, strided or scattered.  A set is the runs that the scattered streams of a
 * control group read in one place of a device; it is shuffled, looping or random.  A pass is as
 * many runs as the set has.  Unrelated programs share the root control group, and the groups of
 * user sessions.  There a set has the runs of siblings: the processes with one parent and one
 * program name.
 *
 * The classes are decided by sequential probability ratio tests.  A test has two answers and a sum.
 * Each event adds 100 ln(p / q), where p and q are the event's probabilities if the first or the
 * second answer is right.  The test decides when the sum reaches +-EVIDENCE_ENOUGH, odds of 100 to
 * 1.  The sum stays between +-EVIDENCE_MOST, so that a new pattern can outweigh an old one.
 *
 *  1. Sequential or not (@follows): does an access continue the previous one?  In a sequential
 *     stream 98 of 100 do, in others 70 of 100, because several accesses may read a run.
 *  2. Strided or scattered (@strides): is the gap before a run equal to the previous gap?  In a
 *     strided stream 90 of 100 gaps are, in a scattered one 2.
 *  3. Looping or not (@loops): when a run is read again, does it follow the same run as last time?
 *     In a looping set 80 of 100 do (the page cache answers some reads), in other sets 2 of 100.
 *  4. Shuffled or random (@shuffles): is a run new?  In a random set it is, with the probability
 *     p = runs read only once / all reads so far (Good and Turing).  In a shuffled set each run is
 *     new until the first repeated run.  After that, a run is new with the probability p / 3, an
 *     estimate for the runs that the page cache answered in the first pass.
 *  5. Also for @shuffles, after two passes: at what age (runs since its last read) is a run read
 *     again?  With N runs in a pass, a shuffled set has a triangular distribution from 0 to 2 N, a
 *     random set an exponential one with mean N.
 *
 * When a class is known: the first read of a run does not tell a shuffled, a looping and a random
 * set apart.  A set stays scattered until 1 / EVIDENCE_PART of its sampled runs, and at least
 * EVIDENCE_AGAIN runs, were read again; then the tests decide.  In a shuffled or looping set that
 * is after a twelfth of the second pass, in a random set after a fifth to a third of a pass.  These
 * reads are no evidence:
 *  - a read at most EVIDENCE_NEAR runs after the last counted read of its run: the run was split,
 *    or two workers read a page that their samples share;
 *  - reads of a run that was read over twice as often as the mean run: an index or a header;
 *  - for test 3, a stream's first run, which has no run before it.
 * If a set has a class and then only new runs are read, another program has begun or the data has
 * changed: after EVIDENCE_FRESH new runs in succession the set restarts, as scattered.
 *
 * selftests/nearcache/helper/classes.sh measures errors in a guest with fio, tar and sample
 * loaders, cold and warm, alone and beside another stream.  Before a second pass was required: 0 of
 * 213 streams.
 * Errors simulated for one process that reads a set of 200 to 20000 runs (800 sets of each class
 * for 1.25 passes, 620 for 12 passes):
 *  - Without a page cache: none.
 *  - A page cache answers a third of each pass after the first: none is wrong after 1.25 passes, 2
 *    of 800 shuffled sets are still scattered; after 12 passes less than 1 % are wrong.  In a
 *    quarter of the looping sets the class changes twice more.
 *  - A page cache answers half of each pass: after 1.25 passes 3 % of the shuffled and 7 % of the
 *    looping sets are still scattered or wrong, after 12 passes a third of the shuffled and a
 *    quarter of the looping sets.
 * Simulated for three workers that take batches in turn (480 sets, with an index, common headers
 * or split runs): none has a class in the first pass, all have the right one after three passes.
 * Simulated for random reads with and without skew (5000 sets of 300 to 2000 runs, one process or
 * three): all have the right class after 1.25 passes, and fewer than one change in 100,000 reads.
 * Simulated with the recorded reads of PyTorch 1.13 (map-style and iterable DataLoaders, 3 workers,
 * persistent and not, 600 files): all have the right class at the end of the second epoch, none has
 * one in the first.
 * A new pattern on the same runs is noticed within 2 passes, a change between shuffled and random
 * within 3 to 20.
 *
 * Whose class it is: that of the set, so all processes that share a set have the same class.  A new
 * process gets it as soon as it is scattered itself, within its first four runs if these miss, or
 * within 256 accesses; until then its class is unknown.  This changes no readahead, because only
 * sequential streams have any.  When the map is full, the streams that were used longest ago leave
 * it: those of ended processes.
 * The order of test 3 is that of each thread.  So a set with several readers is looping if each of
 * them gets the same samples in the same order in each pass, as the workers of a PyTorch DataLoader
 * do.  If a sample goes to the worker that is free first, the set is shuffled.
 *
 * Limits: two programs that read one set in different scattered patterns have one class.  A set
 * stays scattered if less than 1 / EVIDENCE_PART of its runs are read again.  If samples share
 * pages and a page cache keeps over a tenth of these pages, a set may seem random after two passes:
 * a read of a sample then begins at one of two sectors.
 *
 * A hash of a run's first sector decides whether the run is sampled, so each pass samples the same
 * runs.  A set with more sampled runs than evidence_most() halves its sampling rate.
 */
#ifndef BPF_EVIDENCE_H
#define BPF_EVIDENCE_H

#include "nearcache_classify.h"

#define EVIDENCE_ENOUGH	460
#define EVIDENCE_MOST	1200
/* Maximum sampled runs of a set: a set with more halves its sampling rate. */
#define EVIDENCE_UNITS	256U
/* No class before 1 / EVIDENCE_PART of the units, and EVIDENCE_AGAIN units, were read again. */
#define EVIDENCE_AGAIN	8U
#define EVIDENCE_PART	12U
/* A run that is read again within this many runs was split, or read by two workers at once. */
#define EVIDENCE_NEAR	8U
/* A set with a class restarts after this many successive new runs; a random set after twice. */
#define EVIDENCE_FRESH	16U
/*
 * A sampled run costs the module as much time as a hit.  A set whose class is unchanged for
 * EVIDENCE_PASSES passes is steady: to notice a change, EVIDENCE_FEW sampled runs suffice, or even
 * EVIDENCE_FEWEST if @sample is below EVIDENCE_THIN (more than one run of 16 is sampled).
 */
#define EVIDENCE_PASSES	4
#define EVIDENCE_FEW	64U
#define EVIDENCE_FEWEST	16U
#define EVIDENCE_THIN	4U
/* In a steady set, a repeated run changes @shuffles only if it is an EVIDENCE_SLOW-th draw. */
#define EVIDENCE_SLOW	8U
/* Amounts that an event adds to the sum of a test: two each for tests 1 to 3, NEW_RUN for 4. */
#define FOLLOWS		34
#define JUMPS		(-270)
#define SAME_GAP	381
#define OTHER_GAP	(-228)
#define SAME_ORDER	369
#define OTHER_ORDER	(-159)
#define NEW_RUN		(-110)

/**
 * struct stream - the reads, or the writes, of a process
 * @accesses: accesses so far
 * @runs: accesses that began a run
 * @bytes: bytes of all accesses
 * @follows: sum of test 1; positive: sequential
 * @strides: sum of test 2; positive: strided; used only if the stream is not sequential
 * @class: enum nearcache_class without regard to the set, so never SHUFFLED, LOOPING or RANDOM
 * @told: class in the last answer to the module: that of the set if the stream reads a set
 * @changes: how often @told has changed
 * @reserved: 0
 * @uncounted: bytes not yet added to the stream's struct mix
 */
struct stream {
	__u64 accesses;
	__u64 runs;
	__u64 bytes;
	__s32 follows;
	__s32 strides;
	__u32 class;
	__u32 told;
	__u32 changes;
	__u32 reserved;
	__u64 uncounted;
};

/**
 * struct set - the runs that the scattered streams of a control group read in one place
 * @runs: runs read so far
 * @id: random number, the set's key in the map of units
 * @sample: one of 1 << @sample runs is sampled.  When it grows by 1, the counts of sampled runs
 *	(@draws, @units, @singles, @since) are halved
 * @draws: reads of sampled runs
 * @units: distinct runs among @draws
 * @singles: units read only once
 * @again: 1 if at least one unit was read twice
 * @loops: sum of test 3; positive: looping
 * @shuffles: sum of tests 4 and 5; positive: shuffled
 * @class: enum nearcache_class; SCATTERED until a test decides
 * @since: draws since the last change of @class
 * @fresh: successive draws, up to the last one, of runs that were new
 * @reserved: 0
 */
struct set {
	__u64 runs;
	__u32 id;
	__u32 sample;
	__u32 draws;
	__u32 units;
	__u32 singles;
	__u32 again;
	__s32 loops;
	__s32 shuffles;
	__u32 class;
	__u32 since;
	__u32 fresh;
	__u32 reserved;
};

/**
 * struct unit - a sampled run of a set
 * @at: @runs of the set at the last read of this run
 * @before: first sector of the run that the stream had read just before that last read
 * @count: reads of this run
 * @reserved: 0
 */
struct unit {
	__u64 at;
	__u64 before;
	__u32 count;
	__u32 reserved;
};

static inline __s32 evidence_add(__s32 sum, __s64 more)
{
	__s64 s = sum + more;

	if (s > EVIDENCE_MOST)
		return EVIDENCE_MOST;
	return s < -EVIDENCE_MOST ? -EVIDENCE_MOST : (__s32)s;
}

/* Add the accesses that @told reports to the evidence of @stream, and update its class. */
static inline void evidence_stream(struct stream *stream, const struct nearcache_classify *told)
{
	/* A stream that re-reads one run has equal negative gaps, but is not strided. */
	__u32 gaps = told->run != told->before ? told->same_gaps : 0;
	__u32 same = gaps < told->runs ? gaps : told->runs;
	/* A stream's first run is no jump: there was no earlier access that it could continue. */
	__u32 jumps = told->before == ~0ULL && told->runs ? told->runs - 1 : told->runs;
	__u32 others = jumps > same ? jumps - same : 0;

	stream->accesses += told->accesses;
	stream->runs += told->runs;
	stream->bytes += told->bytes;
	stream->follows = evidence_add(stream->follows,
				       (__s64)(told->accesses - told->runs) * FOLLOWS +
				       (__s64)jumps * JUMPS);
	stream->strides = evidence_add(stream->strides,
				       (__s64)same * SAME_GAP + (__s64)others * OTHER_GAP);
	if (stream->follows >= EVIDENCE_ENOUGH)
		stream->class = told->io.op == 1 ? NEARCACHE_CLASS_CHECKPOINT :
						   NEARCACHE_CLASS_SEQUENTIAL;
	else if (stream->follows > -EVIDENCE_ENOUGH)
		return;
	else if (stream->strides >= EVIDENCE_ENOUGH)
		stream->class = NEARCACHE_CLASS_STRIDED;
	else if (stream->strides <= -EVIDENCE_ENOUGH)
		stream->class = NEARCACHE_CLASS_SCATTERED;
}

/* Smallest readahead window, sectors: 512 KiB.  A shorter one does not pay for its request. */
#define WINDOW_LEAST	1024

/**
 * evidence_window() - set the readahead window of a sequential stream
 * @stream: stream after evidence_stream() with @told
 * @told: the event; receives @window and @length
 * @most: largest window in sectors
 *
 * In a stream's first run, the window is the length read so far: the run is likely to double.  In a
 * later run, the window is @most up to the mean length of the earlier runs (shards are of similar
 * length), where @length ends the readahead.  Beyond, it is a quarter of the length read so far.
 */
static inline void evidence_window(const struct stream *stream, struct nearcache_classify *told,
				   __u32 most)
{
	__u64 run = told->io.sector + told->io.nr_sectors - told->run;
	__u64 others = stream->bytes / 512 > run ? stream->bytes / 512 - run : 0;
	__u64 mean = stream->runs > 1 ? others / (stream->runs - 1) : 0;
	/* Allow a sixteenth more: runs of similar length differ slightly. */
	__u64 usual = mean + mean / 16;

	told->length = 0;
	told->window = run < most ? (__u32)run : most;
	if (run <= usual) {
		told->window = most;
		told->length = usual < ~0U ? (__u32)usual : 0;
	} else if (mean && run / 4 < most) {
		told->window = (__u32)(run / 4);
	}
	if (told->window < WINDOW_LEAST)
		told->window = most < WINDOW_LEAST ? most : WINDOW_LEAST;
}

/* Bound the index @i of an array.  Without the asm the compiler might drop the mask as redundant,
 * and the BPF verifier would reject the program.
 */
static inline __u32 evidence_index(__u32 i, __u32 mask)
{
	__asm__ volatile("" : "+r"(i));
	return i & mask;
}

/* Entry i is 100 ln(i / 32); entry 0 repeats entry 1.  Do not add entry 32: it would be 0, clang
 * would place an array that ends with 0 in a string section, where it has no BTF, and the kernel
 * would reject the BTF of the whole program.
 */
static const __s32 evidence_ln[32] = {
	-347, -347, -277, -237, -208, -186, -167, -152, -139, -127, -116, -107, -98, -90, -83,
	-76, -69, -63, -58, -52, -47, -42, -37, -33, -29, -25, -21, -17, -13, -10, -6, -3,
};

/* Amount of test 5 for an age of x passes: 100 (ln(min(x, 2 - x)) + x).  Entry i is for the middle
 * of the eighth of a pass that begins at x = i / 8.
 */
static const __s32 evidence_age[16] = {
	-271, -149, -85, -39, -1, 31, 60, 87, 100, 98, 94, 86, 74, 52, 14, -84,
};

/* Amount of test 5 for an age above two passes, which only a random set has. */
#define AGE_BEYOND	(-400)
/* The ages in a pass correlate: if a pass has more than AGES ages, all together count like AGES. */
#define AGES		40

/* Amount that test 5 adds for a run that is read again @age runs after its last read. */
static inline __s32 evidence_of_age(const struct set *set, __u64 age)
{
	__u64 pass = (__u64)set->units << (set->sample & 31);
	__u64 eighth = pass ? 8 * age / pass : 16;
	__s32 all = eighth < 16 ? evidence_age[evidence_index((__u32)eighth, 15)] : AGE_BEYOND;
	/* BPF has no signed division. */
	__u32 size = all < 0 ? -all : all;

	if (set->units > AGES)
		size = size * AGES / set->units;
	return all < 0 ? -(__s32)size : (__s32)size;
}

/* Returns 1 if a second pass has begun: see above, "When a class is known". */
static inline int evidence_repeats(const struct set *set)
{
	__u32 again = set->units > set->singles ? set->units - set->singles : 0;

	return again >= EVIDENCE_AGAIN && again * EVIDENCE_PART >= set->units;
}

/* Returns 1 if @unit is no evidence because it was read over twice as often as the mean run. */
static inline int evidence_is_popular(const struct set *set, const struct unit *unit)
{
	return (unit->count - 1ULL) * set->units > 2ULL * set->draws;
}

/* Forget all runs of @set: the new id makes its units unknown. */
static inline void evidence_restart(struct set *set)
{
	__u64 runs = set->runs;
	__u32 id = set->id * 1664525U + 1013904223U;

	*set = (struct set){ .runs = runs, .id = id, .class = NEARCACHE_CLASS_SCATTERED };
}

static inline void evidence_judge(struct set *set)
{
	__u32 was = set->class;

	if (was == NEARCACHE_CLASS_SCATTERED && !evidence_repeats(set))
		;
	else if (set->loops >= EVIDENCE_ENOUGH)
		set->class = NEARCACHE_CLASS_LOOPING;
	else if (set->loops > -EVIDENCE_ENOUGH)
		;
	else if (set->shuffles >= EVIDENCE_ENOUGH)
		set->class = NEARCACHE_CLASS_SHUFFLED;
	else if (set->shuffles <= -EVIDENCE_ENOUGH)
		set->class = NEARCACHE_CLASS_RANDOM;
	if (set->class != was)
		set->since = 0;
	else if (set->since < ~0U)
		set->since++;
}

/* Returns the number of successive new runs after which a set with a class restarts. */
static inline __u32 evidence_fresh(const struct set *set)
{
	if (set->class == NEARCACHE_CLASS_SCATTERED)
		return ~0U;
	/* A random set has new runs for a long time. */
	return set->class == NEARCACHE_CLASS_RANDOM ? 2 * EVIDENCE_FRESH : EVIDENCE_FRESH;
}

/* Returns 1 if the set has had a class other than SCATTERED for EVIDENCE_PASSES passes. */
static inline int evidence_is_steady(const struct set *set)
{
	return set->class != NEARCACHE_CLASS_SCATTERED &&
	       set->since >= EVIDENCE_PASSES * set->units;
}

/* Present maximum of the sampled runs of a set: EVIDENCE_UNITS, or fewer if the set is steady. */
static inline __u32 evidence_most(const struct set *set)
{
	if (!evidence_is_steady(set))
		return EVIDENCE_UNITS;
	return set->sample < EVIDENCE_THIN ? EVIDENCE_FEWEST : EVIDENCE_FEW;
}

/**
 * evidence_set() - add a sampled run to the evidence of its set, and update the set's class
 * @set: set; its @runs include this run
 * @unit: unit of the run, is updated; NULL: the run is new.  After this call the caller adds the
 *	unit of a new run under @set->id, which this function may have changed
 * @before: first sector of the run that the stream read before this one
 */
static inline void evidence_set(struct set *set, struct unit *unit, __u64 before)
{
	__u32 i = set->draws ? 32ULL * set->singles / set->draws : 32;

	if (unit && (set->runs - unit->at <= EVIDENCE_NEAR || evidence_is_popular(set, unit)))
		return;
	/* i / 32 is p of test 4.  Clamped, so that no logarithm is infinite. */
	i = i < 2 ? 2 : i > 30 ? 30 : i;
	set->draws++;
	if (!unit) {
		if (set->again)
			set->shuffles = evidence_add(set->shuffles, NEW_RUN);
		set->units++;
		set->singles++;
		set->fresh++;
		if (set->fresh >= evidence_fresh(set)) {
			evidence_restart(set);
			set->draws = 1;
			set->units = 1;
			set->singles = 1;
		}
	} else {
		__s32 more = 0;

		if (set->again)
			more = evidence_ln[evidence_index(i < 3 ? 31 : 32 - i / 3, 31)] -
			       evidence_ln[evidence_index(32 - i, 31)];
		if (set->draws >= 2 * set->units)
			more += evidence_of_age(set, set->runs - unit->at);
		if (!evidence_is_steady(set) || !(set->draws % EVIDENCE_SLOW))
			set->shuffles = evidence_add(set->shuffles, more);
		/* A stream's first run follows none. */
		if (unit->before != ~0ULL && before != ~0ULL)
			set->loops = evidence_add(set->loops, unit->before == before ?
						  SAME_ORDER : OTHER_ORDER);
		if (unit->count == 1 && set->singles)
			set->singles--;
		set->again = 1;
		set->fresh = 0;
		unit->count++;
		unit->at = set->runs;
		unit->before = before;
	}
	if (set->units > evidence_most(set) && set->sample < NEARCACHE_SAMPLE_MAX) {
		set->sample++;
		set->units /= 2;
		set->singles /= 2;
		set->draws /= 2;
		set->since /= 2;
	}
	evidence_judge(set);
}

/* Returns 1 if the event @told reports a run that the set samples. */
static inline int evidence_is_sampled(const struct set *set, const struct nearcache_classify *told)
{
	return told->why & NEARCACHE_WHY_RUN && !(told->hash & ((1U << (set->sample & 31)) - 1));
}

#endif /* BPF_EVIDENCE_H */
