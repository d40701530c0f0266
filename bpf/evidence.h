/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a stream is told to be sequential, strided or scattered, and a set of scattered runs to be
 * shuffled, looping or random.  Pure functions: the program and the unit tests compile this very
 * source.
 *
 * Each question is a sequential probability ratio test: what happens is weighed by how much more
 * likely it is under one answer than under the other (in 1/100 of the natural logarithm), and the
 * sum is believed when it is beyond EVIDENCE_ENOUGH, at odds of 100 to 1.  It is kept within
 * EVIDENCE_MOST, so that what changes is seen.
 *
 *  1. Does the next access follow the one before?  Of one that is sequential 98 of 100 do, of one
 *     that is not 70 of 100, as what it reads in one go may be several accesses.
 *  2. Is a run as far from the one before as that was from its own?  Of a strided stream 90 of 100
 *     are, of a scattered one 2 of 100.
 *  3. When a run is read again, was the run before it the same as the last time?  If it loops, 80
 *     of 100, as the page cache answers some reads; else 2 of 100.
 *  4. Is a run new?  Random: as many are as, of those read so far, were read only once (Good and
 *     Turing).  Shuffled: all are, and then, from the first one that is not, a third of that: those
 *     that the page cache answered in the first pass.
 *  5. After two passes: how long ago was a run read?  With N runs in a pass: shuffled, the
 *     difference of two even distributions (a triangle from 0 to 2 N); random, exponential, of
 *     mean N.
 *
 * How often it is wrong: in a guest, with fio, tar and loaders, cold and warm, alone and beside
 * others, in none of 213 runs (helper/classes.sh prints it).  Made up, of sets of 200 to 20000 runs
 * that one process reads: fewer than 1 of 100 at 1.25 passes, skewed or not, and no change after
 * the first verdict (random reads with a skew of 1.2: one set in five).  If a page cache answers a
 * third of the reads of each pass, as few, but after 12 passes 1 of 100 is wrong, and looping ones
 * changed once more; if it answers a half, 5 of 100 looping sets are wrong at 1.25 passes, and in
 * the long run a third of these and half of the shuffled ones.  When the same runs are read in
 * another way, that is seen within 2 passes; from shuffled to random, and back, within 3 to 20.
 *
 * Not told apart are jobs of one control group that read scattered runs of the same place in two
 * ways; and samples that share pages with each other may seem random after two passes if a page
 * cache keeps more than a tenth of these pages, as each then begins at one of two places.
 *
 * Runs are sampled by a hash of where they begin, so that the same ones are seen in each pass:
 * as many that a set has no more than EVIDENCE_UNITS.
 */
#ifndef BPF_EVIDENCE_H
#define BPF_EVIDENCE_H

#include "nearcache_classify.h"

#define EVIDENCE_ENOUGH	460
#define EVIDENCE_MOST	1200
/* Runs of a set that are remembered; then every other one is sampled. */
#define EVIDENCE_UNITS	256U
/*
 * When it is known for so many passes what the set is, fewer will do to see that it stays so; and
 * of small sets fewer still, until one run of 16 (a power of two) is told: each costs as much as
 * a hit.
 */
#define EVIDENCE_PASSES	4
#define EVIDENCE_FEW	64U
#define EVIDENCE_FEWEST	16U
#define EVIDENCE_THIN	4U
/* Then one of so many says whether it is shuffled or random. */
#define EVIDENCE_SLOW	8U
/* What the answers above say of each event. */
#define FOLLOWS		34
#define JUMPS		(-270)
#define SAME_GAP	381
#define OTHER_GAP	(-228)
#define SAME_ORDER	369
#define OTHER_ORDER	(-159)
#define NEW_RUN		(-110)

/**
 * struct stream - what is known of the reads, or writes, of a process
 * @accesses: that it made
 * @runs: of these, those that a run began with
 * @bytes: of these
 * @follows: evidence that it is sequential
 * @strides: that it is strided, if not
 * @class: enum nearcache_class, of which SHUFFLED, LOOPING and RANDOM are its set's
 * @told: class that was told last, with what its set says
 * @changes: how often that changed
 * @reserved: 0
 * @uncounted: bytes that are not in its class's mix yet
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
 * struct set - the runs that scattered streams of a control group read in some place
 * @runs: that were read
 * @id: of the set, for its units
 * @sample: see struct nearcache_classify
 * @draws: sampled runs that were read
 * @units: different ones among these
 * @singles: of these, those that were read once
 * @again: some were read again
 * @loops: evidence that they are read in the same order again
 * @shuffles: that they are shuffled, not random
 * @class: SCATTERED until it is known better
 * @since: draws since it is of this class
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
};

/**
 * struct unit - a sampled run of a set
 * @at: runs of the set before it was read last
 * @before: the run before it, then
 * @count: how often it was read
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

/**
 * evidence_stream() - learn from what is told of a stream
 * @stream: stream
 * @told: that
 *
 * @stream->class changes with it.
 */
