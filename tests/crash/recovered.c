// SPDX-License-Identifier: GPL-2.0-only
/* Load an image of a cache device as the kernel module does, and judge the data in it. */
#include <openssl/sha.h>
#include <stdlib.h>

#include "../selftests/nearcache/sector.h"
#include "meta/recover.h"
#include "recovered.h"

struct slot {
	u64 block, valid;
	u32 generation;
};

struct image {
	const unsigned char *bytes;
	struct nc_geometry geo;
	const struct nearcache_super *sb;
	const struct nearcache_intent *intent; /* of an unfinished write session, or NULL */
	struct slot *slot;
	/* Number of devices, size of each device in bytes, and offset of the slots on each. */
	unsigned int devices;
	size_t device_bytes;
	u64 data_offset[NEARCACHE_MEMBERS_MAX];
};

#define FINGERPRINT_END	65536ULL

/* Add a slot; if two slots hold the same block, the slot with the higher generation counts. */
static void add(struct image *im, u64 n, const struct nearcache_slot *disk)
{
	struct slot new = {
		.block = le64_to_cpu(disk->origin_block),
		.valid = le64_to_cpu(disk->valid),
		.generation = le32_to_cpu(disk->generation),
	};
	u64 i;

	for (i = 0; i < im->geo.slot_count; i++) {
		if (!im->slot[i].valid || im->slot[i].block != new.block)
			continue;
		if (im->slot[i].generation >= new.generation)
			return;
		im->slot[i].valid = 0;
	}
	im->slot[n] = new;
}

static void load_page(struct image *im, u64 index, const struct nearcache_commit *last,
		      struct recovered *out)
{
	const struct nearcache_page *p =
		(const void *)(im->bytes + im->geo.table_offset);
	const struct nearcache_page *copy[2] = { p + index, p + im->geo.table_pages + index };
	u64 newest = 0;
	int which = nc_recover_page(copy[0], copy[1], im->sb->uuid, index,
				    im->geo.table_epoch, last, &newest);
	u64 first = index * NEARCACHE_SLOTS_PER_PAGE, i;

	if (which == NC_RECOVER_NONE) {
		out->damaged++;
		return;
	}
	out->older += !nc_page_check(copy[!which], im->sb->uuid, index);
	p = copy[which];
	if (le64_to_cpu(p->epoch) != im->geo.table_epoch)
		return;
	for (i = 0; i < NEARCACHE_SLOTS_PER_PAGE && first + i < im->geo.slot_count; i++)
		if (le64_to_cpu(p->slot[i].origin_block) != NEARCACHE_NO_BLOCK &&
		    nc_recover_slot(&im->geo, &p->slot[i]))
			add(im, first + i, &p->slot[i]);
}

static void judge_sector(const struct sector *s, u64 number, const struct truth *truth,
			 struct recovered *out)
{
	struct sector expected;

	if (!memcmp(s, truth->origin + number * SECTOR, SECTOR))
		return;
	sector_make(&expected, number, s->generation);
	if (memcmp(s, &expected, SECTOR))
		out->torn++;
	else if (!truth->changing[number] || s->generation < truth->oldest[number])
		out->stale++;
}

/* Check the data of a valid sub-block against its checksum, if the device has checksums. */
static void judge_sum(const struct image *im, u64 slot, u64 bit, const void *data,
		      struct recovered *out)
{
	const __le32 *sum = (const void *)(im->bytes + im->geo.sums_offset);

	if (im->geo.sums_length &&
	    le32_to_cpu(sum[slot * im->geo.subblocks + bit]) !=
		    crc_extend(0, data, im->geo.subblock_size))
		out->unsound++;
}

static const unsigned char *slot_data(const struct image *im, u64 slot)
{
	unsigned int device = slot % im->devices;

	return im->bytes + device * im->device_bytes + im->data_offset[device] +
	       slot / im->devices * im->geo.block_size;
}

static void judge(struct image *im, const struct truth *truth, struct recovered *out)
{
	u32 sub = im->geo.subblock_size;
	u64 i, bit, n;

	out->origin_sectors = im->geo.origin_size / SECTOR;
	for (i = 0; i < im->geo.slot_count; i++) {
		out->blocks += !!im->slot[i].valid;
		for (bit = 0; bit < im->geo.subblocks; bit++) {
			u64 offset = bit * sub;
			u64 origin = im->slot[i].block * im->geo.block_size + offset;
			const struct sector *s = (const void *)(slot_data(im, i) + offset);

			if (!(im->slot[i].valid >> bit & 1))
				continue;
			out->bytes += sub;
			judge_sum(im, i, bit, s, out);
			for (n = 0; n < sub / SECTOR && origin / SECTOR + n <
				    im->geo.origin_size / SECTOR; n++)
				judge_sector(&s[n], origin / SECTOR + n, truth, out);
		}
	}
}

/* Set by recover_geometry(): sectors of each cache device; start sector of the slots on each. */
static uint64_t device_sectors, data_sectors[NEARCACHE_MEMBERS_MAX];
static unsigned int device_count;

