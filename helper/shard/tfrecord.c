// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses TFRecord. Each record has its length (8 bytes), a masked CRC-32C of the length (4), the
 * data, and a masked CRC-32C of the data (4). The file does not store the number of records.
 */
#include <isa-l/crc.h>

#include "lib/le.h"
#include "lib/error.h"
#include "shard/reader.h"

#define HEADER		12U
#define TRAILER		4U

static uint32_t extend_crc(uint32_t crc, const void *data, size_t bytes)
{
	/* crc32_iscsi() leaves both inversions to the caller, and its prototype lacks a const. */
	return ~crc32_iscsi((unsigned char *)data, (int)bytes, ~crc);
}

/* TensorFlow masks CRCs because a CRC over data that contains CRCs is weak. */
static uint32_t mask_crc(uint32_t crc)
{
	return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

static bool length_is_sound(const unsigned char *header)
{
	return mask_crc(extend_crc(0, header, 8)) == get_le32(header + 8);
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
		crc = extend_crc(crc, data, part);
		at += part;
	}
	data = scan_look(scan, end, TRAILER);
	if (!data)
		return fail_code();
	if (mask_crc(crc) == get_le32(data))
		return 0;
	return scan_damage(scan, offset,
			   "the checksum of the %llu data bytes here is wrong",
			   (unsigned long long)length);
}

/* Adds the record at @offset as a sample, and moves @offset behind it. */
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

/* Tests the checksum of the first record's length. */
bool index_tfrecord_is(struct index_scan *scan)
{
	const unsigned char *header;

	if (!scan_has(scan, 0, HEADER))
		return false;
	header = scan_look(scan, 0, HEADER);
	return header && length_is_sound(header);
}

int index_tfrecord(struct index_scan *scan)
{
	uint64_t offset = 0;

	while (offset < scan->size)
		if (add_record(scan, &offset))
			return fail_code();
	return 0;
}
