/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pin the regions that hot_regions.c chooses, as ranges with the label HOT_LABEL.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_HOT_PINS_H
#define HELPER_DAEMON_HOT_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/hot_regions.h"
#include "block/dm.h"
#include "pins/kernel_ranges.h"

/**
 * struct hot_pins - parameters of hot_pins_look()
 * @quota: maximum number of bytes to pin
 * @observe: pin and unpin nothing, but call @told
 * @told: called for each region to pin or unpin; gets its start (bytes) and the reason
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
