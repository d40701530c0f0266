/* SPDX-License-Identifier: GPL-2.0-only */
/* Regions that are hot are pinned. */
#ifndef HELPER_DAEMON_HOT_PINS_H
#define HELPER_DAEMON_HOT_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/hot.h"
#include "block/dm.h"

/* Of the ranges of the daemon. */
#define HOT_LABEL	"nearcache-hot"

/**
 * struct hot_pins - what is to be done, and who is told
 * @quota: bytes that may be pinned
 * @observe: pin nothing, and tell all the same
 * @told: is told of each: where it begins (bytes), and why
 * @arg: for @told
 */
struct hot_pins {
	uint64_t quota;
	bool observe;
	void (*told)(uint64_t start, const struct hot_advice *advice, void *arg);
	void *arg;
};

int hot_pins_look(struct hot *hot, const struct dm_device *dev, const struct hot_pins *what);
int hot_pins_pin(const struct dm_device *dev, uint64_t start);
int hot_pins_unpin(const struct dm_device *dev, uint64_t start);

#endif /* HELPER_DAEMON_HOT_PINS_H */
