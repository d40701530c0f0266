/* SPDX-License-Identifier: GPL-2.0-only */
/* Which units of a device were touched so far. */
#ifndef HELPER_TRACE_TOUCHED_H
#define HELPER_TRACE_TOUCHED_H

#include <stdint.h>

/**
 * struct touched - units that were touched
 * @units: of the device
 * @part: bits of 32,768 units each; NULL: none of those yet
 * @parts: how many there are, of 4 KiB
 */
struct touched {
	uint64_t units;
	uint64_t **part;
	uint64_t parts;
};

int touched_init(struct touched *touched, uint64_t units);
int touched_add(struct touched *touched, uint64_t first, uint64_t end,
		int (*visit)(uint64_t first, uint64_t end, void *arg), void *arg);
void touched_free(struct touched *touched);

#endif /* HELPER_TRACE_TOUCHED_H */
