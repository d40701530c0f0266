/* SPDX-License-Identifier: GPL-2.0-only */
/* State of nearcached: a struct for each device, and one for the daemon. */
#ifndef HELPER_DAEMON_WATCHED_H
#define HELPER_DAEMON_WATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "block/dm.h"
#include "daemon/action_log.h"
#include "daemon/bpf_observer.h"
#include "daemon/choose_readahead.h"
#include "daemon/conf.h"
#include "daemon/hot_regions.h"
#include "daemon/keep_clusters.h"
#include "daemon/loop_prefetch.h"
#include "daemon/metrics_endpoint.h"
#include "daemon/shards_in_use.h"

/*
 * State of a device.  Times are in seconds, as by daemon_seconds().
 *
 * @name: dm name
 * @present: the device was sampled, so that @read and @origin are valid
 * @read: counter of bytes read through the device, at the last sample
 * @origin: counter of bytes read from the origin, prefetch included, at the last sample
 * @kept_shut: time before which no shard is prefetched
 * @hot_looks: samples since the regions to pin were last chosen
 * @hot_held: time before which no region is pinned or unpinned
 * @replay: allocated separately because it must not move
 * @replayed: number of the action that started the replay
 * @would: with --observe, readahead that the last action would have set; 0: none
 * @change: number of the last action on the readahead; 0: none
 */
struct watched {
	char name[128];
	dev_t number;
	bool present;
	uint64_t read;
	uint64_t origin;
	struct judge judge;
	struct opening opening;
	uint64_t kept_shut;
	struct hot hot;
	unsigned int hot_looks;
	uint64_t hot_held;
	struct replay *replay;
	uint64_t replayed;
	uint64_t would;
	uint64_t change;
};

/*
 * @observe: change nothing; only record the actions (--observe)
 * @prefix: start each log line with its priority, because stderr is the journal
 * @endpoint: serves metrics; NULL: none
 * @keeper: connects absent nodes of cluster devices
 * @watched: @count devices
 * @told: number of calls of tell_verdict() in this sample
 * @last: number of the last action that was read from ACTIONS_FILE
 * @size: size of ACTIONS_FILE when it was last read, bytes
 */
struct daemon {
	struct conf conf;
	bool observe;
	bool prefix;
	struct observer observer;
	struct endpoint *endpoint;
	struct keeper keeper;
	struct watched *watched;
	size_t count;
	unsigned int told;
	uint64_t last;
	off_t size;
};

/* daemon_log.c */
void daemon_say(const struct daemon *daemon, const char *level, const char *text);
void daemon_say_failure(const struct daemon *daemon);
void daemon_record(struct daemon *daemon, struct action *action);
bool daemon_act(struct daemon *daemon, struct action *action, const char *state);

/* watched.c */
uint64_t daemon_seconds(void);
struct watched *watched_find(const struct daemon *daemon, const char *name);
struct watched *watched_need(struct daemon *daemon, const char *name);
void watched_forget_gone(struct daemon *daemon, const struct dm_device *list, size_t count);
void watched_look(struct daemon *daemon, struct watched *watched, const struct dm_device *dev);
void watched_end_replay(struct daemon *daemon, struct watched *watched, const char *state,
			const char *why);

#endif /* HELPER_DAEMON_WATCHED_H */
