/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a job read of a device, in the order in which it was first read: in memory, and as a file
 * for the next run.
 *
 * The file: struct trace_header, then for each extent two numbers: how many units lie between the
 * end of the one before (at first: the start of the device) and its start, as 2 n, or as 2 n - 1 if
 * it lies n units before that; and its length in units.  Numbers are of 7 bits a byte, the lowest
 * first, the highest bit of a byte says that another one follows.
 */
#ifndef HELPER_TRACE_TRACE_H
#define HELPER_TRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/range.h"

#define TRACE_MAGIC	"NCTRACE"
#define TRACE_VERSION	1
#define TRACE_ORIGIN	128
#define TRACE_DIGEST	32

/**
 * struct trace_header - the start of a file; little-endian
 * @magic: TRACE_MAGIC, with its zero
 * @version: TRACE_VERSION
 * @unit: bytes of a unit
 * @device_bytes: size of the device
 * @time: when it was recorded, seconds of the epoch
 * @extents: how many
 * @units: of all extents
 * @lost: reads that were not seen, as they came too fast
 * @payload: bytes behind the header
 * @origin: identity of the volume (see nearcache(7)), with zeros behind; may be empty
 * @digest: SHA-256 of all the file, with zeros here
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
 * struct trace - what was read
 * @unit: bytes that it is rounded to, a power of two, 512 at least
 * @device_bytes: size of the device, a multiple of 512
 * @time: when, seconds of the epoch
 * @lost: reads that were not seen
 * @origin: identity of the volume, may be empty
 * @extent: what was read, in this order, each part once; the last one may be cut by the end of
 *	the device
 * @count: how many
 * @room: that fit
 * @bytes: of them
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

#endif /* HELPER_TRACE_TRACE_H */
