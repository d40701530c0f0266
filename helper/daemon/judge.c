// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/judge.h"

#include <stdio.h>
#include <string.h>

#include "lib/words.h"

/* Less than so many bytes in a look say nothing. */
#define BYTES_LEAST	(1U << 20)
/* Of 100 bytes read, so many must be of a kind. */
#define SHARE		75U
/* Older looks count 7/8 of what they did. */
#define FADE		8U
/* A change of less than this part is noise. */
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

/* Of what was read, so many of 100 bytes by streams of one kind. */
static unsigned int percent_of(uint64_t part, uint64_t all)
{
	return all ? (unsigned int)(100 * part / all) : 0;
}

/* Return: how the device was read, and @habit when too little was. */
static enum habit habit_of(const struct look *look, enum habit habit, char *why)
{
	const uint64_t *bytes = look->bytes;
	uint64_t sequential = bytes[NEARCACHE_CLASS_SEQUENTIAL], all, pieces = 0;
	unsigned int class, most = NEARCACHE_CLASS_STRIDED;

	/* Checkpoints are written. */
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

/**
 * judge_says() - was a device read by streams of one class?
 * @look: it
 * @class: class
 * @so: the result
 *
 * Return: whether enough was read to tell.
 */
bool judge_says(const struct look *look, enum nearcache_class class, bool *so)
{
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < NEARCACHE_CLASSES; i++)
		if (i != NEARCACHE_CLASS_CHECKPOINT)
			all += look->bytes[i];
	*so = percent_of(look->bytes[class], all) >= SHARE;
	return all >= BYTES_LEAST;
}

/* Return: the read-ahead that fits that, 0: it does not show. */
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

/* Is @after, for each byte that is read, more than @before, by more than noise? */
static bool is_more(uint64_t after, uint64_t after_read, uint64_t before,
		    uint64_t before_read)
{
	double now = (double)after / (double)after_read;
	double then = (double)before / (double)before_read;

	return now > then + then / NOISE;
}

/* For 1000 bytes that were read. */
static unsigned long long rate_per_thousand(uint64_t part, uint64_t read)
{
	return (unsigned long long)(1000.0 * (double)part / (double)read);
}

/**
 * judge_weigh() - what reads cost, before a change and after it
 * @before: of which something was read
 * @after: the same
 * @balance: the result
 */
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
		 rate_per_thousand(a->stall, a->read) / 1000, rate_per_thousand(b->stall,
										b->read) / 1000);
}

/* Did the last change do more harm than good?  It does when it costs more of one thing, and no
 * less of the other.
 */
static enum judgement compare_change(const struct judge *judge, char *why)
{
	struct balance balance;

	judge_weigh(&judge->before, &judge->after, &balance);
	memcpy(why, balance.why, sizeof(balance.why));
	return (balance.stall_more && !balance.origin_less) ||
	       (balance.origin_more && !balance.stall_less) ?
	       JUDGE_TAKE_BACK : JUDGE_KEEP;
}

/* The end of a trial, when enough was read.  Return: whether there is a judgement. */
static bool judge_trial(struct judge *judge, const struct conf *conf,
			const struct look *look, struct advice *advice)
{
	add_measure(&judge->after, &look->measure);
	if (look->time < judge->changed + conf->trial ||
	    judge->after.read < BYTES_LEAST)
		return false;
	judge->tried = false;
	/* Somebody else has changed it. */
	if (!judge->before.read || look->read_ahead != judge->wish)
		return false;
	advice->from = look->read_ahead;
	advice->to = judge->from;
	advice->what = compare_change(judge, advice->why);
	return true;
}

/* It is read in another way: what was learnt does not hold for that. */
static void begin_phase(struct judge *judge, uint64_t wish)
{
	judge->wish = wish;
	judge->wished = 0;
	judge->tried = false;
	memset(&judge->recent, 0, sizeof(judge->recent));
}

/**
 * judge_look() - what is to be changed
 * @judge: what is known of the device
 * @conf: what may be done
 * @look: what happened since the last look
 * @advice: the result
 *
 * judge_done() is due when it was done.
 */
void judge_look(struct judge *judge, const struct conf *conf,
		const struct look *look, struct advice *advice)
{
	uint64_t wish;

	memset(advice, 0, sizeof(*advice));
	judge->habit = habit_of(look, judge->habit, advice->why);
	/* Too little was read to say why. */
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

/**
 * judge_done() - what was advised was done
 * @judge: what is known of the device
 * @conf: what may be done
 * @look: that it was advised for
 * @advice: that
 */
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

/**
 * judge_hold() - leave the device's read-ahead alone
 * @judge: what is known of the device
 * @until: time
 */
void judge_hold(struct judge *judge, uint64_t until)
{
	judge->tried = false;
	judge->held = until;
}
