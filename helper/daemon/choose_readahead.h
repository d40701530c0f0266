/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose the readahead of a device by the class of its reads, and judge by the cost of reads
 * whether a change helped.  These functions only compute; they do no I/O.
 */
#ifndef HELPER_DAEMON_CHOOSE_READAHEAD_H
#define HELPER_DAEMON_CHOOSE_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/conf.h"
#include "nearcache_classify.h"

/* Bytes of a text with the reason for a judgement, NUL included. */
#define JUDGE_WHY	200

/**
 * struct measure - cost of reads
 * @read: bytes read through the device
 * @origin: bytes read from the origin, prefetch included
 * @stall: sum of the latencies of all reads, nanoseconds
 */
struct measure {
	uint64_t read;
	uint64_t origin;
	uint64_t stall;
};

/**
 * struct look - reads of a device since the last sample
 * @time: seconds, of a monotonic clock
 * @read_ahead: present readahead, bytes
 * @bytes: bytes by class, see struct seen
 * @measure: cost of these reads
 */
struct look {
	uint64_t time;
	uint64_t read_ahead;
	uint64_t bytes[NEARCACHE_CLASSES];
	struct measure measure;
};

/**
 * enum habit - how a device is read
 * @HABIT_UNKNOWN: not known yet, or mixed
 * @HABIT_SEQUENTIAL: by sequential streams
 * @HABIT_PIECES: in pieces, each about once per pass over the data
 * @HABIT_RANDOM: in pieces, some of them several times per pass over the data
 */
enum habit {
	HABIT_UNKNOWN = 0,
	HABIT_SEQUENTIAL,
	HABIT_PIECES,
	HABIT_RANDOM,
};

/**
 * struct judge - state of one device
 * @habit: result of the last sample with enough reads
 * @wish: readahead that suits the habit, bytes; 0: unknown
 * @wished: number of samples in a row with the same @wish
 * @changed: time of the last change, seconds; 0: never
 * @held: no change before this time, seconds
 * @recent: cost of the recent samples with this @wish; older samples have less weight
 * @tried: the last change is on trial
 * @from: readahead before the last change, bytes
 * @before: @recent before the last change
 * @after: cost since the last change
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
 * enum judgement - advice to the caller of judge_look()
 * @JUDGE_NOTHING: nothing
 * @JUDGE_SET: set the readahead to @to of struct advice
 * @JUDGE_TAKE_BACK: set the readahead to @to of struct advice, because the last change did harm
 * @JUDGE_KEEP: report that the last change did no harm
 */
enum judgement {
	JUDGE_NOTHING = 0,
	JUDGE_SET,
	JUDGE_TAKE_BACK,
	JUDGE_KEEP,
};

/**
 * struct advice - a judgement and its reason
 * @what: the judgement
 * @from: present readahead, bytes
 * @to: new readahead for JUDGE_SET and JUDGE_TAKE_BACK, bytes
 * @why: the reason, as text for the user
 */
struct advice {
	enum judgement what;
	uint64_t from;
	uint64_t to;
	char why[JUDGE_WHY];
};

/**
 * struct balance - cost per byte read after a change, compared with the cost before the change
 * @origin_more: more bytes came from the origin, by more than noise
 * @origin_less: fewer bytes came from the origin, by more than noise
 * @stall_more: reads took longer, by more than noise
 * @stall_less: reads took less time, by more than noise
 * @why: the compared numbers, as text for the user
 */
struct balance {
	bool origin_more;
	bool origin_less;
	bool stall_more;
	bool stall_less;
	char why[JUDGE_WHY];
};

bool judge_may_loop(const struct look *look, bool *so);
void judge_weigh(const struct measure *before, const struct measure *after,
		 struct balance *balance);
void judge_look(struct judge *judge, const struct conf *conf,
		const struct look *look, struct advice *advice);
void judge_done(struct judge *judge, const struct conf *conf,
		const struct look *look, const struct advice *advice);
void judge_hold(struct judge *judge, uint64_t until);

#endif /* HELPER_DAEMON_CHOOSE_READAHEAD_H */
