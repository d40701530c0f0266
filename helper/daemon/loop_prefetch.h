/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replay a loop that does not fit into the cache.  If reads continue to miss, record all reads of
 * the device for a pass.  If the second pass begins in the order of the first (loop_position.h),
 * prefetch the data in this order ahead of the reader.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_LOOP_PREFETCH_H
#define HELPER_DAEMON_LOOP_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/choose_readahead.h"
#include "daemon/loop_position.h"
#include "block/dm.h"
#include "trace/recorder.h"

/* Milliseconds from one replay_step() to the next while a replay is not off. */
#define REPLAY_STEP	100U
/* Label of the prefetch jobs that replay a loop. */
#define REPLAY_LABEL	"nearcache-loop"

/**
 * enum replay_state - state of the replay on a device
 * @REPLAY_OFF: no replay
 * @REPLAY_RECORDS: recording a pass
 * @REPLAY_ON: prefetching the pass
 */
enum replay_state {
	REPLAY_OFF = 0,
	REPLAY_RECORDS,
	REPLAY_ON,
};

/**
 * struct replay - replay of one device.  Must not move unless off, as @recorder points to it
 * @state: see enum replay_state
 * @missing: samples in a row that may loop, and of which at least MISSES % came from the origin
 * @other: samples in a row of which too many bytes are shuffled or random to loop
 * @held: no recording or replay before this time, seconds
 * @recorder: delivers the reads, unless the replay is off
 * @loop: the pass
 * @seen: number of reads from @recorder
 * @ours: bytes read inside the loop since is_strange() last compared
 * @others: bytes read outside the loop since is_strange() last compared
 * @strange: number of comparisons in a row with @others above @ours
 * @said: time of the last sample that had enough reads to judge, seconds
 * @recorded: length of the recording at the last sample, bytes
 * @before: cost of reads since the recorded pass last grew, so of the begin of the second pass
 * @after: cost of reads since the replay is on
 * @since: time when the replay was turned on, seconds
 * @tried: the replay is on trial
 * @looked: time of the last measurement of @pace, nanoseconds
 * @place: place of the reader at the time @looked
 * @pace: bytes per second of the reader
 * @job: number of the job; 0: none
 * @from: place where the last job began
 * @come: place that the last job has reached; 0: unknown, as the job left out data or is gone
 * @behind: time since which the running job has been behind the reader, nanoseconds; 0: it is not
 * @retry: steer_job() does not run before this time, nanoseconds
 * @why: error for which replay_look() will end the replay; "": none
 */
struct replay {
	enum replay_state state;
	unsigned int missing;
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
	struct measure after;
	uint64_t since;
	bool tried;
	uint64_t looked;
	uint64_t place;
	uint64_t pace;
	uint32_t job;
	uint64_t from;
	uint64_t come;
	uint64_t behind;
	uint64_t retry;
	char why[JUDGE_WHY];
};

/**
 * struct replay_news - a change to report
 * @state: state of the action to record, see action_log.h; NULL: record no action, only log @why
 * @from: bytes of the pass that was replayed; 0: none
 * @to: bytes of the pass that is replayed from now on; 0: none
 * @why: the reason, as text for the user
 */
struct replay_news {
	const char *state;
	uint64_t from;
	uint64_t to;
	char why[JUDGE_WHY];
};

/**
 * struct replay_look - parameters of replay_look()
 * @conf: settings of the daemon
 * @look: the sample
 * @unit: sub-block size of the cache, bytes
 * @busy: another change on the device is on trial
 * @observe: prefetch nothing, but call @told
 * @told: called for each change, to report it
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

#endif /* HELPER_DAEMON_LOOP_PREFETCH_H */
