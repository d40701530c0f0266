// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/loop_position.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define SECTOR		512U
/* Maximum extents of a recording, the kernel's limit for all jobs.  They take 44 MiB of memory. */
#define EXTENTS_MOST	1048576U
/* Maximum pages of struct touched: 64 MiB of memory, enough for 2 TiB in units of 4 KiB. */
#define PARTS_MOST	16384U
/* A pass is complete when 1/8 of it, and at least 4 MiB, was read again. */
#define AGAIN		8U
#define AGAIN_LEAST	(4U << 20)
/* A new byte cancels 7 bytes read again: @again grows while less than 1/8 of the bytes is new. */
#define NEW		7U
/* After this number of reads in the loop, none of them near the reader, the reader has jumped. */
#define ASTRAY		64U
/* Reads up to 1/64 of a pass apart count as consecutive, because several can be in flight. */
#define NEAR		64U
/*
 * loop_repeats(): the order repeats if SAME of OF bytes lie in two adjacent ones of PARTS equal
 * classes of the distance from the first to the second read.  By chance, 2 of PARTS bytes do.
 */
#define PARTS		16U
#define SAME		3U
#define OF		4U

/*
 * Start recording.  Reads are rounded to @unit bytes.  The caller calls loop_free(), even after
 * an error.
 */
int loop_begin(struct loop *loop, uint32_t unit, uint64_t device_bytes)
{
	memset(loop, 0, sizeof(*loop));
	loop->trace.unit = unit;
	loop->trace.device_bytes = device_bytes;
	loop->second = loop->trace;
	return touched_init(&loop->touched, trace_units(&loop->trace));
}

static int add_extent(uint64_t first, uint64_t end, void *arg)
{
	return trace_add(arg, first, end);
}

/* Record a read of a recording loop.  @sector, @sectors: in units of 512 bytes. */
int loop_record(struct loop *loop, uint64_t sector, uint32_t sectors)
{
	uint64_t start = sector * SECTOR, end = start + (uint64_t)sectors * SECTOR;
	uint32_t unit = loop->trace.unit;
	uint64_t first = start / unit, stop = (end + unit - 1) / unit;
	uint64_t before = loop->trace.bytes, new, old;

	if (touched_add(&loop->touched, first, stop, add_extent, &loop->trace))
		return fail_code();
	new = loop->trace.bytes - before;
	old = end - start > new ? end - start - new : 0;
	loop->again += old;
	loop->again -= loop->again < NEW * new ? loop->again : NEW * new;
	if (!loop->again) {
		loop->second.count = 0;
		loop->second.bytes = 0;
	} else if (!new && loop->second.count < EXTENTS_MOST) {
		return trace_add(&loop->second, first, stop);
	}
	return 0;
}

/*
 * Whether the recording has a complete pass: 1/AGAIN of the recorded bytes was read again, and
 * hardly anything new was read meanwhile.
 */
bool loop_is_whole(const struct loop *loop)
{
	return loop->again >= AGAIN_LEAST && loop->again >= loop->trace.bytes / AGAIN;
}

/* Whether the recording takes too much memory. */
bool loop_is_too_long(const struct loop *loop)
{
	return loop->trace.count > EXTENTS_MOST || loop->touched.parts > PARTS_MOST;
}

static int by_start(const void *a, const void *b, void *extents)
{
	const struct range *extent = extents;
	uint64_t one = extent[*(const uint32_t *)a].start;
	uint64_t other = extent[*(const uint32_t *)b].start;

	return (one > other) - (one < other);
}

/* End the recording of a complete pass, and prepare the loop for loop_follow(). */
int loop_close(struct loop *loop)
{
	size_t i, count = loop->trace.count;
	uint64_t place = 0;

	touched_free(&loop->touched);
	loop->order = calloc(count, sizeof(*loop->order));
	loop->place = calloc(count, sizeof(*loop->place));
	if (!loop->order || !loop->place)
		return fail_memory();
	for (i = 0; i < count; i++) {
		loop->order[i] = (uint32_t)i;
		loop->place[i] = place;
		place += loop->trace.extent[i].length;
	}
	qsort_r(loop->order, count, sizeof(*loop->order), by_start, loop->trace.extent);
	return 0;
}

/*
 * Find byte @start of the device in the loop.  @place: its place in the first pass.  Returns the bytes
 * from there to the end of the extent, which were read next; 0: the byte is not in the loop.
 */
