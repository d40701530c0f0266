// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/choose_readahead.h"

#include <stdio.h>
#include <string.h>

#include "lib/enum_words.h"

/* A sample or a trial with fewer bytes read than this is not judged. */
#define BYTES_LEAST	(1U << 20)
/* Percentage of the bytes in a sample that must be read in the same way to show a habit. */
#define SHARE		75U
/* Each new sample multiplies the weight of older samples by 1 - 1 / FADE. */
#define FADE		8U
/* If the (cost) / (bytes read) rises or falls by at most 1 / NOISE, this is noise. */
#define NOISE		20U

static void fade_measure(struct measure *sum, const struct measure *more)
{
	sum->read += more->read - sum->read / FADE;
	sum->origin += more->origin - sum->origin / FADE;
	sum->stall += more->stall - sum->stall / FADE;
}

static void add_measure(struct measure *sum, const struct measure *more)
{
	sum->read += more->read;
	sum->origin += more->origin;
	sum->stall += more->stall;
}

static unsigned int percent_of(uint64_t part, uint64_t all)
{
	return all ? (unsigned int)(100 * part / all) : 0;
}

/* Returns the habit that @look shows, with the reason in @why, or @habit if too little was read. */
static enum habit habit_of(const struct look *look, enum habit habit, char *why)
{
	const uint64_t *bytes = look->bytes;
	uint64_t sequential = bytes[NEARCACHE_CLASS_SEQUENTIAL], all, pieces = 0;
	unsigned int class, most = NEARCACHE_CLASS_STRIDED;

	/* Add up the classes that read in pieces.  Checkpoints are writes and do not count. */
	for (class = 0; class < NEARCACHE_CLASSES; class++) {
		if (class != NEARCACHE_CLASS_STRIDED &&
		    class < NEARCACHE_CLASS_SCATTERED)
			continue;
		pieces += bytes[class];
		if (bytes[class] > bytes[most])
			most = class;
	}
	all = pieces + sequential + bytes[NEARCACHE_CLASS_UNKNOWN];
	if (all < BYTES_LEAST)
		return habit;
	if (percent_of(sequential, all) >= SHARE) {
		snprintf(why, JUDGE_WHY, "%u %% of %llu bytes were read by sequential streams",
			 percent_of(sequential, all), (unsigned long long)all);
		return HABIT_SEQUENTIAL;
	}
	if (percent_of(pieces, all) >= SHARE) {
		snprintf(why, JUDGE_WHY,
			 "%u %% of %llu bytes were read in pieces, mostly by %s streams",
			 percent_of(pieces, all), (unsigned long long)all,
			 class_word(most));
		return most == NEARCACHE_CLASS_RANDOM ? HABIT_RANDOM : HABIT_PIECES;
	}
	return HABIT_UNKNOWN;
}

/*
 * @so: at least SHARE % of the bytes may be read in the same order again: their streams are neither
 * shuffled nor random.  False if too little was read.
 */
bool judge_may_loop(const struct look *look, bool *so)
{
	uint64_t all = 0, mixed = look->bytes[NEARCACHE_CLASS_SHUFFLED] +
				  look->bytes[NEARCACHE_CLASS_RANDOM];
	unsigned int i;

	for (i = 0; i < NEARCACHE_CLASSES; i++)
		if (i != NEARCACHE_CLASS_CHECKPOINT)
			all += look->bytes[i];
	*so = percent_of(all - mixed, all) >= SHARE;
	return all >= BYTES_LEAST;
}

/* Returns the readahead that suits the habit; 0: unknown. */
static uint64_t wish_of(const struct conf *conf, enum habit habit)
{
	switch (habit) {
	case HABIT_SEQUENTIAL:
		return conf->read_ahead_sequential;
	case HABIT_PIECES:
	case HABIT_RANDOM:
		return conf->read_ahead_scattered;
	default:
		return 0;
	}
}

/* Whether the cost per byte read rose by more than noise. */
static bool is_more(uint64_t after, uint64_t after_read, uint64_t before,
		    uint64_t before_read)
{
	double now = (double)after / (double)after_read;
	double then = (double)before / (double)before_read;

	return now > then + then / NOISE;
}

/* Cost per 1000 bytes read. */
static unsigned long long rate_per_thousand(uint64_t part, uint64_t read)
{
	return (unsigned long long)(1000.0 * (double)part / (double)read);
}

