/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetch a shard (the ranges with one label) as a whole when it is read for the first time. */
#ifndef HELPER_DAEMON_FIRST_TOUCH_PREFETCH_H
#define HELPER_DAEMON_FIRST_TOUCH_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/shards_in_use.h"
#include "block/dm.h"

/**
 * struct first_touch - parameters of first_touch_look()
 * @time: seconds, of a monotonic clock
 * @room: maximum total size of the open shards (see shards_in_use.h), bytes; 0: prefetch none
 * @observe: prefetch nothing, but call @told
 * @told: called for each shard to prefetch; gets its label, its bytes and its job (0 if @observe)
 * @arg: for @told
 */
struct first_touch {
	uint64_t time;
	uint64_t room;
	bool observe;
	void (*told)(const char *label, uint64_t bytes, uint32_t job, void *arg);
	void *arg;
};

int first_touch_look(struct opening *opening, const struct dm_device *dev,
		     const struct first_touch *what);

#endif /* HELPER_DAEMON_FIRST_TOUCH_PREFETCH_H */
