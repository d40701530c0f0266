/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The set of units of a device that were read so far, to recognise the first read of a unit.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_TRACE_TOUCHED_UNITS_H
#define HELPER_TRACE_TOUCHED_UNITS_H

#include <stdint.h>

/**
 * struct touched - a sparse bitmap
 * @units: number of units of the device, one bit each
 * @part: pages of 4 KiB, with 32,768 bits each; NULL: no bit is set
 * @parts: number of pages that are allocated
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

#endif /* HELPER_TRACE_TOUCHED_UNITS_H */
