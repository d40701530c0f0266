/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is read of a device over and over, in its order, and where in it the reader is.  Nothing is
 * asked or done here.
 *
 * Places in a loop are bytes of what is read in a pass, from its recorded beginning; those of later
 * passes go on behind.
 */
#ifndef HELPER_DAEMON_LOOP_H
#define HELPER_DAEMON_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/range.h"
#include "trace/touched.h"
#include "trace/trace.h"

/**
 * struct loop - what is read in a pass
 * @trace: what was read, each part once, in this order
 * @touched: of the device, while it is recorded
 * @again: bytes read again of late, less what was new among them
 * @order: numbers of extents, by where they are on the device
 * @place: of each extent, in the first pass
 * @reader: place that the reader has come to
 * @candidate: that was read last, in the first pass
 * @astray: reads since one was where the reader was
 * @known: @reader is one
 * @seen: @candidate is one
 */
struct loop {
	struct trace trace;
	struct touched touched;
	uint64_t again;
	uint32_t *order;
	uint64_t *place;
	uint64_t reader;
	uint64_t candidate;
	uint32_t astray;
	bool known;
	bool seen;
};

int loop_begin(struct loop *loop, uint32_t unit, uint64_t device_bytes);
int loop_record(struct loop *loop, uint64_t sector, uint32_t sectors);
bool loop_is_whole(const struct loop *loop);
bool loop_is_too_long(const struct loop *loop);
int loop_close(struct loop *loop);
bool loop_follow(struct loop *loop, uint64_t sector, uint32_t sectors);
uint64_t loop_next(const struct loop *loop, const uint64_t *come, uint64_t head, uint64_t ahead,
		   uint64_t *from);
struct range *loop_unroll(const struct loop *loop, uint64_t from, uint64_t bytes, size_t most,
			  size_t *count);
void loop_free(struct loop *loop);

#endif /* HELPER_DAEMON_LOOP_H */
