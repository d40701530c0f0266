/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the regions of a device whose cached data saves most reads of the origin: they are worth
 * pinning.  These functions only compute; they do no I/O.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_HOT_REGIONS_H
#define HELPER_DAEMON_HOT_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct hot_seen - reads of a region so far
 * @region: its number
 * @saved: bytes that were hits
 */
struct hot_seen {
	uint32_t region;
	uint64_t saved;
};

/**
 * struct hot_region - a known region
 * @region: its number
 * @saved: value of struct hot_seen in the last sample
 * @heat: bytes saved recently; the weight of a sample halves with each later one
 * @pinned: the daemon pinned it
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
 * @count: number of regions
 * @pinned: number of pinned regions
 * @begun: at least one sample was taken
 */
struct hot {
	struct hot_region *region;
	size_t count;
	size_t pinned;
	bool begun;
};

/**
 * struct hot_advice - a region to pin or to unpin
 * @region: its number
 * @pin: pin it; otherwise unpin it
 * @heat: see struct hot_region
 * @mean: mean heat of all regions that are read
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

#endif /* HELPER_DAEMON_HOT_REGIONS_H */
