// SPDX-License-Identifier: GPL-2.0-only
/* Validates and initialises on-disk structures.  Pure functions, see ondisk_check.h. */
#include "meta/ondisk_check.h"

#ifdef __KERNEL__
#include <linux/crc32c.h>
#include <linux/log2.h>
#include <linux/string.h>

/* The kernel's crc32c() leaves both inversions to the caller. */
static u32 crc_extend(u32 crc, const void *data, size_t bytes)
{
	return ~crc32c(~crc, data, bytes);
}
#endif

/* CRC-32C of the @bytes at @data, with the 32-bit word at offset @hole taken as zero. */
static u32 checksum_with_hole(const void *data, size_t bytes, size_t hole)
{
	static const u8 zero[4];
	const u8 *p = data;
	u32 crc;

	crc = crc_extend(0, p, hole);
	crc = crc_extend(crc, zero, sizeof(zero));
	hole += sizeof(zero);
	return crc_extend(crc, p + hole, bytes - hole);
}

u32 nc_super_checksum(const struct nearcache_super *sb)
{
	return checksum_with_hole(sb, sizeof(*sb),
				  offsetof(struct nearcache_super, checksum));
}

u32 nc_page_checksum(const struct nearcache_page *page)
{
	return checksum_with_hole(page, sizeof(*page),
				  offsetof(struct nearcache_page, checksum));
}

u32 nc_record_checksum(const struct nearcache_commit *record)
{
	return checksum_with_hole(record, sizeof(*record),
				  offsetof(struct nearcache_commit, checksum));
}

static u32 intent_checksum(const struct nearcache_intent *sector)
{
	return checksum_with_hole(sector, sizeof(*sector),
				  offsetof(struct nearcache_intent, checksum));
}

static u32 witness_checksum(const struct nearcache_witness *record)
{
	return checksum_with_hole(record, sizeof(*record),
				  offsetof(struct nearcache_witness, checksum));
}

void nc_super_seal(struct nearcache_super *sb)
{
	sb->checksum = cpu_to_le32(nc_super_checksum(sb));
}

void nc_page_seal(struct nearcache_page *page)
{
	page->checksum = cpu_to_le32(nc_page_checksum(page));
}

void nc_record_seal(struct nearcache_commit *record)
{
	record->checksum = cpu_to_le32(nc_record_checksum(record));
}

/* Returns max(block / 64, 4 KiB, both logical block sizes).  All sizes are in bytes. */
u32 nc_subblock_size(u32 block_size, u32 origin_lbs, u32 cache_lbs)
{
	u32 size = block_size / NEARCACHE_SUBBLOCKS_MAX;

	size = max(size, NEARCACHE_SUBBLOCK_MIN);
	size = max(size, origin_lbs);
	return max(size, cache_lbs);
}

/* Length of the checksum area in bytes, a multiple of 4096.  @subblocks: number per slot. */
u64 nc_sums_length(u64 slots, u32 subblocks)
{
	u64 bytes = slots * subblocks * sizeof(__le32);

	return (bytes + NEARCACHE_PAGE_SIZE - 1) & ~(NEARCACHE_PAGE_SIZE - 1ULL);
}

static bool refuse_super(char *why, const char *field, u64 value, const char *expected)
{
	snprintf(why, NC_WHY_SIZE, "%s is %llu, expected %s", field,
		 (unsigned long long)value, expected);
	return false;
}

static bool lbs_ok(u32 lbs)
{
	return lbs >= 512 && lbs <= NEARCACHE_BLOCK_MIN && is_power_of_2(lbs);
}

static bool check_stripes(const struct nearcache_super *sb, char *why)
{
	bool striped = le64_to_cpu(sb->incompat) & NEARCACHE_INCOMPAT_STRIPES;
	u16 index = le16_to_cpu(sb->stripe_index);
	u16 count = le16_to_cpu(sb->stripe_count);

	if (!striped && count != 1)
		return refuse_super(why, "stripe_count", count,
				    "1 without feature STRIPES");
	if (striped && (count < 2 || count > NEARCACHE_MEMBERS_MAX))
		return refuse_super(why, "stripe_count", count, "2 to 16");
	if (index >= count)
		return refuse_super(why, "stripe_index", index,
				    "less than stripe_count");
	return true;
}

