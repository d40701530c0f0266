// SPDX-License-Identifier: GPL-2.0-only
/* trace/: a trace lists each unit once, in order of its first read; damaged files are refused. */
#include <endian.h>
#include <openssl/sha.h>
#include <stdlib.h>

#include "lib/error.h"
#include "trace/touched_units.h"
#include "trace/trace_format.h"
#include "unit.h"

#define UNIT	4096U

static int put(uint64_t first, uint64_t end, void *arg)
{
	return trace_add(arg, first, end);
}

/* An empty trace, of a device with a partial last unit. */
static const struct trace fresh = {
	.unit = UNIT,
	.device_bytes = 100000 * (uint64_t)UNIT + 512,
	.time = 1234567890,
	.lost = 3,
	.origin = "wwid:eui.0025388b01c0ffee",
};

static void assert_same(const struct trace *a, const struct trace *b)
{
	size_t i;

	assert_int_equal(a->unit, b->unit);
	assert_int_equal(a->device_bytes, b->device_bytes);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->lost, b->lost);
	assert_string_equal(a->origin, b->origin);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->count, b->count);
	for (i = 0; i < a->count; i++) {
		assert_int_equal(a->extent[i].start, b->extent[i].start);
		assert_int_equal(a->extent[i].length, b->extent[i].length);
	}
}

/* touched_add() records only units that were not read before. */
static void first_touch(void **state)
{
	struct trace trace = fresh;
	struct touched touched;

	(void)state;
	assert_int_equal(touched_init(&touched, trace_units(&trace)), 0);
	assert_int_equal(touched_add(&touched, 50, 60, put, &trace), 0);
	assert_int_equal(touched_add(&touched, 60, 64, put, &trace), 0);
	assert_int_equal(touched_add(&touched, 10, 12, put, &trace), 0);
	assert_int_equal(touched_add(&touched, 50, 64, put, &trace), 0);
	assert_int_equal(touched_add(&touched, 8, 70, put, &trace), 0);
	/* Reads across a page of the bitmap (32768 units), and beyond the end of the device. */
	assert_int_equal(touched_add(&touched, 32760, 32780, put, &trace), 0);
	assert_int_equal(touched_add(&touched, 99999, UINT64_MAX, put, &trace), 0);
	assert_int_equal(trace.count, 7);
	assert_int_equal(trace.extent[0].start, 50 * UNIT);
	assert_int_equal(trace.extent[0].length, 14 * UNIT);
	assert_int_equal(trace.extent[1].start, 10 * UNIT);
	assert_int_equal(trace.extent[2].start, 8 * UNIT);
	assert_int_equal(trace.extent[2].length, 2 * UNIT);
	assert_int_equal(trace.extent[3].start, 12 * UNIT);
	assert_int_equal(trace.extent[3].length, 38 * UNIT);
	assert_int_equal(trace.extent[4].start, 64 * UNIT);
	assert_int_equal(trace.extent[5].length, 20 * UNIT);
	assert_int_equal(trace.extent[6].start, 99999 * (uint64_t)UNIT);
	assert_int_equal(trace.extent[6].length, UNIT + 512);
	assert_int_equal(trace.bytes, 82 * UNIT + UNIT + 512);
	touched_free(&touched);
	trace_free(&trace);
}

static void fill(struct trace *trace, unsigned int extents)
{
	unsigned int i;
	uint64_t first;

	*trace = fresh;
	srandom(extents);
	for (i = 0; i < extents; i++) {
		first = (uint64_t)random() % 99990;
		assert_int_equal(trace_add(trace, first, first + 1 + (uint64_t)random() % 10), 0);
	}
	/* Add the partial last unit, then unit 0: the longest step needs the most bytes. */
	assert_int_equal(trace_add(trace, 100000, 100001), 0);
	assert_int_equal(trace_add(trace, 0, 1), 0);
}

static void comes_back(void **state)
{
	static const unsigned int counts[] = { 0, 1, 2, 5000 };
	struct trace trace, again;
	unsigned char *data;
	size_t bytes, i;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		fill(&trace, counts[i]);
		data = trace_encode(&trace, &bytes);
		assert_non_null(data);
		/* At most five bytes per extent. */
		assert_true(bytes <= sizeof(struct trace_header) + 5 * trace.count);
		memset(&again, 0, sizeof(again));
		assert_int_equal(trace_decode(&again, data, bytes, "file"), 0);
		assert_same(&trace, &again);
		free(data);
		trace_free(&trace);
		trace_free(&again);
	}
}

static void assert_refused(const unsigned char *data, size_t bytes, const char *why)
{
	unsigned char *copy = malloc(bytes + 1);
	struct trace trace = { 0 };

	memcpy(copy, data, bytes);
	assert_int_equal(trace_decode(&trace, copy, bytes, "file"), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), why));
	fail_reset();
	trace_free(&trace);
	free(copy);
}

/* A file with any changed byte is refused, and so is one with any part cut off. */
static void damaged(void **state)
{
	struct trace trace;
	unsigned char *data;
	size_t bytes, i;

	(void)state;
	fill(&trace, 20);
	data = trace_encode(&trace, &bytes);
	for (i = 0; i < bytes; i++) {
		data[i] ^= 0x10;
		assert_refused(data, bytes, "'file' is ");
		data[i] ^= 0x10;
		assert_refused(data, i, i < sizeof(struct trace_header) ? "not a trace" : "checksum");
	}
	data[8] = 2;
	assert_refused(data, bytes, "version 2: this program reads version 1");
	free(data);
	trace_free(&trace);
}

/* Wrong bytes but a valid digest: the file is refused, or all extents in it are on the device. */
static void hostile(void **state)
{
	struct trace trace, again;
	unsigned char *data, *copy;
	unsigned int i, taken = 0;
	size_t bytes, k;

	(void)state;
	fill(&trace, 20);
	data = trace_encode(&trace, &bytes);
	copy = malloc(bytes);
	for (i = 0; i < 20000; i++) {
		struct trace_header *header = (struct trace_header *)copy;
		size_t at = (size_t)random() % bytes;

		memcpy(copy, data, bytes);
		copy[at] = (unsigned char)random();
		if (i & 1)
			copy[(size_t)random() % bytes] = 0xff;
		memset(header->digest, 0, sizeof(header->digest));
		SHA256(copy, bytes, header->digest);
		memset(&again, 0, sizeof(again));
		if (!trace_decode(&again, copy, bytes, "file")) {
			taken++;
			for (k = 0; k < again.count; k++) {
				assert_true(again.extent[k].length);
				assert_true(again.extent[k].start < again.device_bytes);
				assert_true(again.extent[k].length <=
					    again.device_bytes - again.extent[k].start);
			}
		}
		fail_reset();
		trace_free(&again);
	}
	/* Some of the files are accepted, since some bytes of a trace may have any value. */
	assert_in_range(taken, 100, 19000);
	free(copy);
	free(data);
	trace_free(&trace);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_touch),
		cmocka_unit_test(comes_back),
		cmocka_unit_test(damaged),
		cmocka_unit_test(hostile),
	};

	return RUN(tests);
}
