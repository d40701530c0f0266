// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses a MosaicML data shard. Layout: the number of samples (4 bytes), the start of each sample
 * and the end of the last one (4 bytes each), a JSON description of the columns, the samples.
 */
#include "lib/le.h"
#include "lib/error.h"
#include "shard/reader.h"

#define WORD		4U

static uint64_t table_bytes(uint32_t samples)
{
	return WORD * (2 + (uint64_t)samples);
}

static bool read_word(struct index_scan *scan, uint64_t offset, uint32_t *word)
{
	const unsigned char *at = scan_look(scan, offset, WORD);

	*word = at ? get_le32(at) : 0;
	return at;
}

/* Tests the first and last offset of the table, and the first character of the description. */
bool index_mds_is(struct index_scan *scan)
{
	uint32_t samples, first, last;
	const unsigned char *text;
	uint64_t table;

	if (!scan_has(scan, 0, 2 * WORD) || !read_word(scan, 0, &samples))
		return false;
	table = table_bytes(samples);
	if (!scan_has(scan, table, 1) || !read_word(scan, WORD, &first) ||
	    first <= table || !read_word(scan, table - WORD, &last) ||
	    last != scan->size)
		return false;
	text = scan_look(scan, table, 1);
	return text && *text == '{';
}

static int check_table(struct index_scan *scan, uint32_t samples)
{
	uint32_t first, last;
	uint64_t table = table_bytes(samples);

	if (!scan_has(scan, 0, table))
		return scan_damage(scan, 0,
				   "a table of %u samples does not fit into the %llu bytes of the file",
				   samples, (unsigned long long)scan->size);
	if (!read_word(scan, WORD, &first) ||
	    !read_word(scan, table - WORD, &last))
		return fail_code();
	if (first < table)
		return scan_damage(scan, WORD,
				   "the first of %u samples begins at byte %u, inside the table that ends at %llu",
				   samples, first, (unsigned long long)table);
	if (last != scan->size)
		return scan_damage(scan, table - WORD,
				   "the last sample ends at byte %u, but the file ends at %llu: was it cut off?",
				   last, (unsigned long long)scan->size);
	scan_add_range(scan, 0, first);
	return 0;
}

int index_mds(struct index_scan *scan)
{
	uint32_t samples, start, end, i;

	if (!read_word(scan, 0, &samples) || check_table(scan, samples) ||
	    !read_word(scan, WORD, &start))
		return fail_code();
	for (i = 0; i < samples; i++) {
		uint64_t place = WORD * (2 + (uint64_t)i);

		if (!read_word(scan, place, &end))
			return fail_code();
		if (end < start || end > scan->size)
			return scan_damage(scan, place,
					   "sample %u begins at byte %u and ends at %u of %llu",
					   i, start, end,
					   (unsigned long long)scan->size);
		if (scan_add_sample(scan, INDEX_NO_NAME, start, end - start))
			return fail_code();
		start = end;
	}
	return 0;
}
