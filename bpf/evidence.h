/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics that classify a stream as sequential, strided or scattered, and the set of runs of
 * scattered streams as shuffled, looping or random.  Pure functions: the BPF program and the unit
 * tests compile this file.
 *
 * Each question is a sequential probability ratio test.  An event adds the logarithm of its
 * likelihood ratio under the two answers, in 1/100 of the natural logarithm.  The test decides when
 * the sum passes EVIDENCE_ENOUGH, odds of 100 to 1.  The sum is clamped to EVIDENCE_MOST, so that a
 * change of the pattern is noticed.
 *
 *  1. Does the next access continue the one before?  98 of 100 in a sequential stream; 70 of 100 in
 *     another one, as it may read one run by several accesses.
 *  2. Is the gap before this run equal to the last gap?  90 of 100 in a strided stream, 2 of 100 in
 *     a scattered one.
 *  3. When a run is read again, is its predecessor the same as last time?  80 of 100 in a looping
 *     set, as the page cache answers some reads; 2 of 100 in another one.
 *  4. Is a run new?  Random: with the probability of the share of runs read only once so far (Good
 *     and Turing).  Shuffled: always, until the first repeated run; from there a third of that
 *     share: runs that the page cache answered in the first pass.
 *  5. After two passes: at what age (runs since its last read) is a run read again?  With N runs in
 *     a pass, shuffled: the difference of two uniform distributions (a triangle from 0 to 2 N);
 *     random: exponential with mean N.
 *
 * Error rate, measured in a guest with fio, tar and data loaders, cold and warm, alone and with
 * other load: 0 of 213 runs (helper/classes.sh prints it).  Simulated, one process that reads a set
 * of 200 to 20000 runs: below 1 % at 1.25 passes, skewed or not, and no change after the first
 * verdict (random reads with a skew of 1.2: one set in five changes).  If a page cache answers a
 * third of the reads of each pass: as low at first, 1 % after 12 passes, and looping sets change
 * once more.  If it answers a half: 5 % of the looping sets at 1.25 passes; in the long run a third
 * of them and half of the shuffled ones.  A new pattern on the same runs is noticed within 2
 * passes, a change between shuffled and random within 3 to 20.
 *
 * Limits: jobs of one control group that read scattered runs of the same place by two patterns are
 * one set.  Samples that share pages may seem random after two passes if a page cache keeps more
 * than a tenth of these pages, as each sample then begins at one of two sectors.
 *
 * A hash of its first sector decides whether a run is sampled, so each pass samples the same runs.
 * The sampling rate is halved whenever a set has more than EVIDENCE_UNITS sampled runs.
 */
#ifndef BPF_EVIDENCE_H
#define BPF_EVIDENCE_H

#include "nearcache_classify.h"

#define EVIDENCE_ENOUGH	460
#define EVIDENCE_MOST	1200
/* Sampled runs of a set; a set with more halves its sampling rate. */
#define EVIDENCE_UNITS	256U
/*
 * Each reported run costs as much as a hit.  A set whose class is unchanged for EVIDENCE_PASSES
 * passes is steady and needs only EVIDENCE_FEW sampled runs to notice a change; EVIDENCE_FEWEST
 * while its @sample is below EVIDENCE_THIN (one run of 16).
 */
#define EVIDENCE_PASSES	4
#define EVIDENCE_FEW	64U
#define EVIDENCE_FEWEST	16U
#define EVIDENCE_THIN	4U
/* In a steady set one draw of EVIDENCE_SLOW counts for shuffled or random. */
#define EVIDENCE_SLOW	8U
/* Log likelihood ratios of the events above. */
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
 * @follows: evidence for sequential
 * @strides: evidence for strided against scattered, if the stream is not sequential
 * @class: enum nearcache_class of the stream alone, without its set: never SHUFFLED, LOOPING
 *	or RANDOM
 * @told: class reported last, from the stream or its set
 * @changes: changes of @told
 * @reserved: 0
 * @uncounted: bytes not yet added to struct mix
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
 * struct set - the runs that scattered streams of a control group read in one place
 * @runs: runs read so far
 * @id: random number, the set's key in the map of units
 * @sample: see struct nearcache_classify
 * @draws: reads of sampled runs
 * @units: distinct runs among @draws
 * @singles: units read only once
 * @again: 1: at least one unit was read twice
 * @loops: evidence for the same order in each pass
 * @shuffles: evidence for shuffled against random
 * @class: enum nearcache_class; SCATTERED until a test decides
 * @since: draws since the last change of @class
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
 * @at: @runs of the set at the last read of this run
 * @before: first sector of the run before it at that time
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
	/* A run that is read again and again is no backward stride. */
	__u32 gaps = told->run != told->before ? told->same_gaps : 0;
	__u32 same = gaps < told->runs ? gaps : told->runs;
	/* The first run of a stream has no gap before it. */
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

/* Smallest window, 512 KiB: a shorter one does not pay for its request. */
#define WINDOW_LEAST	1024

/**
 * evidence_window() - set the readahead window of a sequential stream
 * @stream: stream after evidence_stream() with @told
 * @told: its @window and @length are set
 * @most: largest window in sectors
 *
 * The part of a run that is read already predicts that as much follows.  Runs of similar length
 * (shards) are read ahead up to that length and not beyond it.
 */
static inline void evidence_window(const struct stream *stream, struct nearcache_classify *told,
				   __u32 most)
{
	__u64 run = told->io.sector + told->io.nr_sectors - told->run;
	__u64 others = stream->bytes / 512 > run ? stream->bytes / 512 - run : 0;
	__u64 mean = stream->runs > 1 ? others / (stream->runs - 1) : 0;
	/* Tolerance: similar runs differ slightly in length. */
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

/* Keep the mask, which the compiler would drop as redundant: the verifier needs it. */
static inline __u32 evidence_index(__u32 i, __u32 mask)
{
	__asm__ volatile("" : "+r"(i));
	return i & mask;
}

/* 100 ln(i / 32) for i from 0 to 31; entry 0 has the value of entry 1.  (A 33rd entry, 0, would
 * make clang place the array in a string section; it loses its BTF there, and the kernel rejects
 * the program's whole BTF.)
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
/* Ages of one pass that count in full; more are scaled down, as the ages in a pass correlate. */
#define AGES		40

/* Evidence from reading a run again @age runs after its last read. */
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

/* Has the class been stable for EVIDENCE_PASSES passes? */
static inline int evidence_is_steady(const struct set *set)
{
	return set->class != NEARCACHE_CLASS_SCATTERED &&
	       set->since >= EVIDENCE_PASSES * set->units;
}

/* Largest number of units of a set. */
static inline __u32 evidence_most(const struct set *set)
{
	if (!evidence_is_steady(set))
		return EVIDENCE_UNITS;
	return set->sample < EVIDENCE_THIN ? EVIDENCE_FEWEST : EVIDENCE_FEW;
}

/**
 * evidence_set() - add a sampled run to the evidence of its set, and update the set's class
 * @set: set; its @runs include this run
 * @unit: unit of the run; NULL: the run is new
 * @before: first sector of the run before it
 */
static inline void evidence_set(struct set *set, struct unit *unit, __u64 before)
{
	__u32 i = set->draws ? 32ULL * set->singles / set->draws : 32;

	/* Keep both probabilities away from 0 and 1. */
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

/* Does the event report a run that the set samples? */
static inline int evidence_is_sampled(const struct set *set, const struct nearcache_classify *told)
{
	return told->why & NEARCACHE_WHY_RUN && !(told->hash & ((1U << (set->sample & 31)) - 1));
}

#endif /* BPF_EVIDENCE_H */
