/* SPDX-License-Identifier: GPL-2.0-only */
/* Shards are brought as a whole when they are touched first. */
#ifndef HELPER_DAEMON_FIRST_TOUCH_H
#define HELPER_DAEMON_FIRST_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/opening.h"
#include "block/dm.h"

/**
 * struct first_touch - what is to be done, and who is told
 * @time: seconds, of a clock that does not go back
 * @room: bytes that all open shards may have; 0: none is brought
 * @observe: bring nothing, and tell all the same
 * @told: is told of each shard: its label, bytes, and the number of the job; 0: there is none
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

#endif /* HELPER_DAEMON_FIRST_TOUCH_H */
