/* SPDX-License-Identifier: GPL-2.0-only */
/* Record of the pins of a device: whose it is, and the files in it by path. */
#ifndef HELPER_PINS_RECORD_H
#define HELPER_PINS_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "block/device.h"
#include "block/dm.h"
#include "pins/pins.h"

void owner_of(const struct dm_device *dev, struct owner *owner);
bool owner_known(const struct owner *owner);
bool owner_same(const struct owner *before, const struct owner *now);

int record_open(struct pins *pins, const struct dm_device *dev);
int record_require(const struct pins *pins, const struct dm_device *dev);
int record_forget(const char *name, const char *uuid);
void record_adopt(struct pins *pins, const struct dm_device *dev);

/**
 * struct recorded - pins of files
 * @pin: by path; they are the caller's still
 * @count: how many
 */
struct recorded {
	struct pin **pin;
	size_t count;
};

int recorded_make(struct recorded *recorded, const struct pins *pins);
bool recorded_drop(const struct recorded *recorded, const char *word);
void recorded_free(struct recorded *recorded);

#endif /* HELPER_PINS_RECORD_H */
