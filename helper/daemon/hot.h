/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions of a device that save the most reads of its origin, and are worth to be kept whatever
 * else is read.  Nothing is asked or done here.
 */
#ifndef HELPER_DAEMON_HOT_H
#define HELPER_DAEMON_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct hot_seen - what was read of a region so far
 * @region: its number
 * @saved: bytes that the origin was not asked for
 */
struct hot_seen {
	uint32_t region;
	uint64_t saved;
};

/**
 * struct hot_region - what is known of a region
 * @region: its number
 * @saved: as of the last look
 * @heat: bytes saved of late, older looks count less
 * @pinned: it is
 */
struct hot_region {
	uint32_t region;
	uint64_t saved;
	uint64_t heat;
	bool pinned;
};

/**
 * struct hot - regions of a device
 * @region: ascending
 * @count: how many
 * @pinned: of these
 * @begun: there was a look
 */
struct hot {
	struct hot_region *region;
	size_t count;
	size_t pinned;
	bool begun;
};

/**
 * struct hot_advice - a region that is to be pinned, or not any more
 * @region: its number
 * @pin: it is to be
 * @heat: bytes saved of late
 * @mean: that of all regions which are read
 */
struct hot_advice {
	uint32_t region;
	bool pin;
	uint64_t heat;
	uint64_t mean;
};

int hot_look(struct hot *hot, struct hot_seen *seen, size_t count);
void hot_forget_pins(struct hot *hot);
int hot_take_pin(struct hot *hot, uint32_t region);
void hot_judge(struct hot *hot, uint64_t bytes, size_t quota,
	       bool (*advise)(const struct hot_advice *advice, void *arg), void *arg);
void hot_free(struct hot *hot);

#endif /* HELPER_DAEMON_HOT_H */
