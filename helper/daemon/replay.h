/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is read over and over in the same order, and does not fit into the cache, is brought ahead
 * of its reader in that order.
 */
#ifndef HELPER_DAEMON_REPLAY_H
#define HELPER_DAEMON_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge.h"
#include "daemon/loop.h"
#include "block/dm.h"
#include "trace/recorder.h"

/* Milliseconds from one step to the next, of a device that is not off. */
#define REPLAY_STEP	100U
/* Of the jobs of the daemon. */
#define REPLAY_LABEL	"nearcache-loop"

/**
 * enum replay_state - what is done of a device
 * @REPLAY_OFF: nothing
 * @REPLAY_RECORDS: a pass is recorded
 * @REPLAY_ON: it is brought
 */
enum replay_state {
	REPLAY_OFF = 0,
	REPLAY_RECORDS,
	REPLAY_ON,
};

/**
 * struct replay - what is known of a device; it stays where it is while it is not off
 * @state: see there
 * @looping: looks in a row that said that it loops, and does not fit
 * @other: looks in a row that said that it does not loop
 * @held: until then it is left alone
 * @recorder: sees what is read, unless it is off
 * @loop: a pass
 * @seen: reads that were recorded
 * @ours: bytes of the loop that were read since the last look
 * @others: bytes that were read and are not of it
 * @strange: looks in a row in which these were more
 * @said: when it was known last how the device is read
 * @recorded: bytes of it, as of the last look
 * @before: what was measured while it was recorded
 * @again: and since there was nothing new
 * @after: and while it is brought
 * @since: when that began
 * @tried: it is on trial
 * @looked: when the reader's pace was measured, nanoseconds
 * @place: his place then
 * @pace: his bytes in a second
 * @job: number of the job, 0: none
 * @from: place in the loop with which the last job began
 * @come: that it had come to
 * @follows: everything before that is there, or on its way
 * @next: unless it does, the reader must come to this place before there is another job
 * @retry: before that no job is asked for, nanoseconds: the device was busy
 * @why: it cannot go on, "": it can
 */
struct replay {
	enum replay_state state;
	unsigned int looping;
	unsigned int other;
	uint64_t held;
	struct recorder recorder;
	struct loop loop;
	uint64_t seen;
	uint64_t ours;
	uint64_t others;
	unsigned int strange;
	uint64_t said;
	uint64_t recorded;
	struct measure before;
	struct measure again;
	struct measure after;
	uint64_t since;
	bool tried;
	uint64_t looked;
	uint64_t place;
	uint64_t pace;
	uint32_t job;
	uint64_t from;
	uint64_t come;
	bool follows;
	uint64_t next;
	uint64_t retry;
	char why[JUDGE_WHY];
};

/**
 * struct replay_news - what was done
 * @state: of the action, see action.h; NULL: nothing was changed, and @why tells why
 * @from: bytes of a pass that was brought, 0: none
 * @to: that is, from now on
 * @why: evidence
 */
struct replay_news {
	const char *state;
	uint64_t from;
	uint64_t to;
	char why[JUDGE_WHY];
};

/**
 * struct replay_look - a device, since the last look
 * @conf: what may be done
 * @look: what happened
 * @unit: sub-blocks of the cache, bytes
 * @busy: something else of it is on trial
 * @observe: bring nothing, and tell all the same
 * @told: is told what was done
 * @arg: for @told
 */
struct replay_look {
	const struct conf *conf;
	const struct look *look;
	uint32_t unit;
	bool busy;
	bool observe;
	void (*told)(const struct replay_news *news, void *arg);
	void *arg;
};

int replay_look(struct replay *replay, const struct dm_device *dev,
		const struct replay_look *what);
void replay_step(struct replay *replay, dev_t number);
uint64_t replay_stop(struct replay *replay, dev_t number);
void replay_hold(struct replay *replay, uint64_t until);
int replay_cancel(dev_t number, uint64_t *count);
void replay_free(struct replay *replay);

#endif /* HELPER_DAEMON_REPLAY_H */
