/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of units of a device: those touched so far. Functions that return int return 0, or an
 * exit code after recording an error with fail().
 */
#ifndef HELPER_TRACE_TOUCHED_UNITS_H
#define HELPER_TRACE_TOUCHED_UNITS_H

#include <stdint.h>

/**
 * struct touched - a sparse bitmap
 * @units: of the device
 * @part: pages of 32,768 bits each; NULL: no bit set
 * @parts: allocated pages, of 4 KiB
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
