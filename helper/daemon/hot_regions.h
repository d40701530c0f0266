/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose the regions (aligned pieces of 16 MiB) of a device to pin: those whose cached data saves
 * the most reads of the origin.  These functions only compute; they do no I/O.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_HOT_REGIONS_H
#define HELPER_DAEMON_HOT_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct hot_seen - counter of a region
 * @region: number of the region: (its start on the device) / (size of a region)
 * @saved: bytes of hits since the heat program began to count this region
 */
struct hot_seen {
	uint32_t region;
	uint64_t saved;
};

/**
 * struct hot_region - a known region
 * @region: number of the region
 * @saved: @saved of struct hot_seen in the last sample
 * @heat: bytes saved recently; each sample halves the weight of the earlier samples
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
 * @region: regions of the last sample, and pinned regions; ascending by number
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
 * @region: number of the region
 * @pin: pin the region; otherwise unpin it
 * @heat: heat of the region, see struct hot_region
 * @mean: mean of all regions with a heat above 0
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
