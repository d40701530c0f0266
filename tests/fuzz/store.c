// SPDX-License-Identifier: GPL-2.0-only
/* The cache device that images lie on: only units of 4096 bytes that hold something are kept. */
#include "fuzz.h"

#include "image.h"
#include "recover.h"

#define STORE_UNITS	1024U

static struct {
	u64 offset;
	bool used;
	unsigned char bytes[FUZZ_UNIT];
} store[STORE_UNITS];

static u32 used[STORE_UNITS], used_count;

/* The unit at @offset; of one that does not exist: NULL, or a new one to write to. */
static unsigned char *unit(u64 offset, bool write)
{
	u32 i = offset / FUZZ_UNIT * 2654435761U % STORE_UNITS;

	if (offset % FUZZ_UNIT)
		fuzz_bug("I/O at %llu", offset);
	while (store[i].used && store[i].offset != offset)
		i = (i + 1) % STORE_UNITS;
	if (store[i].used)
		return store[i].bytes;
	if (!write)
		return NULL;
	if (used_count == STORE_UNITS / 2)
		fuzz_bug("more is written than there are metadata");
	store[i].used = true;
	store[i].offset = offset;
	used[used_count++] = i;
	return store[i].bytes;
}

static void put(u64 offset, const void *bytes)
{
	if (offset + FUZZ_UNIT <= fuzz_cache.bytes)
		memcpy(unit(offset, true), bytes, FUZZ_UNIT);
}

/**
 * image_place() - put an image onto the cache device
 * @im: image
 *
 * Records and pages where the superblock that counts has them.
 */
void image_place(const struct image *im)
{
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];
	u64 index;
	u32 i;

	while (used_count)
		store[used[--used_count]].used = false;
	fuzz_cache.unit = unit;
	put(NEARCACHE_SUPER_OFFSET_0, &im->copy[0]);
	put(NEARCACHE_SUPER_OFFSET_1, &im->copy[1]);
	if (!nc_super_choose(&im->copy[0], &im->copy[1], fuzz_cache.bytes, &geo, why))
		return;
	for (i = 0; i < IMAGE_RECORDS; i++)
		put(geo.commit_offset + im->record_at[i] % NC_RECOVER_RING * FUZZ_UNIT,
		    &im->record[i]);
	for (i = 0; i < IMAGE_PAGES; i++) {
		index = im->page_at[i] % geo.table_pages;
		put(geo.table_offset + index * FUZZ_UNIT, &im->page[0][i]);
		put(geo.table_offset + (geo.table_pages + index) * FUZZ_UNIT, &im->page[1][i]);
	}
}
