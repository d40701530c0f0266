// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/loop.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

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
static bool find(const struct loop *loop, uint64_t start, uint64_t *place)
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

/* How far it is from one place on to another one. */
static uint64_t gap(const struct loop *loop, uint64_t from, uint64_t to)
{
	return to >= from ? to - from : loop->trace.bytes - from + to;
}

/**
 * loop_follow() - something was read
 * @loop: that was closed
 * @sector: first one
 * @sectors: how many
 *
 * The reader is where two reads were that followed each other nearly; one alone may be somebody
 * else's.
 */
void loop_follow(struct loop *loop, uint64_t sector, uint32_t sectors)
{
	uint64_t near = loop->trace.bytes / NEAR + (uint64_t)sectors * SECTOR, place;

	if (!find(loop, sector * SECTOR, &place))
		return;
	if (loop->known && gap(loop, loop->reader, place) <= near) {
		loop->reader = place;
	} else if (!loop->known || gap(loop, place, loop->reader) > near) {
		if (loop->seen && gap(loop, loop->candidate, place) <= near) {
			loop->reader = place;
			loop->known = true;
		}
	}
	loop->candidate = place;
	loop->seen = true;
}

/**
 * loop_lead() - how far a place is ahead of the reader
 * @loop: whose reader is known
 * @place: in any pass
 *
 * Return: bytes; less than 0: the reader is ahead.  What is more than three quarters of a pass
 * ahead is behind: no job gets that far, see replay.c.
 */
int64_t loop_lead(const struct loop *loop, uint64_t place)
{
	uint64_t all = loop->trace.bytes, lead = gap(loop, loop->reader, place % all);

	return lead > all - all / 4 ? (int64_t)lead - (int64_t)all : (int64_t)lead;
}

/**
 * loop_next() - where to begin to bring it ahead of the reader
 * @loop: whose reader is known
 * @come: place before which all is there; NULL: it is not known of any
 * @head: bytes that the reader reads until it is under way
 * @from: the result: place
 *
 * Return: whether to begin now: not when all of a pass is there, or nearly.
 */
bool loop_next(const struct loop *loop, const uint64_t *come, uint64_t head, uint64_t *from)
{
	uint64_t all = loop->trace.bytes;
	int64_t lead = come ? loop_lead(loop, *come) : 0;

	if (head > all / HEAD_MOST)
		head = all / HEAD_MOST;
	*from = come && lead >= (int64_t)head ? *come : loop->reader + head;
	return lead <= (int64_t)(all / 2);
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
 * @from: place, in any pass: of the extent in which it is, the rest comes first
 * @most: extents at most
 * @count: how many there are
 * @bytes: of them
 *
 * Return: extents, to be freed; NULL after recording the error.
 */
struct range *loop_unroll(const struct loop *loop, uint64_t from, size_t most, size_t *count,
			  uint64_t *bytes)
{
	uint64_t place = from % loop->trace.bytes;
	size_t at = extent_at(loop, place);
	uint64_t cut = place - loop->place[at];
	struct range *range = calloc(most, sizeof(*range));

	*bytes = 0;
	if (!range) {
		fail_memory();
		return NULL;
	}
	for (*count = 0; *count < most; ++*count) {
		struct range *this = &range[*count];

		*this = loop->trace.extent[at];
		this->start += cut;
		this->length -= cut;
		*bytes += this->length;
		cut = 0;
		at = (at + 1) % loop->trace.count;
	}
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
