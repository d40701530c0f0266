/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that are on record, to be found by their paths. */
#ifndef HELPER_PINS_RECORDED_H
#define HELPER_PINS_RECORDED_H

#include <stdbool.h>
#include <stddef.h>

#include "pins/pins.h"

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

#endif /* HELPER_PINS_RECORDED_H */
