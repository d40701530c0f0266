// SPDX-License-Identifier: GPL-2.0-only
#include "trace/trace_format.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/sha256.h"

#define SECTOR		512U
/* Maximum bytes of an encoded 64-bit number, and of an encoded extent. */
#define NUMBER_ROOM	10U
#define EXTENT_ROOM	(2 * NUMBER_ROOM)
#define UNIT_MAX	(1U << 30)

_Static_assert(sizeof(struct trace_header) == 224, "file format");
_Static_assert(TRACE_DIGEST == SHA256_DIGEST_SIZE, "SHA-256");

/* Return the number of units of the device; the last unit may be shorter. */
uint64_t trace_units(const struct trace *trace)
{
	return trace->device_bytes / trace->unit + !!(trace->device_bytes % trace->unit);
}

static uint64_t smaller_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Append the units from @first up to @end (exclusive, at most trace_units()) as an extent, or
 * extend the last extent if the units follow it directly.
 */
int trace_add(struct trace *trace, uint64_t first, uint64_t end)
{
	uint64_t start = first * trace->unit;
	uint64_t stop = smaller_of(end * trace->unit, trace->device_bytes);
	struct range *last = trace->count ? &trace->extent[trace->count - 1] : NULL;
	size_t room = trace->room ? 2 * trace->room : 1024;

	trace->bytes += stop - start;
	if (last && last->start + last->length == start) {
		last->length += stop - start;
		return 0;
	}
	if (trace->count == trace->room) {
		last = reallocarray(trace->extent, room, sizeof(*last));
		if (!last)
			return fail_memory();
		trace->extent = last;
		trace->room = room;
	}
	trace->extent[trace->count++] = (struct range) { start, stop - start };
	return 0;
}

static unsigned char *put_number(unsigned char *at, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*at++ = 0x80 | (number & 0x7f);
	*at++ = (unsigned char)number;
	return at;
}

static unsigned char *put_extents(const struct trace *trace, unsigned char *at)
{
	uint64_t before = 0, first, units;
	size_t i;

	for (i = 0; i < trace->count; i++) {
		first = trace->extent[i].start / trace->unit;
		units = (trace->extent[i].length + trace->unit - 1) / trace->unit;
		at = put_number(at, first >= before ? 2 * (first - before) :
						      2 * (before - first) - 1);
		at = put_number(at, units);
		before = first + units;
	}
	return at;
}

static uint64_t count_units(const struct trace *trace)
{
	uint64_t units = 0;
	size_t i;

	for (i = 0; i < trace->count; i++)
		units += (trace->extent[i].length + trace->unit - 1) / trace->unit;
	return units;
}

/* Return the contents of a trace file, which the caller frees; NULL after recording an error. */
unsigned char *trace_encode(const struct trace *trace, size_t *bytes)
{
	struct trace_header *header;
	unsigned char *data, *end;

	data = calloc(1, sizeof(*header) + trace->count * EXTENT_ROOM);
	if (!data) {
		fail_memory();
		return NULL;
	}
	end = put_extents(trace, data + sizeof(*header));
	*bytes = (size_t)(end - data);
	header = (struct trace_header *)data;
	memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
	header->version = htole32(TRACE_VERSION);
	header->unit = htole32(trace->unit);
	header->device_bytes = htole64(trace->device_bytes);
	header->time = htole64(trace->time);
	header->extents = htole64(trace->count);
	header->units = htole64(count_units(trace));
	header->lost = htole64(trace->lost);
	header->payload = htole64(*bytes - sizeof(*header));
	memcpy(header->origin, trace->origin, strnlen(trace->origin, TRACE_ORIGIN - 1));
	sha256_of(data, *bytes, header->digest);
	return data;
}

/* Decode a number and move *@at behind it. Returns false if it is truncated or above 64 bits. */
static bool take_number(const unsigned char **at, const unsigned char *end, uint64_t *number)
{
	unsigned int shift;

	*number = 0;
	for (shift = 0; *at < end && shift < 64; shift += 7) {
		unsigned char byte = *(*at)++;

		/* The tenth byte has room for one bit: bit 63. */
		if (shift == 63 && byte > 1)
			return false;
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Decode all extents. Returns false if they contradict the header, or after recording an error. */
static bool take_extents(struct trace *trace, const unsigned char *at, const unsigned char *end,
			 uint64_t extents, uint64_t units)
{
	uint64_t before = 0, all = trace_units(trace), gap, length, first;

	for (; extents; extents--) {
		if (!take_number(&at, end, &gap) || !take_number(&at, end, &length))
			return false;
		first = gap & 1 ? before - (gap / 2 + 1) : before + gap / 2;
		/* Test @gap, not @first: a start outside the device may have wrapped around. */
		if ((gap & 1 ? gap / 2 >= before : gap / 2 > all - before) || !length ||
		    length > all - first || length > units)
			return false;
		units -= length;
		before = first + length;
		if (trace_add(trace, first, before))
			return false;
	}
	return at == end && !units;
}

/* Check the digest, which was computed with zeros in the digest field: write zeros there first. */
static bool is_whole(unsigned char *data, size_t bytes, const struct trace_header *header)
{
	unsigned char digest[TRACE_DIGEST];

	memset(data + offsetof(struct trace_header, digest), 0, TRACE_DIGEST);
	sha256_of(data, bytes, digest);
	return !memcmp(digest, header->digest, sizeof(digest));
}

static bool take_header(struct trace *trace, const struct trace_header *header, size_t bytes)
{
	trace->unit = le32toh(header->unit);
	trace->device_bytes = le64toh(header->device_bytes);
	trace->time = le64toh(header->time);
	trace->lost = le64toh(header->lost);
	memcpy(trace->origin, header->origin, TRACE_ORIGIN);
	trace->origin[TRACE_ORIGIN - 1] = '\0';
	return trace->unit >= SECTOR && trace->unit <= UNIT_MAX &&
	       !(trace->unit & (trace->unit - 1)) && trace->device_bytes &&
	       !(trace->device_bytes % SECTOR) && trace->device_bytes <= INT64_MAX &&
	       le64toh(header->payload) == bytes - sizeof(*header);
}

/*
 * Decode the contents of a trace file, which are overwritten. The caller zeroes @trace before, and
 * calls trace_free() even after a failure. @path: name for messages.
 */
int trace_decode(struct trace *trace, unsigned char *data, size_t bytes, const char *path)
{
	struct trace_header header;

	if (bytes < sizeof(header) || memcmp(data, TRACE_MAGIC, sizeof(header.magic)))
		return fail(CODE_DEVICE,
			    "'%s' is not a trace: 'nearcache trace record' makes one", path);
	memcpy(&header, data, sizeof(header));
	if (le32toh(header.version) != TRACE_VERSION)
		return fail(CODE_DEVICE,
			    "'%s' is a trace of version %u: this program reads version %u",
			    path, le32toh(header.version), TRACE_VERSION);
	if (!is_whole(data, bytes, &header))
		return fail(CODE_DEVICE,
			    "'%s' is damaged: its checksum does not match; record it again",
			    path);
	if (!take_header(trace, &header, bytes) ||
	    !take_extents(trace, data + sizeof(header), data + bytes,
			  le64toh(header.extents), le64toh(header.units)))
		return fail_code() ? (int)fail_code() :
				     fail(CODE_DEVICE,
					  "'%s' is an invalid trace: its extents or sizes are inconsistent; record it again",
					  path);
	return 0;
}

void trace_free(struct trace *trace)
{
	free(trace->extent);
	memset(trace, 0, sizeof(*trace));
}