/* Compare the cost before and after a change.  @read of both measures must not be 0. */
void judge_weigh(const struct measure *before, const struct measure *after, struct balance *balance)
{
	const struct measure *a = after, *b = before;

	balance->origin_more = is_more(a->origin, a->read, b->origin, b->read);
	balance->origin_less = is_more(b->origin, b->read, a->origin, a->read);
	balance->stall_more = is_more(a->stall, a->read, b->stall, b->read);
	balance->stall_less = is_more(b->stall, b->read, a->stall, a->read);
	snprintf(balance->why, sizeof(balance->why),
		 "for 1000 bytes read: %llu from the origin (%llu before), %llu us (%llu before)",
		 rate_per_thousand(a->origin, a->read), rate_per_thousand(b->origin, b->read),
		 rate_per_thousand(a->stall, a->read) / 1000,
		 rate_per_thousand(b->stall, b->read) / 1000);
}

/* A change did harm if latency or reads from the origin rose, and neither of them fell. */
static enum judgement compare_change(const struct judge *judge, char *why)
{
	struct balance balance;

	judge_weigh(&judge->before, &judge->after, &balance);
	memcpy(why, balance.why, sizeof(balance.why));
	return (balance.stall_more && !balance.origin_less) ||
	       (balance.origin_more && !balance.stall_less) ?
	       JUDGE_TAKE_BACK : JUDGE_KEEP;
}

/*
 * Add a sample to the trial.  After conf->trial seconds and enough reads, end the trial and
 * return true with the judgement in @advice.
 */
static bool judge_trial(struct judge *judge, const struct conf *conf,
			const struct look *look, struct advice *advice)
{
	add_measure(&judge->after, &look->measure);
	if (look->time < judge->changed + conf->trial ||
	    judge->after.read < BYTES_LEAST)
		return false;
	judge->tried = false;
	/* No judgement: nothing was read before the change, or a user has set another readahead. */
	if (!judge->before.read || look->read_ahead != judge->wish)
		return false;
	advice->from = look->read_ahead;
	advice->to = judge->from;
	advice->what = compare_change(judge, advice->why);
	return true;
}

/* The device is read in another way now: forget the cost of the former reads, and end any trial. */
static void begin_phase(struct judge *judge, uint64_t wish)
{
	judge->wish = wish;
	judge->wished = 0;
	judge->tried = false;
	memset(&judge->recent, 0, sizeof(judge->recent));
}

/* Evaluate a sample.  The caller calls judge_done() after it followed the advice. */
void judge_look(struct judge *judge, const struct conf *conf,
		const struct look *look, struct advice *advice)
{
	uint64_t wish;

	memset(advice, 0, sizeof(*advice));
	judge->habit = habit_of(look, judge->habit, advice->why);
	/* If habit_of() wrote no reason, the sample shows nothing: do not act on it. */
	wish = *advice->why ? wish_of(conf, judge->habit) : 0;
	if (!wish || !conf->read_ahead)
		return;
	if (wish != judge->wish)
		begin_phase(judge, wish);
	judge->wished++;
	if (judge->tried && judge_trial(judge, conf, look, advice))
		return;
	fade_measure(&judge->recent, &look->measure);
	if (judge->tried || wish == look->read_ahead ||
	    judge->wished < conf->settle || look->time < judge->held ||
	    (judge->changed && look->time < judge->changed + conf->calm))
		return;
	advice->what = JUDGE_SET;
	advice->from = look->read_ahead;
	advice->to = wish;
}

/* Note that the caller followed the advice of judge_look(): JUDGE_SET starts a trial. */
void judge_done(struct judge *judge, const struct conf *conf,
		const struct look *look, const struct advice *advice)
{
	if (advice->what == JUDGE_KEEP)
		return;
	judge->changed = look->time;
	judge->tried = advice->what == JUDGE_SET;
	judge->from = advice->from;
	judge->before = judge->recent;
	memset(&judge->after, 0, sizeof(judge->after));
	if (advice->what == JUDGE_TAKE_BACK)
		judge_hold(judge, look->time + conf->hold);
}

/* End a trial without a judgement, and advise no change before @until, seconds. */
void judge_hold(struct judge *judge, uint64_t until)
{
	judge->tried = false;
	judge->held = until;
}
