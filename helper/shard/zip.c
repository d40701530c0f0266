// SPDX-License-Identifier: GPL-2.0-only
/* Reads zip records. The offsets of their fields are from section 4.3 of PKWARE's APPNOTE.TXT. */
#include "shard/zip.h"

#include <stdlib.h>
#include <string.h>

#include "lib/le.h"
#include "lib/error.h"

#define LOCAL		"PK\3\4"
#define ENTRY		"PK\1\2"
#define ENTRY_BYTES	46U
#define END		"PK\5\6"
#define END_BYTES	22U
#define END64		"PK\6\6"
#define END64_BYTES	56U
#define LOCATOR		"PK\6\7"
#define LOCATOR_BYTES	20U
#define MAGIC_BYTES	4U
/* Longest comment behind the end record. */
#define COMMENT_MAX	65535U
/* Header of an extra field: number and length, two bytes each. */
#define EXTRA_BYTES	4U
#define EXTRA_ZIP64	1U
/* Bytes of the first three values of a zip64 field; the rest of the field is not read. */
#define ZIP64_BYTES	24U

static bool is_magic(const unsigned char *at, const char *magic)
{
	return !memcmp(at, magic, MAGIC_BYTES);
}

static bool is_end(const unsigned char *at, uint64_t comment)
{
	return is_magic(at, END) && get_le16(at + 20) == comment;
}

/* Searches backward for an end record whose comment ends at the end of the file. */
static int search_end(struct zip *zip)
{
	struct index_scan *scan = zip->scan;
	uint64_t bytes = END_BYTES + COMMENT_MAX, i;
	unsigned char *tail;

	if (bytes > scan->size)
		bytes = scan->size;
	tail = malloc(bytes + 1);
	if (!tail)
		return fail_memory();
	if (!scan_read(scan, scan->size - bytes, tail, bytes)) {
		for (i = END_BYTES; i <= bytes; i++)
			if (is_end(tail + bytes - i, i - END_BYTES))
				break;
		zip->end = scan->size - i;
		if (i > bytes)
			scan_damage(scan, scan->size,
				    "no end record of a zip file before here: was it cut off?");
	}
	free(tail);
	return fail_code();
}

/* Finds the end record. Fast path: most files have no comment, so the record ends the file. */
static int find_end(struct zip *zip)
{
	struct index_scan *scan = zip->scan;
	const unsigned char *at;

	if (!scan_has(scan, 0, END_BYTES))
		return search_end(zip);
	zip->end = scan->size - END_BYTES;
	at = scan_look(scan, zip->end, END_BYTES);
	if (!at)
		return fail_code();
	return is_end(at, 0) ? 0 : search_end(zip);
}

/* Reads the end record. @bytes receives the size of the central directory. */
static int read_end(struct zip *zip, uint64_t *bytes)
{
	const unsigned char *end = scan_look(zip->scan, zip->end, END_BYTES);

	if (!end)
		return fail_code();
	zip->entries = get_le16(end + 10);
	*bytes = get_le32(end + 12);
	zip->directory = get_le32(end + 16);
	if (get_le16(end + 4) != get_le16(end + 6))
		return scan_damage(zip->scan, zip->end,
				   "this is one part of a split zip file");
	return 0;
}

/* Reads the zip64 end record at offset @end, a value from the locator at offset @locator. */
static int read_end64(struct zip *zip, uint64_t locator, uint64_t end,
		      uint64_t *bytes)
{
	const unsigned char *at;

	if (end > locator - END64_BYTES)
		return scan_damage(zip->scan, locator,
				   "the zip64 end record should be at %llu, which is not before its locator",
				   (unsigned long long)end);
	at = scan_look(zip->scan, end, END64_BYTES);
	if (!at)
		return fail_code();
	if (!is_magic(at, END64))
		return scan_damage(zip->scan, end,
				   "there is no zip64 end record here, where the locator points");
	zip->end = end;
	zip->entries = get_le64(at + 32);
	*bytes = get_le64(at + 40);
	zip->directory = get_le64(at + 48);
	return 0;
}

/* If the file has a zip64 end record, replaces the values by those of that record. */
static int find_end64(struct zip *zip, uint64_t *bytes)
{
	uint64_t locator = zip->end - LOCATOR_BYTES;
	const unsigned char *at;

	if (zip->end < LOCATOR_BYTES + END64_BYTES)
		return 0;
	at = scan_look(zip->scan, locator, LOCATOR_BYTES);
	if (!at || !is_magic(at, LOCATOR))
		return fail_code();
	return read_end64(zip, locator, get_le64(at + 8), bytes);
}

