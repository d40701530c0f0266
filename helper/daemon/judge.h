/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is to be changed of a device, by how it is read, and whether a change was worth it.
 * Nothing is asked or done here.
 */
#ifndef HELPER_DAEMON_JUDGE_H
#define HELPER_DAEMON_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/conf.h"
#include "nearcache_classify.h"

/* Room for the evidence, in words. */
#define JUDGE_WHY	200

/**
 * struct measure - what reads cost
 * @read: bytes read through the device
 * @origin: of these, bytes read from the origin, with what nobody asked for
 * @stall: nanoseconds that reads took, all together
 */
struct measure {
	uint64_t read;
	uint64_t origin;
	uint64_t stall;
};

/**
 * struct look - a device, since the last look
 * @time: seconds, of any clock that does not go back
 * @read_ahead: bytes, as it is now
 * @bytes: read by streams of each class
 * @measure: what that cost
 */
struct look {
	uint64_t time;
	uint64_t read_ahead;
	uint64_t bytes[NEARCACHE_CLASSES];
	struct measure measure;
};

/**
 * enum habit - how a device is read
 * @HABIT_UNKNOWN: not known yet, or in several ways
 * @HABIT_SEQUENTIAL: by sequential streams
 * @HABIT_PIECES: in pieces, each about once per pass
 * @HABIT_RANDOM: in pieces, some of them again before others
 */
enum habit {
	HABIT_UNKNOWN = 0,
	HABIT_SEQUENTIAL,
	HABIT_PIECES,
	HABIT_RANDOM,
};

/**
 * struct judge - what is known of a device
 * @habit: how it was read when enough was read last
 * @wish: read-ahead that it should have, as of the last looks; bytes, 0: none is known
 * @wished: how many looks in a row said so
 * @changed: time of the last change, 0: never
 * @held: until then the read-ahead is left alone
 * @recent: what was measured, older looks count less
 * @tried: a change is on trial
 * @from: read-ahead before it
 * @before: @recent, then
 * @after: what was measured since
 */
struct judge {
	enum habit habit;
	uint64_t wish;
	unsigned int wished;
	uint64_t changed;
	uint64_t held;
	struct measure recent;
	bool tried;
	uint64_t from;
	struct measure before;
	struct measure after;
};

/**
 * enum judgement - what to do
 * @JUDGE_NOTHING: nothing
 * @JUDGE_SET: set the read-ahead to struct advice @to
 * @JUDGE_TAKE_BACK: the same, as the last change did harm
 * @JUDGE_KEEP: the last change stays
 */
enum judgement {
	JUDGE_NOTHING = 0,
	JUDGE_SET,
	JUDGE_TAKE_BACK,
	JUDGE_KEEP,
};

/**
 * struct advice - what to do, and why
 * @what: that
 * @from: read-ahead as it is, bytes
 * @to: as it should be
 * @why: evidence, in words
 */
struct advice {
	enum judgement what;
	uint64_t from;
	uint64_t to;
	char why[JUDGE_WHY];
};

/**
 * struct balance - what reads cost, for each byte that was read, after a change
 * @origin_more: more bytes of the origin than before, by more than noise
 * @origin_less: less
 * @stall_more: more time
 * @stall_less: less
 * @why: in words
 */
struct balance {
	bool origin_more;
	bool origin_less;
	bool stall_more;
	bool stall_less;
	char why[JUDGE_WHY];
};

bool judge_says(const struct look *look, enum nearcache_class class, bool *so);
void judge_weigh(const struct measure *before, const struct measure *after,
		 struct balance *balance);
void judge_look(struct judge *judge, const struct conf *conf,
		const struct look *look, struct advice *advice);
void judge_done(struct judge *judge, const struct conf *conf,
		const struct look *look, const struct advice *advice);
void judge_hold(struct judge *judge, uint64_t until);

#endif /* HELPER_DAEMON_JUDGE_H */
