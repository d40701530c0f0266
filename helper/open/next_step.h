/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints what the user does next with a new cache, as lines of a report. */
#ifndef HELPER_OPEN_NEXT_STEP_H
#define HELPER_OPEN_NEXT_STEP_H

#include <stdbool.h>

#include "block/device.h"

/**
 * struct next_step - a new cache
 * @name: name of the cache
 * @device: name of the device to use: the cache, or the cluster device above it
 * @cluster: path of cluster.conf, NULL: no cluster
 * @origin: the origin of the cache; its content is that of @volume
 * @volume: the origin, or the device below the stage that is the origin
 * @cache: the first cache device
 * @uuid: uuid of the cache
 * @writes: the cache accepts writes
 */
struct next_step {
	const char *name;
	const char *device;
	const char *cluster;
	const struct device *origin;
	const struct device *volume;
	const struct device *cache;
	const char *uuid;
	bool writes;
};

void next_step_memory(const char *name);
void next_step_mount(const struct next_step *next);
void next_step_open(const struct next_step *next);
void next_step_tab(const struct next_step *next);

#endif /* HELPER_OPEN_NEXT_STEP_H */
