/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace: the extents that a program read from a device, in the order of their first read, in
 * memory and as a file for the next run.
 *
 * File format: struct trace_header, then two numbers for each extent. The first number says where
 * the extent starts: 2 n if n units after the end of the previous extent (at first: the start of
 * the device), 2 n - 1 if n units before it. The second is the length of the extent in units. A
 * number has 7 bits per byte, lowest first; the highest bit of a byte means that another byte
 * follows.
 *
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_TRACE_TRACE_FORMAT_H
#define HELPER_TRACE_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/range.h"

#define TRACE_MAGIC	"NCTRACE"
#define TRACE_VERSION	1
#define TRACE_ORIGIN	128
#define TRACE_DIGEST	32

/**
 * struct trace_header - the start of a file; little-endian
 * @magic: TRACE_MAGIC with its NUL
 * @version: TRACE_VERSION
 * @unit: bytes per unit, in which extents are measured
 * @device_bytes: size of the device
 * @time: time of the recording, seconds since the epoch
 * @extents: number of extents
 * @units: sum of the lengths of all extents, in units
 * @lost: reads that the recorder missed because they came too fast
 * @payload: bytes behind the header
 * @origin: identity of the volume, see nearcache(7); padded with zeros, may be empty
 * @digest: SHA-256 of the file with zeros in this field
 */
struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t unit;
	uint64_t device_bytes;
	uint64_t time;
	uint64_t extents;
	uint64_t units;
	uint64_t lost;
	uint64_t payload;
	char origin[TRACE_ORIGIN];
	unsigned char digest[TRACE_DIGEST];
};

/**
 * struct trace - a trace in memory
 * @unit: granularity in bytes, a power of two, at least 512
 * @device_bytes: size of the device, a multiple of 512
 * @time: time of the recording, seconds since the epoch
 * @lost: reads that the recorder missed
 * @origin: identity of the volume, may be empty
 * @extent: in the order of the first read, disjoint; the end of the device may cut the last unit
 * @count: entries in @extent
 * @room: allocated entries
 * @bytes: sum of the lengths of all extents
 */
struct trace {
	uint32_t unit;
	uint64_t device_bytes;
	uint64_t time;
	uint64_t lost;
	char origin[TRACE_ORIGIN];
	struct range *extent;
	size_t count;
	size_t room;
	uint64_t bytes;
};

uint64_t trace_units(const struct trace *trace);
int trace_add(struct trace *trace, uint64_t first, uint64_t end);
unsigned char *trace_encode(const struct trace *trace, size_t *bytes);
int trace_decode(struct trace *trace, unsigned char *data, size_t bytes, const char *path);
int trace_read(struct trace *trace, const char *path);
int trace_write(const struct trace *trace, const char *path);
void trace_free(struct trace *trace);

#endif /* HELPER_TRACE_TRACE_FORMAT_H */
