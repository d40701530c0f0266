// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/loop.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define SECTOR		512U
/* As many as the kernel takes of all jobs: 28 MiB of memory. */
#define EXTENTS_MOST	1048576U
/* Parts of struct touched, of a page each: what is read is of 2 TiB, and 64 MiB of memory. */
#define PARTS_MOST	16384U
/* So much of a pass must be read again before it is believed to be whole, and so many bytes. */
#define AGAIN		8U
#define AGAIN_LEAST	(4U << 20)
/* What is new takes so many times its bytes from what was read again: fewer than 1 of 8 are. */
#define NEW		7U
/* Of a pass no more than such a part is left to the reader alone. */
#define HEAD_MOST	8U
/* And no more than such a part is brought ahead of him. */
#define AHEAD_MOST	2U
/* So many reads elsewhere, and none where the reader was, and he has gone there. */
#define ASTRAY		64U
/* Parts of a pass within which reads follow each other, though several go at once. */
#define NEAR		64U

/**
 * loop_begin() - record from now on
 * @loop: the result; loop_free() is for the caller, after errors, too
 * @unit: bytes that reads are rounded to
 * @device_bytes: of the device
 *
 * Return: 0 or the exit code.
 */
int loop_begin(struct loop *loop, uint32_t unit, uint64_t device_bytes)
{
	memset(loop, 0, sizeof(*loop));
	loop->trace.unit = unit;
	loop->trace.device_bytes = device_bytes;
	return touched_init(&loop->touched, trace_units(&loop->trace));
}

static int add_extent(uint64_t first, uint64_t end, void *arg)
{
	return trace_add(arg, first, end);
}

/**
 * loop_record() - something was read
 * @loop: that is recorded
 * @sector: first one
 * @sectors: how many
 *
 * Return: 0 or the exit code.
 */
int loop_record(struct loop *loop, uint64_t sector, uint32_t sectors)
{
	uint64_t start = sector * SECTOR, end = start + (uint64_t)sectors * SECTOR;
	uint32_t unit = loop->trace.unit;
	uint64_t before = loop->trace.bytes, new, old;

	if (touched_add(&loop->touched, start / unit, (end + unit - 1) / unit, add_extent,
			&loop->trace))
		return fail_code();
	new = loop->trace.bytes - before;
	old = end - start > new ? end - start - new : 0;
	loop->again += old;
	loop->again -= loop->again < NEW * new ? loop->again : NEW * new;
	return 0;
}

/**
 * loop_is_whole() - was all of a pass read?
 * @loop: that is recorded
 *
 * It is when a good part was read again, and hardly anything else meanwhile.
 */
bool loop_is_whole(const struct loop *loop)
{
	return loop->again >= AGAIN_LEAST && loop->again >= loop->trace.bytes / AGAIN;
}

/**
 * loop_is_too_long() - does it take more memory than it is worth?
 * @loop: that is recorded
 */
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

/**
 * loop_close() - all of a pass is there
 * @loop: that was recorded
 *
 * Return: 0 or the exit code.
 */
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

/* Return: whether what is at @start of the device is of the loop. */
static bool find_place(const struct loop *loop, uint64_t start, uint64_t *place)
{
	size_t low = 0, high = loop->trace.count, middle;
	const struct range *extent;

	/* The last one that begins there, or before. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (loop->trace.extent[loop->order[middle]].start <= start)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	extent = &loop->trace.extent[loop->order[low - 1]];
	*place = loop->place[loop->order[low - 1]] + (start - extent->start);
	return start - extent->start < extent->length;
}

/* How far it is from one place on to the next time that it is at another one. */
static uint64_t gap_between(const struct loop *loop, uint64_t from, uint64_t to)
{
	uint64_t all = loop->trace.bytes;

	return (to % all + all - from % all) % all;
}

/**
 * loop_follow() - something was read
 * @loop: that was closed
 * @sector: first one
 * @sectors: how many
 *
 * The reader is where two reads were that followed each other nearly; one alone may be somebody
 * else's.  He only goes on: who begins anew is in the next pass.  Of several readers one is followed,
 * until he has not read for a while.
 *
 * Return: whether it is of the loop.
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

/**
 * loop_next() - what to bring next, ahead of the reader
 * @loop: whose reader is known
 * @come: place before which all is there that is read from the reader on; NULL: none is known
 * @head: bytes that the reader reads until it is under way
 * @ahead: bytes that may be brought before they are read
 * @from: the result: place
 *
 * Return: bytes; 0: none now.
 */
uint64_t loop_next(const struct loop *loop, const uint64_t *come, uint64_t head, uint64_t ahead,
		   uint64_t *from)
{
	uint64_t all = loop->trace.bytes, end;

	if (head > all / HEAD_MOST)
		head = all / HEAD_MOST;
	if (ahead > all / AHEAD_MOST)
		ahead = all / AHEAD_MOST;
	if (ahead < 2 * head)
		ahead = 2 * head;
	*from = come && *come >= loop->reader ? *come : loop->reader + head;
	*from -= *from % SECTOR;
	end = loop->reader + ahead;
	return *from + ahead / 2 <= end ? end - *from : 0;
}

/* Return: number of the extent in which that place is. */
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
 * loop_unroll() - what is read from some place on, pass after pass
 * @loop: that was closed
 * @from: place: of the extent in which it is, the rest comes first
 * @bytes: so many at least
 * @most: extents at most
 * @count: how many there are
 *
 * Return: extents, to be freed; NULL after recording the error.
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
	free(loop->order);
	free(loop->place);
	memset(loop, 0, sizeof(*loop));
}
