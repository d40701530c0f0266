/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record of a device's pins: the device to which it belongs, and a look-up of pins by path.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_RECORD_OWNER_H
#define HELPER_PINS_RECORD_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#include "block/device.h"
#include "block/dm.h"
#include "pins/pin_list.h"

void owner_of(const struct dm_device *dev, struct owner *owner);
bool owner_known(const struct owner *owner);
bool owner_same(const struct owner *before, const struct owner *now);

int record_open(struct pins *pins, const struct dm_device *dev);
int record_require(const struct pins *pins, const struct dm_device *dev);
bool record_elsewhere(const struct dm_device *dev, char *name, bool *taken);
int record_forget(const char *name, const char *uuid);
void record_adopt(struct pins *pins, const struct dm_device *dev);

/**
 * struct recorded - pins of files, sorted by path
 * @pin: pointers into the caller's pins
 * @count: entries of @pin
 */
struct recorded {
	struct pin **pin;
	size_t count;
};

int recorded_make(struct recorded *recorded, const struct pins *pins);
bool recorded_drop(const struct recorded *recorded, const char *word);
void recorded_free(struct recorded *recorded);

#endif /* HELPER_PINS_RECORD_OWNER_H */