int zip_open(struct zip *zip, struct index_scan *scan)
{
	uint64_t bytes = 0;

	zip->scan = scan;
	if (find_end(zip) || read_end(zip, &bytes) || find_end64(zip, &bytes))
		return fail_code();
	if (zip->directory > zip->end || bytes != zip->end - zip->directory)
		return scan_damage(scan, zip->end,
				   "a directory of %llu bytes at %llu does not end here, as it must",
				   (unsigned long long)bytes,
				   (unsigned long long)zip->directory);
	if (zip->entries > bytes / ENTRY_BYTES)
		return scan_damage(scan, zip->end,
				   "%llu members do not fit into a directory of %llu bytes",
				   (unsigned long long)zip->entries,
				   (unsigned long long)bytes);
	return 0;
}

/* Replaces each @value of UINT32_MAX by the next 64-bit value of the zip64 field at @at. */
static int read_zip64(const struct zip *zip, uint64_t at, uint64_t bytes,
		      uint64_t *value[3])
{
	const unsigned char *field;
	unsigned int i;

	if (bytes > ZIP64_BYTES)
		bytes = ZIP64_BYTES;
	field = scan_look(zip->scan, at, bytes);
	if (!field)
		return fail_code();
	for (i = 0; i < 3; i++) {
		if (*value[i] != UINT32_MAX)
			continue;
		if (bytes < 8)
			return scan_damage(zip->scan, at,
					   "a zip64 field is too short");
		*value[i] = get_le64(field);
		field += 8;
		bytes -= 8;
	}
	return 0;
}

/* Finds the entry's zip64 field between @at and @end, and applies it to @value if there is one. */
static int find_zip64(const struct zip *zip, uint64_t at, uint64_t end,
		      uint64_t *value[3])
{
	while (end - at >= EXTRA_BYTES) {
		const unsigned char *head = scan_look(zip->scan, at, EXTRA_BYTES);
		uint16_t bytes;

		if (!head)
			return fail_code();
		bytes = get_le16(head + 2);
		if (bytes > end - at - EXTRA_BYTES)
			return scan_damage(zip->scan, at,
					   "an extra field reaches beyond its entry");
		if (get_le16(head) == EXTRA_ZIP64)
			return read_zip64(zip, at + EXTRA_BYTES, bytes, value);
		at += EXTRA_BYTES + bytes;
	}
	return 0;
}

int zip_entry(const struct zip *zip, uint64_t at, struct zip_entry *entry)
{
	const unsigned char *head = scan_look(zip->scan, at, ENTRY_BYTES);
	uint64_t extra, full_size;

	if (!head)
		return fail_code();
	if (!is_magic(head, ENTRY))
		return scan_damage(zip->scan, at, "not an entry of a zip directory");
	entry->encrypted = head[8] & 1;
	entry->size = get_le32(head + 20);
	full_size = get_le32(head + 24);
	entry->name_bytes = get_le16(head + 28);
	entry->local = get_le32(head + 42);
	entry->name = at + ENTRY_BYTES;
	extra = entry->name + entry->name_bytes;
	entry->next = extra + get_le16(head + 30) + get_le16(head + 32);
	if (entry->next > zip->end)
		return scan_damage(zip->scan, at,
				   "an entry reaches beyond the end of the directory");
	return find_zip64(zip, extra, extra + get_le16(head + 30),
			  (uint64_t *[]){ &full_size, &entry->size,
					  &entry->local });
}

/*
 * Finds the data of the member whose local header is at @local. @data receives the offset of the
 * data. Fails unless the local header has @name, the member's name in the central directory.
 */
int zip_data(const struct zip *zip, uint64_t local, const char *name,
	     uint64_t *data)
{
	const unsigned char *head = scan_look(zip->scan, local, ZIP_LOCAL_BYTES);
	uint16_t name_bytes;

	if (!head)
		return fail_code();
	if (!is_magic(head, LOCAL))
		return scan_damage(zip->scan, local,
				   "there is no member of a zip file here, where the directory points");
	name_bytes = get_le16(head + ZIP_LOCAL_NAME_BYTES);
	*data = local + ZIP_LOCAL_BYTES + name_bytes + get_le16(head + 28);
	if (name_bytes == strlen(name)) {
		head = scan_look(zip->scan, local + ZIP_LOCAL_BYTES, name_bytes);
		if (!head)
			return fail_code();
		if (!memcmp(head, name, name_bytes))
			return 0;
	}
	return scan_damage(zip->scan, local,
			   "the directory calls this member '%.100s', but its own header has another name",
			   name);
}
