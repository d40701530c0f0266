// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sparse store for the content of the cache device and the witness, in units of 4096 bytes; units
 * never written read as zeros. It models a volatile write cache, which a power cut empties.
 */
#include "fuzz.h"

#include "image.h"
#include "meta/recover.h"
#include "store.h"

#define STORE_UNITS	1024U

/* @bytes: current content; @durable: content after a power cut; @dirty: they may differ */
static struct unit {
	const struct block_device *bdev;
	u64 offset;
	bool used, dirty;
	unsigned char bytes[FUZZ_UNIT], durable[FUZZ_UNIT];
} store[STORE_UNITS];

static u32 used[STORE_UNITS], used_count;

/* Find the unit at @offset.  If it was never written, create it if @write, else return NULL. */
static struct unit *unit(const struct block_device *bdev, u64 offset, bool write)
{
	u32 i = (offset / FUZZ_UNIT + (bdev == &fuzz_witness)) * 2654435761U % STORE_UNITS;

	if (offset % FUZZ_UNIT)
		fuzz_bug("I/O at %llu", offset);
	while (store[i].used && (store[i].offset != offset || store[i].bdev != bdev))
		i = (i + 1) % STORE_UNITS;
	if (store[i].used)
		return &store[i];
	if (!write)
		return NULL;
	if (used_count == STORE_UNITS / 2)
		fuzz_bug("more units written than the metadata has");
	memset(&store[i], 0, sizeof(store[i]));
	store[i].used = true;
	store[i].bdev = bdev;
	store[i].offset = offset;
	used[used_count++] = i;
	return &store[i];
}

/* Read the unit at @offset into @to; @durable: the content after a power cut. */
void store_read(const struct block_device *bdev, u64 offset, bool durable, void *to)
{
	const struct unit *u = unit(bdev, offset, false);

	if (u)
		memcpy(to, durable ? u->durable : u->bytes, FUZZ_UNIT);
	else
		memset(to, 0, FUZZ_UNIT);
}

/* Write the unit at @offset.  @durable: with FUA; otherwise store_flush() makes it durable. */
void store_write(const struct block_device *bdev, u64 offset, bool durable, const void *from)
{
	struct unit *u = unit(bdev, offset, true);

	memcpy(u->bytes, from, FUZZ_UNIT);
	u->dirty = !durable;
	if (durable)
		memcpy(u->durable, from, FUZZ_UNIT);
}

/* Make all writes to @bdev durable. */
void store_flush(const struct block_device *bdev)
{
	struct unit *u;
	u32 i;

	for (i = 0; i < used_count; i++) {
		u = &store[used[i]];
		if (u->bdev == bdev && u->dirty)
			store_write(bdev, u->offset, true, u->bytes);
	}
}

/* Power cut: lose all writes that are not durable; if @random is not NULL, about half of these. */
void store_cut(u64 *random)
{
	struct unit *u;
	u32 i;

	for (i = 0; i < used_count; i++) {
		u = &store[used[i]];
		if (u->dirty && (!random || image_random(random) % 2))
			store_write(u->bdev, u->offset, true, u->durable);
	}
	store_flush(&fuzz_cache);
	store_flush(&fuzz_witness);
}

static void put(const struct block_device *bdev, u64 offset, const void *bytes)
{
	if (offset + FUZZ_UNIT <= bdev->bytes)
		store_write(bdev, offset, true, bytes);
}

static void put_intent(const struct image *im, const struct nearcache_super *sb, u64 offset)
{
	struct nearcache_intent page[IMAGE_INTENT];
	u32 i, n;

	put(&fuzz_cache, offset, im->intent);
	for (i = IMAGE_INTENT; i < NC_RECOVER_INTENT; i += IMAGE_INTENT) {
		for (n = 0; n < IMAGE_INTENT; n++)
			image_rest_sector(im, sb, i + n, &page[n]);
		put(&fuzz_cache, offset + i * NEARCACHE_INTENT_SIZE, page);
	}
}

/* Store only the image.  If no superblock is valid, store only its superblocks and witness. */
void image_place(const struct image *im)
{
	const struct nearcache_super *sb;
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];
	u64 index;
	u32 i;

	while (used_count)
		store[used[--used_count]].used = false;
	for (i = 0; i < IMAGE_WITNESS; i++)
		put(&fuzz_witness, im->witness_at[i] % NEARCACHE_WITNESS_RECORDS * FUZZ_UNIT,
		    &im->known[i]);
	put(&fuzz_cache, NEARCACHE_SUPER_OFFSET_0, &im->copy[0]);
	put(&fuzz_cache, NEARCACHE_SUPER_OFFSET_1, &im->copy[1]);
	sb = nc_super_choose(&im->copy[0], &im->copy[1], fuzz_cache.bytes, &geo, why);
	if (!sb)
		return;
	for (i = 0; i < IMAGE_RECORDS; i++)
		put(&fuzz_cache,
		    geo.commit_offset + im->record_at[i] % NC_RECOVER_RING * FUZZ_UNIT,
		    &im->record[i]);
	for (i = 0; i < IMAGE_PAGES; i++) {
		index = im->page_at[i] % geo.table_pages;
		put(&fuzz_cache, geo.table_offset + index * FUZZ_UNIT, &im->page[0][i]);
		put(&fuzz_cache, geo.table_offset + (geo.table_pages + index) * FUZZ_UNIT,
		    &im->page[1][i]);
	}
	put_intent(im, sb, geo.intent_offset);
}
