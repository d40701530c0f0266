// SPDX-License-Identifier: GPL-2.0-only
/*
 * TFRecord: for each record its length (8 bytes), a masked CRC-32C of that (4), the
 * data, and a masked CRC-32C of the data (4).  Nothing tells how many there are.
 */
#include <isa-l/crc.h>

#include "lib/le.h"
#include "lib/error.h"
#include "shard/reader.h"

#define HEADER		12U
#define TRAILER		4U

static uint32_t extend(uint32_t crc, const void *data, size_t bytes)
{
	/* isa-l leaves both inversions to us; its prototype lacks a const. */
	return ~crc32_iscsi((unsigned char *)data, (int)bytes, ~crc);
}

/* A CRC of data that holds CRCs is not what it seems; so they are stored masked. */
static uint32_t mask(uint32_t crc)
{
	return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

static bool length_is_sound(const unsigned char *header)
{
	return mask(extend(0, header, 8)) == get_le32(header + 8);
}

static int check_data(struct index_scan *scan, uint64_t offset, uint64_t length)
{
	const unsigned char *data;
	uint64_t at = offset, end = offset + length;
	uint32_t crc = 0;

	while (at < end) {
		size_t part = end - at < SCAN_LOOK_MAX ? end - at : SCAN_LOOK_MAX;

		data = scan_look(scan, at, part);
		if (!data)
			return fail_code();
		crc = extend(crc, data, part);
		at += part;
	}
	data = scan_look(scan, end, TRAILER);
	if (!data)
		return fail_code();
	if (mask(crc) == get_le32(data))
		return 0;
	return scan_damage(scan, offset,
			   "the checksum of the %llu bytes here is wrong",
			   (unsigned long long)length);
}

/* Return: 0 or the exit code; @offset moves behind the record. */
static int add_record(struct index_scan *scan, uint64_t *offset)
{
	const unsigned char *header = scan_look(scan, *offset, HEADER);
	uint64_t start = *offset, length;

	if (!header)
		return fail_code();
	if (!length_is_sound(header))
		return scan_damage(scan, start,
				   "the checksum of a record's length is wrong");
	length = get_le64(header);
	if (length > scan->size - start - HEADER ||
	    scan->size - start - HEADER - length < TRAILER)
		return scan_damage(scan, start,
				   "a record of %llu bytes reaches beyond the end of the file at %llu: was it cut off?",
				   (unsigned long long)length,
				   (unsigned long long)scan->size);
	if (scan->check && check_data(scan, start + HEADER, length))
		return fail_code();
	length += HEADER + TRAILER;
	*offset += length;
	return scan_add_sample(scan, INDEX_NO_NAME, start, length);
}

/**
 * index_tfrecord_is() - whether a file looks like TFRecord
 * @scan: the file
 *
 * Return: whether the checksum of its first length is right.
 */
bool index_tfrecord_is(struct index_scan *scan)
{
	const unsigned char *header;

	if (!scan_has(scan, 0, HEADER))
		return false;
	header = scan_look(scan, 0, HEADER);
	return header && length_is_sound(header);
}

/**
 * index_tfrecord() - the records of a TFRecord file
 * @scan: the file
 *
 * Return: 0 or the exit code.
 */
int index_tfrecord(struct index_scan *scan)
{
	uint64_t offset = 0;

	while (offset < scan->size)
		if (add_record(scan, &offset))
			return fail_code();
	return 0;
}
