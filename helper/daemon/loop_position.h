/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record reads until a second pass has begun, find out whether it has the order of the first one,
 * then follow the position of the reader.  A looping reader reads the same data again and again in
 * the same order; one round is a pass.  Several readers that share the data in one order, as the
 * workers of a loader do, count as one reader.  These functions only compute; they do no I/O.
 *
 * A place is the number of bytes that the reader has read since the beginning of the recorded
 * pass.  The place keeps growing in later passes; modulo the pass's length it is the position.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_LOOP_POSITION_H
#define HELPER_DAEMON_LOOP_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/range.h"
#include "trace/touched_units.h"
#include "trace/trace_format.h"

/**
 * struct loop - a pass of looping reads
 * @trace: the extents of the pass in the order of their first read, each once
 * @touched: units of the device that were read; used while recording
 * @again: score of bytes read again; each byte read for the first time subtracts NEW, down to 0
 * @second: reads without new units, in their order, since @again was last 0; at most EXTENTS_MOST
 *	extents
 * @order: numbers of the extents, sorted by their start on the device
 * @place: place of each extent in the first pass
 * @reader: place of the reader, if @known
 * @candidate: place, in the first pass, of the last read inside the loop, if @seen
 * @astray: number of reads inside the loop since the last one near @reader
 * @known: @reader is valid
 * @seen: @candidate is valid
 */
struct loop {
	struct trace trace;
	struct touched touched;
	uint64_t again;
	struct trace second;
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
bool loop_repeats(const struct loop *loop);
bool loop_follow(struct loop *loop, uint64_t sector, uint32_t sectors);
struct range *loop_unroll(const struct loop *loop, uint64_t from, uint64_t bytes, size_t most,
			  size_t *count);
void loop_free(struct loop *loop);

#endif /* HELPER_DAEMON_LOOP_POSITION_H */