static uint64_t find_place(const struct loop *loop, uint64_t start, uint64_t *place)
{
	size_t low = 0, high = loop->trace.count, middle;
	const struct range *extent;
	uint64_t offset;

	/* Find the last extent that begins at or before @start. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (loop->trace.extent[loop->order[middle]].start <= start)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	extent = &loop->trace.extent[loop->order[low - 1]];
	offset = start - extent->start;
	*place = loop->place[loop->order[low - 1]] + offset;
	return offset < extent->length ? extent->length - offset : 0;
}

/*
 * Whether the second pass has the order of the first.  @loop is closed.  In the same order, the
 * distance from the first to the second read of a byte is the same for all bytes: a pass.  Here
 * most bytes suffice: concurrent reads and hits in the page cache change the distance a little.
 */
bool loop_repeats(const struct loop *loop)
{
	uint64_t part[PARTS] = { 0 }, all = loop->trace.bytes, sum = 0, most = 0, place;
	uint64_t start, left, bytes;
	size_t i;

	for (i = 0; i < loop->second.count; i++) {
		start = loop->second.extent[i].start;
		/* All units of @second were read before, so each has a place. */
		for (left = loop->second.extent[i].length; left; left -= bytes, start += bytes) {
			bytes = find_place(loop, start, &place);
			if (!bytes)
				break;
			bytes = bytes < left ? bytes : left;
			part[(place + all - sum % all) % all * PARTS / all] += bytes;
			sum += bytes;
		}
	}
	for (i = 0; i < PARTS; i++)
		if (part[i] + part[(i + 1) % PARTS] > most)
			most = part[i] + part[(i + 1) % PARTS];
	return most * OF >= sum * SAME;
}

/* Bytes from place @from forward to the next visit of place @to. */
static uint64_t gap_between(const struct loop *loop, uint64_t from, uint64_t to)
{
	uint64_t all = loop->trace.bytes;

	return (to % all + all - from % all) % all;
}

/*
 * Follow the reader of a closed loop by its next read.
 *
 * Two nearly consecutive reads show where the reader is; a single read may come from another
 * process.  The place of the reader only grows: a reader that starts from the beginning is in the
 * next pass.  If several processes read the loop, @reader follows one until that one pauses.
 *
 * Returns whether the read is in the loop.
 */
bool loop_follow(struct loop *loop, uint64_t sector, uint32_t sectors)
{
	uint64_t near = loop->trace.bytes / NEAR + (uint64_t)sectors * SECTOR, place;
	bool follows;

	if (!find_place(loop, sector * SECTOR, &place))
		return false;
	follows = loop->seen && gap_between(loop, loop->candidate, place) <= near;
	loop->candidate = place;
	loop->seen = true;
	if (!loop->known) {
		loop->reader = place;
		loop->known = follows;
	} else if (gap_between(loop, place, loop->reader) <= near) {
		loop->astray = 0;
	} else if (gap_between(loop, loop->reader, place) <= near ||
		   (++loop->astray >= ASTRAY && follows)) {
		loop->reader += gap_between(loop, loop->reader, place);
		loop->astray = 0;
	}
	return true;
}

/* Returns the number of the extent that contains @place of the first pass. */
static size_t extent_at(const struct loop *loop, uint64_t place)
{
	size_t low = 0, high = loop->trace.count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (loop->place[middle] <= place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/**
 * loop_unroll() - list the extents that are read from a place on, over several passes
 * @loop: a closed loop
 * @from: place where the list starts; the first extent is cut off before this place
 * @bytes: minimum total length of the extents, unless this takes more than @most extents
 * @most: maximum number of extents
 * @count: result: number of extents
 *
 * Return: extents, which the caller frees; NULL after recording an error.
 */
struct range *loop_unroll(const struct loop *loop, uint64_t from, uint64_t bytes, size_t most,
			  size_t *count)
{
	uint64_t place = from % loop->trace.bytes;
	size_t i, at = extent_at(loop, place);
	uint64_t cut = place - loop->place[at], sum = 0;
	struct range *range;

	for (*count = 0; *count < most && sum < bytes + cut; ++*count)
		sum += loop->trace.extent[(at + *count) % loop->trace.count].length;
	range = calloc(*count, sizeof(*range));
	if (!range) {
		fail_memory();
		return NULL;
	}
	for (i = 0; i < *count; i++)
		range[i] = loop->trace.extent[(at + i) % loop->trace.count];
	range[0].start += cut;
	range[0].length -= cut;
	return range;
}

void loop_free(struct loop *loop)
{
	touched_free(&loop->touched);
	trace_free(&loop->trace);
	trace_free(&loop->second);
	free(loop->order);
	free(loop->place);
	memset(loop, 0, sizeof(*loop));
}