/* Clear the valid bits of sub-blocks that the write intent marks, as the kernel does. */
static void drop_marked(struct image *im, struct recovered *out)
{
	u64 i, marked;

	for (i = 0; i < im->geo.slot_count; i++) {
		if (!im->slot[i].valid)
			continue;
		marked = im->slot[i].valid &
			 nc_recover_written(&im->geo, im->intent, im->slot[i].block);
		im->slot[i].valid &= ~marked;
		out->marked += __builtin_popcountll(marked) * (u64)im->geo.subblock_size;
	}
}

/* Does the superblock's fingerprint match the origin's ends, so that a later change is detected? */
static bool fingerprint_fits(const struct image *im, const struct truth *truth)
{
	u64 size = im->geo.origin_size;
	u64 bytes = size < FINGERPRINT_END ? size : FINGERPRINT_END;
	unsigned char ends[2 * FINGERPRINT_END] = { }, digest[SHA256_DIGEST_LENGTH];

	memcpy(ends, truth->origin, bytes);
	memcpy(ends + FINGERPRINT_END, truth->origin + size - bytes, bytes);
	SHA256(ends, sizeof(ends), digest);
	return le32_to_cpu(im->sb->origin_fingerprint_type) != NEARCACHE_FP_ENDS ||
	       !memcmp(digest, im->sb->origin_fingerprint, sizeof(digest));
}

/* Choose the newer valid superblock copy of one device; NULL with @why if neither is valid. */
static const struct nearcache_super *super_of(const unsigned char *bytes, size_t size,
					      struct nc_geometry *geo, char *why)
{
	return nc_super_choose((const void *)(bytes + NEARCACHE_SUPER_OFFSET_0),
			       (const void *)(bytes + NEARCACHE_SUPER_OFFSET_1), size, geo, why);
}

/* Do members 1 and up match the slot table of member 0?  Same check as in kmod/meta/members.c. */
static bool members_fit(struct image *im, u64 last, struct recovered *out)
{
	char why[NC_WHY_SIZE];
	struct nc_geometry geo;
	unsigned int i;

	for (i = 1; i < im->devices; i++) {
		const struct nearcache_super *sb =
			super_of(im->bytes + i * im->device_bytes, im->device_bytes, &geo, why);

		if (!sb || !nc_member_check(im->sb, sb, i, why)) {
			out->lost = 1;
			return false;
		}
		if (!nc_recover_member(sb, im->geo.table_epoch, last)) {
			out->cold = 1;
			out->differs = i;
			return false;
		}
		if (le32_to_cpu(sb->state) == NEARCACHE_STATE_LIVE &&
		    le64_to_cpu(sb->commit_sequence) >= last)
			out->begun = 1;
		im->data_offset[i] = geo.data_offset;
	}
	return true;
}

/* May the slot table be used?  Same check as in kmod/meta/meta.c and write_session.c. */
static bool starts_warm(struct image *im, const struct truth *truth, struct recovered *out)
{
	static struct nearcache_intent area[NC_RECOVER_INTENT];

	switch (le32_to_cpu(im->sb->state)) {
	case NEARCACHE_STATE_ACTIVE:
		out->cold = 1;
		return false;
	case NEARCACHE_STATE_WRITING:
		if (!nc_recover_stayed(im->sb, truth->witness)) {
			out->cold = 1;
			return false;
		}
		memcpy(area, im->bytes + im->geo.intent_offset, sizeof(area));
		nc_recover_intent(area, im->sb, truth->witness);
		if (nc_recover_ends(area)) {
			out->doubt = 1;
			return false;
		}
		im->intent = area;
		break;
	}
	if (truth->witness)
		out->misprinted = !fingerprint_fits(im, truth);
	return true;
}

/* Location of each kind of metadata, in sectors.  Kinds 0 to 5 are on the first cache device: two
 * superblock copies, slot table, commit records, used part of the write intent, checksums if any.
 * Kinds from RECOVER_BEHIND on: the superblock copies of any other member, from the member's start.
 */
static struct place {
	uint64_t first, sectors;
} places[RECOVER_PLACES];

static void set_place(unsigned int kind, uint64_t offset, uint64_t bytes)
{
	places[kind] = (struct place) { offset / SECTOR, bytes / SECTOR };
}

/**
 * recover_place() - find a sector of metadata
 * @kind: kind of metadata, below RECOVER_PLACES
 * @n: any number; it selects one of the sectors
 * @sector: filled in: sector number in the concatenated cache devices
 *
 * Return: false if the device has no metadata of this kind; @sector is then unchanged.
 */
bool recover_place(unsigned int kind, uint64_t n, uint64_t *sector)
{
	const struct place *p = &places[kind];

	if (!p->sectors)
		return false;
	*sector = p->first + n % p->sectors;
	if (kind >= RECOVER_BEHIND)
		*sector += (1 + n / p->sectors % (device_count - 1)) * device_sectors;
	return true;
}

