// SPDX-License-Identifier: GPL-2.0-only
/* Generates metadata (struct image) as "nearcache create" and the kernel write it. */
#include "../../helper/ondisk/layout.h"
#include "image.h"
#include "meta/recover.h"

u64 image_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Set the checksums of all structures of the image to their content. */
void image_seal(struct image *im)
{
	u32 i;

	for (i = 0; i < 2; i++)
		nc_super_seal(&im->copy[i]);
	for (i = 0; i < IMAGE_RECORDS; i++)
		nc_record_seal(&im->record[i]);
	for (i = 0; i < 2 * IMAGE_PAGES; i++)
		nc_page_seal(&im->page[i / IMAGE_PAGES][i % IMAGE_PAGES]);
	for (i = 0; i < IMAGE_INTENT; i++)
		nc_intent_sector_seal(&im->intent[i]);
	for (i = 0; i < IMAGE_WITNESS; i++)
		nc_witness_seal(&im->known[i]);
}

/**
 * image_create() - make an image as "nearcache create" writes it
 * @im: image
 * @random: state of the generator; selects the uuid and whether the cache has checksums
 * @cache_bytes: size of the cache device
 * @origin_bytes: size of the origin
 * @block: block size in bytes; 0: default
 */
void image_create(struct image *im, u64 *random, u64 cache_bytes, u64 origin_bytes, u32 block)
{
	struct nearcache_super *sb = &im->copy[0];
	char why[NC_WHY_SIZE];
	bool sums = image_random(random) % 2;
	struct layout layout;
	u32 i;

	memset(im, 0, sizeof(*im));
	im->cache_bytes = cache_bytes;
	im->origin_bytes = origin_bytes;
	im->sectors = origin_bytes / 512;
	im->witness_bytes = 1 << 20;
	layout_compute(&layout, cache_bytes, block, sums, origin_bytes, 512, 512, why);
	layout_to_super(&layout, sb);
	memcpy(sb->magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb->version = cpu_to_le32(NEARCACHE_VERSION);
	sb->sequence = cpu_to_le64(1);
	memset(sb->uuid, (int)image_random(random), sizeof(sb->uuid));
	strcpy((char *)sb->label, "fuzz");
	sb->stripe_count = cpu_to_le16(1);
	sb->table_epoch = cpu_to_le64(1);
	sb->origin_fingerprint_type = cpu_to_le32(NEARCACHE_FP_ENDS);
	memset(sb->origin_fingerprint, 0x5a, sizeof(sb->origin_fingerprint));
	im->copy[1] = *sb;
	for (i = 0; i < IMAGE_PAGES; i++) {
		/* The image has the first, the second and the last page of the slot table. */
		im->page_at[i] = i < IMAGE_PAGES - 1 ? i : layout.table_pages - 1;
		im->page_at[i] %= layout.table_pages ? layout.table_pages : 1;
		nc_page_init(&im->page[0][i], sb->uuid, im->page_at[i], 0, 1);
		im->page[1][i] = im->page[0][i];
	}
	nc_witness_init(&im->known[0], sb->uuid);
	image_seal(im);
}

static void fill_slot(struct image *im, u32 page, u32 i, u64 *random)
{
	const struct nearcache_super *sb = &im->copy[0];
	u64 blocks = le64_to_cpu(sb->origin_size) / le32_to_cpu(sb->block_size);
	struct nearcache_slot *slot = &im->page[1][page].slot[i];

	slot->origin_block = cpu_to_le64(image_random(random) % (blocks + 1));
	slot->valid = cpu_to_le64(1ULL << image_random(random) % 16 |
				  1ULL << image_random(random) % 16);
	slot->generation = cpu_to_le32(image_random(random) % 8);
}

/**
 * image_fill() - fill slots, as after some commits
 * @im: image from image_create()
 * @random: state of the generator
 *
 * Copy 1 of each page becomes the newer one. In half of the cases the last commit record names the
 * pages: the commit is then still in progress.
 */
void image_fill(struct image *im, u64 *random)
{
	u64 last = 1 + image_random(random) % 100;
	u32 i, j;

	for (i = 0; i < 2; i++) {
		im->copy[i].state = cpu_to_le32(image_random(random) % 4 ? NEARCACHE_STATE_LIVE :
						NEARCACHE_STATE_CLEAN);
		im->copy[i].sequence = cpu_to_le64(5);
		im->copy[i].commit_sequence = cpu_to_le64(last - 1);
	}
	for (i = 0; i < IMAGE_RECORDS; i++) {
		nc_record_init(&im->record[i], im->copy[0].uuid, last + i);
		im->record_at[i] = (last + i) % NC_RECOVER_RING;
	}
	if (image_random(random) % 2) {
		im->record[IMAGE_RECORDS - 1].count = cpu_to_le32(IMAGE_PAGES);
		for (i = 0; i < IMAGE_PAGES; i++)
			im->record[IMAGE_RECORDS - 1].page[i] =
				cpu_to_le64(im->page_at[i] | NEARCACHE_COMMIT_COPY_1);
	}
	for (i = 0; i < IMAGE_PAGES; i++) {
		im->page[1][i].sequence = cpu_to_le64(last);
		for (j = 0; j < NEARCACHE_SLOTS_PER_PAGE; j++)
			if (image_random(random) % 4)
				fill_slot(im, i, j, random);
	}
	image_seal(im);
}

/* Draw a session number: mostly @session, seldom the one before or after it. */
static u64 near_session(u64 session, u64 *random)
{
	u64 r = image_random(random) % 8;

	return r == 1 ? session - 1 : r == 2 ? session + 1 : session;
}

static void mark_some(struct nearcache_intent *sector, u64 *random)
{
	u32 n = image_random(random) % 2 ? image_random(random) % 8 : 0;
	u64 bit;

	while (n--) {
		/* Prefer low regions: most origins are small and have no others. */
		bit = image_random(random) % NEARCACHE_INTENT_BITS >> image_random(random) % 11;
		sector->bits[bit / 8] |= 1U << bit % 8;
	}
}

/* Change superblocks, write intent and witness as a crash in a write session leaves them; seal. */
void image_write(struct image *im, u64 *random)
{
	u64 session = 1 + image_random(random) % 4, r = image_random(random);
	u32 i;

	for (i = 0; i < 2; i++) {
		im->copy[i].state = cpu_to_le32(NEARCACHE_STATE_WRITING);
		im->copy[i].session = cpu_to_le64(session);
	}
	for (i = 0; i < IMAGE_INTENT; i++) {
		nc_intent_sector_init(&im->intent[i], im->copy[0].uuid,
				      near_session(session, random), i);
		mark_some(&im->intent[i], random);
	}
	im->intent[0].flags = cpu_to_le32(r % 8 ? 0 : NEARCACHE_INTENT_ENDS);
	im->rest = r / 8 % 4 ? IMAGE_REST_NONE : r / 32 % IMAGE_REST_COUNT;
	for (i = 0; i < IMAGE_WITNESS; i++) {
		nc_witness_init(&im->known[i], im->copy[0].uuid);
		im->known[i].session = cpu_to_le64(near_session(session, random));
		im->known[i].previous = cpu_to_le64(image_random(random) % 2 ? session : 0);
		im->known[i].state = cpu_to_le32(image_random(random) % 4 ?
						 NEARCACHE_WITNESS_STAYED :
						 image_random(random) % 5);
		im->witness_at[i] = image_random(random);
	}
	/* In three of four images one of the witness records is of another cache. */
	if (r / 256 % 4)
		im->known[r / 1024 % IMAGE_WITNESS].uuid[15] ^= 1;
	im->witness = r / 4096 % 8 ? 1 : 0;
	image_seal(im);
}

/**
 * image_rest_sector() - make a bitmap sector that is not in the image (from IMAGE_INTENT on)
 * @im: image
 * @sb: valid superblock
 * @index: number of the sector
 * @sector: output
 */
void image_rest_sector(const struct image *im, const struct nearcache_super *sb, u32 index,
		struct nearcache_intent *sector)
{
	u64 session = le64_to_cpu(sb->session);

	switch (im->rest % IMAGE_REST_COUNT) {
	case IMAGE_REST_ZERO:
		memset(sector, 0, sizeof(*sector));
		return;
	case IMAGE_REST_OLDER:
		session--;
		break;
	case IMAGE_REST_NEXT:
		session++;
		break;
	default:
		break;
	}
	nc_intent_sector_init(sector, sb->uuid, session, index);
	nc_intent_sector_seal(sector);
}