static bool check_identity(const struct nearcache_super *sb, char *why)
{
	u32 stored = le32_to_cpu(sb->checksum);
	u64 bits;

	if (memcmp(sb->magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN)) {
		snprintf(why, NC_WHY_SIZE,
			 "magic not found: not a nearcache device");
		return false;
	}
	if (le32_to_cpu(sb->version) != NEARCACHE_VERSION)
		return refuse_super(why, "version", le32_to_cpu(sb->version), "1");
	if (stored != nc_super_checksum(sb)) {
		snprintf(why, NC_WHY_SIZE,
			 "checksum is %08x, computed %08x: superblock damaged",
			 stored, nc_super_checksum(sb));
		return false;
	}
	bits = le64_to_cpu(sb->incompat) & ~NEARCACHE_INCOMPAT_KNOWN;
	if (bits)
		return refuse_super(why, "incompat features unknown here", bits,
				    "none: a newer nearcache made this device");
	if (le32_to_cpu(sb->state) > NEARCACHE_STATE_WRITING)
		return refuse_super(why, "state", le32_to_cpu(sb->state), "0 to 3");
	if (!check_stripes(sb, why))
		return false;
	if (!memchr(sb->label, 0, sizeof(sb->label)) ||
	    !memchr(sb->origin_id, 0, sizeof(sb->origin_id)) ||
	    !memchr(sb->dataset_version, 0, sizeof(sb->dataset_version)) ||
	    !memchr(sb->witness, 0, sizeof(sb->witness))) {
		snprintf(why, NC_WHY_SIZE,
			 "label, origin_id, dataset_version or witness has no end");
		return false;
	}
	if (sb->reserved0)
		return refuse_super(why, "reserved0", le64_to_cpu(sb->reserved0),
				    "0");
	if (le32_to_cpu(sb->origin_fingerprint_type) > NEARCACHE_FP_EROFS)
		return refuse_super(why, "origin_fingerprint_type",
				    le32_to_cpu(sb->origin_fingerprint_type),
				    "0 to 4");
	return true;
}

static bool check_super_sizes(const struct nearcache_super *sb, char *why)
{
	u32 block = le32_to_cpu(sb->block_size);
	u32 origin_lbs = le32_to_cpu(sb->origin_lbs);
	u32 cache_lbs = le32_to_cpu(sb->cache_lbs);
	u64 origin = le64_to_cpu(sb->origin_size);
	u64 slots = le64_to_cpu(sb->slot_count);

	if (block < NEARCACHE_BLOCK_MIN || block > NEARCACHE_BLOCK_MAX ||
	    !is_power_of_2(block))
		return refuse_super(why, "block_size", block,
				    "a power of two from 65536 to 4194304");
	if (!lbs_ok(origin_lbs))
		return refuse_super(why, "origin_lbs", origin_lbs,
				    "a power of two from 512 to 65536");
	if (!lbs_ok(cache_lbs))
		return refuse_super(why, "cache_lbs", cache_lbs,
				    "a power of two from 512 to 65536");
	if (le32_to_cpu(sb->subblock_size) !=
	    nc_subblock_size(block, origin_lbs, cache_lbs))
		return refuse_super(why, "subblock_size",
				    le32_to_cpu(sb->subblock_size),
				    "max(block_size / 64, 4096, origin_lbs, cache_lbs)");
	if (!origin || origin % 512 ||
	    origin / block >= NEARCACHE_MAX_ORIGIN_BLOCKS)
		return refuse_super(why, "origin_size", origin,
				    "a multiple of 512 below 2^40 blocks");
	if (slots < NEARCACHE_MIN_SLOTS || slots > NEARCACHE_MAX_SLOTS)
		return refuse_super(why, "slot_count", slots, "2 to 2^31");
	return true;
}