static inline void evidence_stream(struct stream *stream, const struct nearcache_classify *told)
{
	/* What is read again and again is no stride back. */
	__u32 gaps = told->run != told->before ? told->same_gaps : 0;
	__u32 same = gaps < told->runs ? gaps : told->runs;
	/* Behind the first run of all there is no gap yet. */
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

/* Sectors that are worth a request, 512 KiB: of a run that gets longer than others at least so
 * many are brought ahead.
 */
#define WINDOW_LEAST	1024

/**
 * evidence_window() - how far ahead of a sequential stream its data is to come
 * @stream: stream, that has learnt from @told
 * @told: gets the answer
 * @most: sectors at most
 *
 * What was read of a run says that as much is to come; where runs were as long as each other (a
 * shard), all of such a length, but not what is behind.
 */
static inline void evidence_window(const struct stream *stream, struct nearcache_classify *told,
				   __u32 most)
{
	__u64 run = told->io.sector + told->io.nr_sectors - told->run;
	__u64 others = stream->bytes / 512 > run ? stream->bytes / 512 - run : 0;
	__u64 mean = stream->runs > 1 ? others / (stream->runs - 1) : 0;
	/* None is quite as long as the other. */
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

/* What the compiler knows to be small, the kernel's verifier wants to see. */
static inline __u32 evidence_index(__u32 i, __u32 mask)
{
	__asm__ volatile("" : "+r"(i));
	return i & mask;
}

/* 100 ln(i / 32), i from 0, where it is as for 1, to 31.  (With the 0 of 32 at its end clang puts
 * it among strings, where its type is lost, and then the kernel takes no type at all.)
 */
static const __s32 evidence_ln[32] = {
	-347, -347, -277, -237, -208, -186, -167, -152, -139, -127, -116, -107, -98, -90, -83,
	-76, -69, -63, -58, -52, -47, -42, -37, -33, -29, -25, -21, -17, -13, -10, -6, -3,
};

/* 100 (ln(min(x, 2 - x)) + x) in the middle of each eighth of x from 0 to 2. */
static const __s32 evidence_age[16] = {
	-271, -149, -85, -39, -1, 31, 60, 87, 100, 98, 94, 86, 74, 52, 14, -84,
};

#define AGE_BEYOND	(-400)
/* So many of a pass count in full: at its beginning all are young, at its end all are old. */
#define AGES		40

/* @age: runs since it was read. */
static inline __s32 evidence_of_age(const struct set *set, __u64 age)
{
	__u64 pass = (__u64)set->units << (set->sample & 31);
	__u64 eighth = pass ? 8 * age / pass : 16;
	__s32 all = eighth < 16 ? evidence_age[evidence_index((__u32)eighth, 15)] : AGE_BEYOND;
	/* BPF does not divide what is signed. */
	__u32 size = all < 0 ? -all : all;

	if (set->units > AGES)
		size = size * AGES / set->units;
	return all < 0 ? -(__s32)size : (__s32)size;
}

static inline void evidence_judge(struct set *set)
{
	__u32 was = set->class;

	if (set->loops >= EVIDENCE_ENOUGH)
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

/* Is a set what it is for some passes? */
static inline int evidence_is_steady(const struct set *set)
{
	return set->class != NEARCACHE_CLASS_SCATTERED &&
	       set->since >= EVIDENCE_PASSES * set->units;
}

/* Runs of a set that are to be remembered. */
static inline __u32 evidence_most(const struct set *set)
{
	if (!evidence_is_steady(set))
		return EVIDENCE_UNITS;
	return set->sample < EVIDENCE_THIN ? EVIDENCE_FEWEST : EVIDENCE_FEW;
}

/**
 * evidence_set() - learn from a sampled run of a set
 * @set: set; its runs are counted already
 * @unit: what is known of the run; NULL: it is new
 * @before: run before it
 *
 * @set->class changes with it.
 */
static inline void evidence_set(struct set *set, struct unit *unit, __u64 before)
{
	__u32 i = set->draws ? 32ULL * set->singles / set->draws : 32;

	/* Neither is ever sure. */
	i = i < 2 ? 2 : i > 30 ? 30 : i;
	set->draws++;
	if (!unit) {
		if (set->again)
			set->shuffles = evidence_add(set->shuffles, NEW_RUN);
		set->units++;
		set->singles++;
	} else {
		__s32 more = 0;

		if (set->again)
			more = evidence_ln[evidence_index(i < 3 ? 31 : 32 - i / 3, 31)] -
			       evidence_ln[evidence_index(32 - i, 31)];
		if (set->draws >= 2 * set->units)
			more += evidence_of_age(set, set->runs - unit->at);
		if (!evidence_is_steady(set) || !(set->draws % EVIDENCE_SLOW))
			set->shuffles = evidence_add(set->shuffles, more);
		set->loops = evidence_add(set->loops,
					  unit->before == before ? SAME_ORDER : OTHER_ORDER);
		if (unit->count == 1 && set->singles)
			set->singles--;
		set->again = 1;
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

/**
 * evidence_is_sampled() - is a run one of the units of its set?
 * @set: set
 * @told: run
 */
static inline int evidence_is_sampled(const struct set *set, const struct nearcache_classify *told)
{
	return told->why & NEARCACHE_WHY_RUN && !(told->hash & ((1U << (set->sample & 31)) - 1));
}

#endif /* BPF_EVIDENCE_H */