/* Geometry and uuid of the first device, from recover_geometry(); no logged write changes them. */
static struct nc_geometry geometry;
static u8 uuid[16];

/**
 * recover_named() - find a sector of a page that the last commit record names
 * @cache: cache device
 * @n: any number; it selects one of the sectors
 * @sector: filled in: sector of the page copy that the commit keeps, on the first cache device
 *
 * Return: false if no record is valid or the record names no page: no commit is in progress.
 */
bool recover_named(const unsigned char *cache, uint64_t n, uint64_t *sector)
{
	const struct nearcache_commit *last =
		nc_recover_last((const void *)(cache + geometry.commit_offset), uuid);
	u64 count = last ? le32_to_cpu(last->count) : 0, page, copy;

	if (!count)
		return false;
	page = le64_to_cpu(last->page[n / 8 % count]);
	copy = page & NEARCACHE_COMMIT_COPY_1 ? 0 : geometry.table_pages;
	page &= ~NEARCACHE_COMMIT_COPY_1;
	*sector = (geometry.table_offset + (copy + page) * NEARCACHE_PAGE_SIZE) / SECTOR + n % 8;
	return true;
}

static void refuse(const char *why)
{
	fprintf(stderr, "the base has no valid superblock: %s\n", why);
	exit(2);
}

/* Read the geometry of the base image, which all functions except recover() use; exits if bad. */
void recover_geometry(const unsigned char *cache, size_t bytes, unsigned int devices)
{
	struct nc_geometry geo = { 0 };
	char why[NC_WHY_SIZE];
	const struct nearcache_super *sb = NULL;
	uint64_t regions;
	unsigned int i;

	device_count = devices;
	device_sectors = bytes / devices / SECTOR;
	for (i = devices; i--;) {
		sb = super_of(cache + i * device_sectors * SECTOR, bytes / devices, &geo, why);
		if (!sb)
			refuse(why);
		data_sectors[i] = geo.data_offset / SECTOR;
	}
	geometry = geo;
	memcpy(uuid, sb->uuid, sizeof(uuid));
	set_place(0, NEARCACHE_SUPER_OFFSET_0, NEARCACHE_PAGE_SIZE);
	set_place(1, NEARCACHE_SUPER_OFFSET_1, NEARCACHE_PAGE_SIZE);
	set_place(RECOVER_TABLE, geo.table_offset, 2 * geo.table_pages * NEARCACHE_PAGE_SIZE);
	set_place(3, geo.commit_offset, NC_RECOVER_RING * NEARCACHE_PAGE_SIZE);
	regions = (geo.origin_size - 1) / geo.intent_region + 1;
	set_place(4, geo.intent_offset, ((regions - 1) / NEARCACHE_INTENT_BITS + 1) *
					NEARCACHE_INTENT_SIZE);
	set_place(5, geo.sums_offset, geo.sums_length);
	if (devices == 1)
		return;
	set_place(RECOVER_BEHIND, NEARCACHE_SUPER_OFFSET_0, NEARCACHE_PAGE_SIZE);
	set_place(RECOVER_BEHIND + 1, NEARCACHE_SUPER_OFFSET_1, NEARCACHE_PAGE_SIZE);
}

/* Is @sector of the concatenated cache devices metadata, that is, before the slots? */
bool recover_is_metadata(uint64_t sector)
{
	uint64_t device = sector / device_sectors;

	return device < device_count && sector % device_sectors < data_sectors[device];
}

/**
 * recover() - load a cache device and judge the data it would serve
 * @cache: image of the device, page-aligned; several devices are concatenated
 * @bytes: size of @cache
 * @truth: data that may be served
 * @out: filled in
 */
void recover(const unsigned char *cache, size_t bytes, const struct truth *truth,
	     struct recovered *out)
{
	const struct nearcache_commit *last;
	struct image im = {
		.bytes = cache,
		.devices = truth->devices,
		.device_bytes = bytes / truth->devices,
	};
	char why[NC_WHY_SIZE];
	u64 number, i;

	memset(out, 0, sizeof(*out));
	im.sb = super_of(cache, im.device_bytes, &im.geo, why);
	if (!im.sb) {
		out->lost = 1;
		return;
	}
	im.data_offset[0] = im.geo.data_offset;
	last = nc_recover_last((const void *)(cache + im.geo.commit_offset),
			       im.sb->uuid);
	number = le64_to_cpu(im.sb->commit_sequence);
	if (last && le64_to_cpu(last->sequence) > number)
		number = le64_to_cpu(last->sequence);
	if (!members_fit(&im, number, out) || !starts_warm(&im, truth, out))
		return;
	im.slot = calloc(im.geo.slot_count, sizeof(*im.slot));
	if (!im.slot)
		abort();
	for (i = 0; i < im.geo.table_pages; i++)
		load_page(&im, i, last, out);
	if (im.intent)
		drop_marked(&im, out);
	judge(&im, truth, out);
	free(im.slot);
}