/* A counter must not wrap: of two copies, the older one would then have the higher value. */
static bool check_sequences(const struct nearcache_super *sb, char *why)
{
	const struct {
		u64 value;
		const char *field;
	} growing[] = {
		{ le64_to_cpu(sb->sequence), "sequence" },
		{ le64_to_cpu(sb->table_epoch), "table_epoch" },
		{ le64_to_cpu(sb->commit_sequence), "commit_sequence" },
		{ le64_to_cpu(sb->session), "session" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(growing); i++)
		if (growing[i].value > NEARCACHE_MAX_SEQUENCE)
			return refuse_super(why, growing[i].field, growing[i].value,
					    "less than 2^63");
	return true;
}

/* All areas lie between AREA_START and data_offset and do not overlap. */
static bool check_areas(const struct nearcache_super *sb, u64 data_offset,
			char *why)
{
	unsigned int i, j;

	for (i = 0; i < NEARCACHE_AREA_ROOM; i++) {
		u64 start = le64_to_cpu(sb->area[i].offset);
		u64 length = le64_to_cpu(sb->area[i].length);

		if (i < NEARCACHE_AREA_COUNT &&
		    le32_to_cpu(sb->area[i].version) != NEARCACHE_AREA_VERSION) {
			snprintf(why, NC_WHY_SIZE,
				 "area[%u].version is %u, expected 1", i,
				 le32_to_cpu(sb->area[i].version));
			return false;
		}
		if (!length)
			continue;
		if ((start | length) % NEARCACHE_PAGE_SIZE ||
		    start < NEARCACHE_AREA_START || start > data_offset ||
		    length > data_offset - start) {
			snprintf(why, NC_WHY_SIZE,
				 "area[%u] (offset %llu, length %llu) is not inside the metadata",
				 i, (unsigned long long)start,
				 (unsigned long long)length);
			return false;
		}
		for (j = 0; j < i; j++) {
			u64 other = le64_to_cpu(sb->area[j].offset);
			u64 end = other + le64_to_cpu(sb->area[j].length);

			if (end > other && start < end &&
			    other < start + length) {
				snprintf(why, NC_WHY_SIZE,
					 "area[%u] overlaps area[%u]", i, j);
				return false;
			}
		}
	}
	return true;
}

static bool check_intent(const struct nearcache_super *sb, char *why)
{
	u64 region = le64_to_cpu(sb->intent_region);

	if (region < NEARCACHE_BLOCK_MIN || !is_power_of_2(region) ||
	    (le64_to_cpu(sb->origin_size) - 1) / region >=
		    NEARCACHE_INTENT_REGIONS)
		return refuse_super(why, "intent_region", region,
				    "a power of two from 65536 that covers origin_size in 524288 regions");
	return true;
}

/* Check the areas that have a fixed length. */
static bool check_lengths(const struct nearcache_super *sb, char *why)
{
	static const struct {
		u64 length;
		unsigned int area;
		const char *field;
		const char *expected;
	} fixed[] = {
		{ NEARCACHE_COMMIT_AREA_SIZE, NEARCACHE_AREA_COMMIT,
		  "area[1].length", "65536" },
		{ NEARCACHE_INTENT_AREA_SIZE, NEARCACHE_AREA_INTENT,
		  "area[2].length", "131072" },
		{ NEARCACHE_STRIPES_AREA_SIZE, NEARCACHE_AREA_STRIPES,
		  "area[5].length", "4096" },
		{ 0, NEARCACHE_AREA_DIRTY,
		  "area[6].length", "0 without feature DIRTY" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fixed); i++) {
		u64 length = le64_to_cpu(sb->area[fixed[i].area].length);

		if (length != fixed[i].length)
			return refuse_super(why, fixed[i].field, length,
					    fixed[i].expected);
	}
	return true;
}

/* The checksum area covers all sub-blocks, or is absent. */
static bool check_sums(const struct nearcache_super *sb, char *why)
{
	u64 length = le64_to_cpu(sb->area[NEARCACHE_AREA_CHECKSUM].length);
	u64 wanted = 0;

	if (le64_to_cpu(sb->incompat) & NEARCACHE_INCOMPAT_CRC32C)
		wanted = nc_sums_length(le64_to_cpu(sb->slot_count),
					le32_to_cpu(sb->block_size) /
						le32_to_cpu(sb->subblock_size));
	if (length == wanted)
		return true;
	return refuse_super(why, "area[3].length", length,
			    wanted ? "4 * slot_count * sub-blocks, rounded up to 4096" :
			       "0 without feature CRC32C");
}

/* Only the first member has metadata areas. */
static bool check_no_areas(const struct nearcache_super *sb, char *why)
{
	unsigned int i;

	if (sb->table_pages)
		return refuse_super(why, "table_pages", le64_to_cpu(sb->table_pages),
				    "0 behind the first member");
	for (i = 0; i < NEARCACHE_AREA_ROOM; i++) {
		if (!sb->area[i].length)
			continue;
		snprintf(why, NC_WHY_SIZE,
			 "area[%u].length is %llu, expected 0 behind the first member",
			 i, (unsigned long long)le64_to_cpu(sb->area[i].length));
		return false;
	}
	return true;
}

/* Number of slots on member @index of @count members: slot s is on member s % count. */
u64 nc_member_slots(u64 slots, u32 index, u32 count)
{
	return (slots + count - 1 - index) / count;
}

static bool check_layout(const struct nearcache_super *sb, u64 device_bytes,
			 char *why)
{
	u64 device = le64_to_cpu(sb->device_size);
	u64 slots = le64_to_cpu(sb->slot_count);
	u64 data = le64_to_cpu(sb->data_offset);
	u64 pages = le64_to_cpu(sb->table_pages);
	u32 block = le32_to_cpu(sb->block_size);
	u64 length = le64_to_cpu(sb->area[NEARCACHE_AREA_TABLE].length);
	u16 index = le16_to_cpu(sb->stripe_index);
	u16 count = le16_to_cpu(sb->stripe_count);

	if (device > device_bytes) {
		snprintf(why, NC_WHY_SIZE,
			 "device_size is %llu, the device has only %llu bytes: truncated",
			 (unsigned long long)device,
			 (unsigned long long)device_bytes);
		return false;
	}
	if (data % block || data < NEARCACHE_AREA_START || data > device)
		return refuse_super(why, "data_offset", data,
				    "a multiple of block_size inside the device");
	if (slots < count)
		return refuse_super(why, "slot_count", slots, "stripe_count or more");
	if (nc_member_slots(slots, index, count) > (device - data) / block)
		return refuse_super(why, "slot_count", slots, count == 1 ?
				    "at most the blocks behind data_offset" :
				    "at most stripe_count times the blocks behind data_offset");
	if (index)
		return check_no_areas(sb, why);
	if (pages != (slots + NEARCACHE_SLOTS_PER_PAGE - 1) /
		     NEARCACHE_SLOTS_PER_PAGE)
		return refuse_super(why, "table_pages", pages,
				    "slot_count / 168, rounded up");
	if (length != 2 * pages * NEARCACHE_PAGE_SIZE)
		return refuse_super(why, "area[0].length", length,
				    "2 * table_pages * 4096");
	return check_intent(sb, why) && check_lengths(sb, why) &&
	       check_sums(sb, why) && check_areas(sb, data, why);
}

/**
 * nc_super_check() - validate one superblock
 * @sb: 4096 bytes as read
 * @device_bytes: size of the cache device
 * @geo: set if the superblock is valid
 * @why: NC_WHY_SIZE bytes; if the superblock is invalid, set to the field, its value
 *	and the expected value
 *
 * Return: whether the superblock is valid.
 */
bool nc_super_check(const struct nearcache_super *sb, u64 device_bytes,
		    struct nc_geometry *geo, char *why)
{
	if (!check_identity(sb, why) || !check_sequences(sb, why) ||
	    !check_super_sizes(sb, why) || !check_layout(sb, device_bytes, why))
		return false;
	geo->device_size = le64_to_cpu(sb->device_size);
	geo->origin_size = le64_to_cpu(sb->origin_size);
	geo->slot_count = le64_to_cpu(sb->slot_count);
	geo->data_offset = le64_to_cpu(sb->data_offset);
	geo->table_offset =
		le64_to_cpu(sb->area[NEARCACHE_AREA_TABLE].offset);
	geo->table_pages = le64_to_cpu(sb->table_pages);
	geo->commit_offset =
		le64_to_cpu(sb->area[NEARCACHE_AREA_COMMIT].offset);
	geo->intent_offset =
		le64_to_cpu(sb->area[NEARCACHE_AREA_INTENT].offset);
	geo->intent_region = le64_to_cpu(sb->intent_region);
	geo->sums_offset =
		le64_to_cpu(sb->area[NEARCACHE_AREA_CHECKSUM].offset);
	geo->sums_length =
		le64_to_cpu(sb->area[NEARCACHE_AREA_CHECKSUM].length);
	geo->table_epoch = le64_to_cpu(sb->table_epoch);
	geo->block_size = le32_to_cpu(sb->block_size);
	geo->subblock_size = le32_to_cpu(sb->subblock_size);
	geo->cache_lbs = le32_to_cpu(sb->cache_lbs);
	geo->subblocks = geo->block_size / geo->subblock_size;
	geo->stripe_index = le16_to_cpu(sb->stripe_index);
	geo->stripe_count = le16_to_cpu(sb->stripe_count);
	return true;
}

/**
 * nc_member_check() - does a device belong at this place of the cache?
 * @first: valid superblock of member 0
 * @member: valid superblock of the device
 * @index: that place, 1 or more
 * @why: NC_WHY_SIZE bytes; if false, set to the field, its value and the expected value
 *
 * nc_recover_member() checks whether the device's data matches the slot table.
 */
bool nc_member_check(const struct nearcache_super *first,
		     const struct nearcache_super *member, u32 index, char *why)
{
	char expected[24];

	if (memcmp(first->uuid, member->uuid, sizeof(first->uuid))) {
		snprintf(why, NC_WHY_SIZE,
			 "uuid is not that of the first cache device: it belongs to another cache");
		return false;
	}
	snprintf(expected, sizeof(expected), "%u at this place", index);
	if (le16_to_cpu(member->stripe_index) != index)
		return refuse_super(why, "stripe_index",
				    le16_to_cpu(member->stripe_index), expected);
	if (member->stripe_count == first->stripe_count &&
	    member->incompat == first->incompat &&
	    member->block_size == first->block_size &&
	    member->subblock_size == first->subblock_size &&
	    member->slot_count == first->slot_count)
		return true;
	snprintf(why, NC_WHY_SIZE,
		 "stripe_count, incompat, block_size, subblock_size or slot_count is not that of the first cache device");
	return false;
}

/**
 * nc_super_choose() - choose the valid superblock copy
 * @a: copy 0 as read
 * @b: copy 1 as read
 * @device_bytes: size of the cache device
 * @geo: set for the chosen copy
 * @why: NC_WHY_SIZE bytes; if both are invalid, the reason for copy 0, or for
 *	copy 1 if copy 0 lacks the magic
 *
 * Of two valid copies of one cache the one with the higher sequence is chosen: each state
 * change reaches both copies before anything relies on it.  Two valid copies of different
 * caches are an error: the slots may hold data of either.
 *
 * Return: @a, @b, or NULL if neither is valid.
 */
const struct nearcache_super *nc_super_choose(const struct nearcache_super *a,
					      const struct nearcache_super *b,
					      u64 device_bytes,
					      struct nc_geometry *geo,
					      char *why)
{
	char why_b[NC_WHY_SIZE];
	struct nc_geometry geo_b;
	bool ok_a = nc_super_check(a, device_bytes, geo, why);
	bool ok_b = nc_super_check(b, device_bytes, &geo_b, why_b);

	if (ok_a && ok_b && memcmp(a->uuid, b->uuid, sizeof(a->uuid))) {
		snprintf(why, NC_WHY_SIZE,
			 "uuid differs between the two superblock copies");
		return NULL;
	}
	if (ok_b && (!ok_a || le64_to_cpu(b->sequence) >
			      le64_to_cpu(a->sequence))) {
		*geo = geo_b;
		return b;
	}
	if (ok_a)
		return a;
	/* If copy 0 lacks the magic, report the reason for copy 1. */
	if (memcmp(a->magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN))
		memcpy(why, why_b, sizeof(why_b));
	return NULL;
}

/* Validate one copy of slot table page @index, as read: intact, of cache @uuid, in its place. */
bool nc_page_check(const struct nearcache_page *page, const u8 *uuid,
		   u64 index)
{
	return le32_to_cpu(page->magic) == NEARCACHE_PAGE_MAGIC &&
	       le64_to_cpu(page->index) == index &&
	       le64_to_cpu(page->sequence) <= NEARCACHE_MAX_SEQUENCE &&
	       !memcmp(page->uuid, uuid, sizeof(page->uuid)) &&
	       le32_to_cpu(page->checksum) == nc_page_checksum(page);
}

/**
 * nc_page_init() - initialise a page with all slots free
 * @page: 4096 bytes
 * @uuid: UUID in the superblock
 * @index: page number
 * @sequence: commit number
 * @epoch: the superblock's table_epoch
 *
 * nc_page_seal() must follow after the slots are set.
 */
void nc_page_init(struct nearcache_page *page, const u8 *uuid, u64 index,
		  u64 sequence, u64 epoch)
{
	unsigned int i;

	memset(page, 0, sizeof(*page));
	page->magic = cpu_to_le32(NEARCACHE_PAGE_MAGIC);
	memcpy(page->uuid, uuid, sizeof(page->uuid));
	page->index = cpu_to_le64(index);
	page->sequence = cpu_to_le64(sequence);
	page->epoch = cpu_to_le64(epoch);
	for (i = 0; i < NEARCACHE_SLOTS_PER_PAGE; i++)
		page->slot[i].origin_block = cpu_to_le64(NEARCACHE_NO_BLOCK);
}

/* Validate a commit record, as read: intact, and of cache @uuid. */
bool nc_record_check(const struct nearcache_commit *record, const u8 *uuid)
{
	return le32_to_cpu(record->magic) == NEARCACHE_COMMIT_MAGIC &&
	       le32_to_cpu(record->count) <= NEARCACHE_COMMIT_PAGES &&
	       le64_to_cpu(record->sequence) <= NEARCACHE_MAX_SEQUENCE &&
	       !memcmp(record->uuid, uuid, sizeof(record->uuid)) &&
	       le32_to_cpu(record->checksum) == nc_record_checksum(record);
}

/* Initialise a record that names no page.  nc_record_seal() must follow once pages are set. */
void nc_record_init(struct nearcache_commit *record, const u8 *uuid,
		    u64 sequence)
{
	memset(record, 0, sizeof(*record));
	record->magic = cpu_to_le32(NEARCACHE_COMMIT_MAGIC);
	memcpy(record->uuid, uuid, sizeof(record->uuid));
	record->sequence = cpu_to_le64(sequence);
}

/* Initialise sector @index of the write-intent bitmap with all bits clear.  The caller must call
 * nc_intent_sector_seal() before it writes the sector.
 */
void nc_intent_sector_init(struct nearcache_intent *sector, const u8 *uuid,
			   u64 session, u32 index)
{
	memset(sector, 0, sizeof(*sector));
	sector->magic = cpu_to_le32(NEARCACHE_INTENT_MAGIC);
	memcpy(sector->uuid, uuid, sizeof(sector->uuid));
	sector->session = cpu_to_le64(session);
	sector->index = cpu_to_le32(index);
}

void nc_intent_sector_seal(struct nearcache_intent *sector)
{
	sector->checksum = cpu_to_le32(intent_checksum(sector));
}

/* Validate a sector of the write-intent bitmap, as read: intact, of cache @uuid, in its place. */
bool nc_intent_sector_check(const struct nearcache_intent *sector,
			    const u8 *uuid, u32 index)
{
	return le32_to_cpu(sector->magic) == NEARCACHE_INTENT_MAGIC &&
	       le32_to_cpu(sector->index) == index &&
	       !memcmp(sector->uuid, uuid, sizeof(sector->uuid)) &&
	       le32_to_cpu(sector->checksum) == intent_checksum(sector);
}

/* Initialise a witness record.  nc_witness_seal() must follow once its fields are set. */
void nc_witness_init(struct nearcache_witness *record, const u8 *uuid)
{
	memset(record, 0, sizeof(*record));
	record->magic = cpu_to_le32(NEARCACHE_WITNESS_MAGIC);
	memcpy(record->uuid, uuid, sizeof(record->uuid));
}

void nc_witness_seal(struct nearcache_witness *record)
{
	record->checksum = cpu_to_le32(witness_checksum(record));
}

/* Validate a witness record, as read: intact, and of cache @uuid.  @uuid NULL: of any cache. */
bool nc_witness_check(const struct nearcache_witness *record, const u8 *uuid)
{
	return le32_to_cpu(record->magic) == NEARCACHE_WITNESS_MAGIC &&
	       le64_to_cpu(record->session) <= NEARCACHE_MAX_SEQUENCE &&
	       (!uuid || !memcmp(record->uuid, uuid, sizeof(record->uuid))) &&
	       le32_to_cpu(record->checksum) == witness_checksum(record);
}
