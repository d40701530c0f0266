// SPDX-License-Identifier: GPL-2.0-only
/* Parses NumPy's npz format: a zip file in which each member is an array. */
#include <string.h>

#include "lib/error.h"
#include "lib/le.h"
#include "shard/reader.h"
#include "shard/zip.h"

#define SUFFIX		".npy"
/* NumPy reads these bytes first to recognize an npz file, so they are one of the ranges. */
#define START_BYTES	6U

static bool is_array(const char *name, size_t bytes)
{
	size_t suffix = strlen(SUFFIX);

	return bytes > suffix && !memcmp(name + bytes - suffix, SUFFIX, suffix) &&
	       !memchr(name, '\0', bytes);
}

/*
 * Accepts a zip file whose first member is an array. Other zip files (documents, archives of
 * pictures, models of PyTorch) may lie beside shards. So may a zip file without members: only its
 * name tells whether it is npz.
 */
bool index_npz_is(struct index_scan *scan)
{
	const unsigned char *header;
	size_t bytes;

	if (!scan_starts(scan, "PK\3\4", 4) || !scan_has(scan, 0, ZIP_LOCAL_BYTES))
		return false;
	header = scan_look(scan, 0, ZIP_LOCAL_BYTES);
	bytes = header ? get_le16(header + ZIP_LOCAL_NAME_BYTES) : 0;
	if (!bytes || bytes > SCAN_LOOK_MAX || !scan_has(scan, ZIP_LOCAL_BYTES, bytes))
		return false;
	header = scan_look(scan, ZIP_LOCAL_BYTES, bytes);
	return header && is_array((const char *)header, bytes);
}

/*
 * Adds the member as a sample, with the offset of its local header and the length of its data.
 * place_member() adds the length of the local header later.
 */
static int add_entry(struct index_scan *scan, const struct zip_entry *entry)
{
	const char *text;
	uint64_t name;
	int shown;

	if (entry->name_bytes > SCAN_LOOK_MAX)
		return scan_damage(scan, entry->name,
				   "a name of %u bytes, more than %u",
				   entry->name_bytes, SCAN_LOOK_MAX);
	text = (const char *)scan_look(scan, entry->name, entry->name_bytes);
	if (!text)
		return fail_code();
	shown = entry->name_bytes < 100 ? entry->name_bytes : 100;
	if (!is_array(text, entry->name_bytes))
		return scan_damage(scan, entry->name,
				   "member '%.*s' is not an array (" SUFFIX "): this is a zip file, but not an npz file",
				   shown, text);
	if (entry->encrypted)
		return scan_damage(scan, entry->name,
				   "member '%.*s' is encrypted", shown, text);
	if (scan_add_name(scan, text, entry->name_bytes, &name))
		return fail_code();
	return scan_add_sample(scan, name, entry->local, entry->size);
}

static int read_directory(const struct zip *zip)
{
	uint64_t at = zip->directory, i;
	struct zip_entry entry;

	for (i = 0; i < zip->entries; i++) {
		if (zip_entry(zip, at, &entry) || add_entry(zip->scan, &entry))
			return fail_code();
		at = entry.next;
	}
	if (at == zip->end)
		return 0;
	return scan_damage(zip->scan, at,
			   "the directory continues after the last of its %llu members",
			   (unsigned long long)zip->entries);
}

static int place_member(const struct zip *zip, struct index_sample *sample)
{
	const char *name = index_name(zip->scan->index, sample->name);
	struct index_range *range = &sample->range;
	uint64_t data;

	if (range->offset > zip->directory)
		return scan_damage(zip->scan, range->offset,
				   "the directory places member '%.100s' here, behind its own offset %llu",
				   name, (unsigned long long)zip->directory);
	if (zip_data(zip, range->offset, name, &data))
		return fail_code();
	if (data > zip->directory || range->length > zip->directory - data)
		return scan_damage(zip->scan, range->offset,
				   "member '%.100s' of %llu bytes overlaps the directory at %llu",
				   name, (unsigned long long)range->length,
				   (unsigned long long)zip->directory);
	range->length += data - range->offset;
	return 0;
}

int index_npz(struct index_scan *scan)
{
	struct shard_index *index = scan->index;
	struct zip zip;
	uint64_t i;

	if (zip_open(&zip, scan) || read_directory(&zip))
		return fail_code();
	for (i = 0; i < index->samples; i++)
		if (place_member(&zip, &index->sample[i]))
			return fail_code();
	if (zip.directory >= START_BYTES)
		scan_add_range(scan, 0, START_BYTES);
	scan_add_range(scan, zip.directory, scan->size - zip.directory);
	return 0;
}
