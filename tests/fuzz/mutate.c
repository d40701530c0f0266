// SPDX-License-Identifier: GPL-2.0-only
/* Mutates fields of an image and corrects the checksums, so that the checks behind them are hit. */
#include "image.h"

#define SUPER(member)	{ offsetof(struct nearcache_super, member),			\
			  sizeof(((struct nearcache_super *)0)->member) }
#define SLOT(member)	{ offsetof(struct nearcache_slot, member),			\
			  sizeof(((struct nearcache_slot *)0)->member) }
#define PAGE(member)	{ offsetof(struct nearcache_page, member),			\
			  sizeof(((struct nearcache_page *)0)->member) }
#define RECORD(member)	{ offsetof(struct nearcache_commit, member),			\
			  sizeof(((struct nearcache_commit *)0)->member) }
#define INTENT(member)	{ offsetof(struct nearcache_intent, member),			\
			  sizeof(((struct nearcache_intent *)0)->member) }
#define WITNESS(member)	{ offsetof(struct nearcache_witness, member),		\
			  sizeof(((struct nearcache_witness *)0)->member) }
#define HEAD(member)	{ offsetof(struct image, member),				\
			  sizeof(((struct image *)0)->member) }

struct field {
	size_t offset, bytes;
};

static const struct field super_fields[] = {
	SUPER(version), SUPER(sequence), SUPER(compat), SUPER(incompat), SUPER(created),
	SUPER(state), SUPER(block_size), SUPER(subblock_size), SUPER(origin_lbs),
	SUPER(cache_lbs), SUPER(stripe_index), SUPER(stripe_count), SUPER(reserved0),
	SUPER(device_size), SUPER(slot_count), SUPER(data_offset), SUPER(table_pages),
	SUPER(table_epoch), SUPER(intent_region), SUPER(commit_sequence), SUPER(origin_size),
	SUPER(origin_fingerprint_type), SUPER(session),
};

static const struct field slot_fields[] = {
	SLOT(origin_block), SLOT(valid), SLOT(generation), SLOT(flags),
};

static const struct field page_fields[] = {
	PAGE(magic), PAGE(uuid[0]), PAGE(index), PAGE(sequence), PAGE(epoch),
};

static const struct field record_fields[] = {
	RECORD(magic), RECORD(uuid[0]), RECORD(sequence), RECORD(count), RECORD(page[0]),
	RECORD(page[1]), RECORD(page[504]),
};

static const struct field intent_fields[] = {
	INTENT(magic), INTENT(uuid[0]), INTENT(session), INTENT(index), INTENT(flags),
	INTENT(bits[0]), INTENT(bits[255]),
};

static const struct field witness_fields[] = {
	WITNESS(magic), WITNESS(uuid[0]), WITNESS(session), WITNESS(previous), WITNESS(state),
};

static const struct field head_fields[] = {
	HEAD(cache_bytes), HEAD(origin_bytes), HEAD(sectors), HEAD(page_at[0]),
	HEAD(page_at[2]), HEAD(record_at[0]), HEAD(mode), HEAD(late), HEAD(lbs),
	HEAD(witness_bytes), HEAD(witness), HEAD(witness_at[0]), HEAD(rest),
};

static const struct field text_fields[] = {
	SUPER(magic), SUPER(uuid), SUPER(label), SUPER(origin_id), SUPER(origin_fingerprint),
	SUPER(dataset_version), SUPER(witness),
};

#define swap(a, b) do { __typeof__(a) _t = (a); (a) = (b); (b) = _t; } while (0)
#define PICK(list)	((list)[image_random(random) % ARRAY_SIZE(list)])

/* Draw a new value: near 0, a power of two, the @old value or another superblock field. */
static u64 number(const struct image *im, u64 old, u64 *random)
{
	u64 near = image_random(random) % 5 - 2, other = 0;
	struct field f;

	switch (image_random(random) % 8) {
	case 0:
		return near;
	case 1:
		return (1ULL << image_random(random) % 64) + near;
	case 2:
		return old + near;
	case 3:
		return old ^ 1ULL << image_random(random) % 64;
	case 4:
		return image_random(random) >> image_random(random) % 64;
	case 5:
		return old * 2;
	default:
		f = PICK(super_fields);
		memcpy(&other, (char *)&im->copy[0] + f.offset, f.bytes);
		return image_random(random) % 2 ? other + near : old + other;
	}
}

static void set(void *base, struct field f, u64 value)
{
	memcpy((char *)base + f.offset, &value, f.bytes < 8 ? f.bytes : 8);
}

static void change(const struct image *im, void *base, struct field f, u64 *random)
{
	u64 old = 0;

	memcpy(&old, (char *)base + f.offset, f.bytes < 8 ? f.bytes : 8);
	set(base, f, number(im, old, random));
}

static void change_area(struct image *im, u64 *random)
{
	u32 i = image_random(random) % NEARCACHE_AREA_ROOM;
	struct nearcache_area *a = &im->copy[0].area[i], *other;

	other = &im->copy[0].area[image_random(random) % NEARCACHE_AREA_ROOM];
	switch (image_random(random) % 6) {
	case 0:
		swap(*a, *other);
		break;
	case 1:
		a->offset = other->offset;
		break;
	case 2:
		a->offset = cpu_to_le64(number(im, le64_to_cpu(other->offset), random) &
					~4095ULL);
		break;
	case 3:
		a->length = cpu_to_le64(number(im, le64_to_cpu(a->length), random) & ~4095ULL);
		break;
	case 4:
		a->offset = cpu_to_le64(number(im, le64_to_cpu(a->offset), random));
		break;
	default:
		a->version = cpu_to_le32(number(im, 1, random));
	}
}

/* Set another number of slots, and make all fields that depend on it consistent. */
static void change_slots(struct image *im, u64 *random)
{
	struct nearcache_super *sb = &im->copy[0];
	u64 slots = number(im, le64_to_cpu(sb->slot_count), random), at = NEARCACHE_AREA_START;
	u64 pages = slots / NEARCACHE_SLOTS_PER_PAGE + !!(slots % NEARCACHE_SLOTS_PER_PAGE);
	u32 block = le32_to_cpu(sb->block_size) ?: 1, i;

	sb->slot_count = cpu_to_le64(slots);
	sb->table_pages = cpu_to_le64(pages);
	sb->area[NEARCACHE_AREA_TABLE].length = cpu_to_le64(pages * 2 * NEARCACHE_PAGE_SIZE);
	for (i = 0; i < NEARCACHE_AREA_COUNT; i++) {
		sb->area[i].offset = cpu_to_le64(at);
		at += le64_to_cpu(sb->area[i].length);
	}
	at = (at + block - 1) / block * block;
	sb->data_offset = cpu_to_le64(at);
	im->cache_bytes = at + slots * block;
	sb->device_size = cpu_to_le64(im->cache_bytes);
	im->page_at[IMAGE_PAGES - 1] = pages - 1;
}

static void change_head(struct image *im, u64 *random)
{
	switch (image_random(random) % 6) {
	case 0:
		im->fail_at = image_random(random) % 128 >> image_random(random) % 6;
		im->fail_count = image_random(random) % 2 ? image_random(random) : 0;
		im->fail_who = image_random(random);
		break;
	case 1:
	case 2:
		im->script = image_random(random);
		im->writes = image_random(random) % 64;
		im->end = image_random(random);
		break;
	case 3:
		im->no_memory = image_random(random) % 2 ? image_random(random) % 24 : 0;
		break;
	default:
		change(im, im, PICK(head_fields), random);
	}
}

static void change_super(struct image *im, u64 *random)
{
	struct field f;

	switch (image_random(random) % 8) {
	case 0:
		f = PICK(text_fields);
		memset((char *)&im->copy[0] + f.offset, (int)image_random(random), f.bytes);
		break;
	case 1:
		change_slots(im, random);
		break;
	case 2:
	case 3:
		change_area(im, random);
		break;
	default:
		change(im, &im->copy[0], PICK(super_fields), random);
	}
	/* Mostly make both copies equal: a faulty writer writes the same to both. */
	if (image_random(random) % 4)
		im->copy[1] = im->copy[0];
	else if (image_random(random) % 2)
		swap(im->copy[0], im->copy[1]);
}

static struct nearcache_slot *any_slot(struct image *im, u64 *random)
{
	u64 r = image_random(random);

	return &im->page[r % 2][r / 2 % IMAGE_PAGES].slot[r / 8 % NEARCACHE_SLOTS_PER_PAGE];
}

static void change_table(struct image *im, u64 *random)
{
	u64 r = image_random(random);
	struct nearcache_page *page = &im->page[r % 2][r / 2 % IMAGE_PAGES];

	switch (r / 8 % 8) {
	case 0:
		change(im, page, PICK(page_fields), random);
		break;
	case 1:
		im->page[0][r / 2 % IMAGE_PAGES] = im->page[1][r / 2 % IMAGE_PAGES];
		page->sequence = cpu_to_le64(number(im, le64_to_cpu(page->sequence), random));
		break;
	case 2:
		any_slot(im, random)->origin_block = any_slot(im, random)->origin_block;
		break;
	case 3:
		*any_slot(im, random) = *any_slot(im, random);
		break;
	default:
		change(im, any_slot(im, random), PICK(slot_fields), random);
	}
}

static void change_record(struct image *im, u64 *random)
{
	u32 i = image_random(random) % IMAGE_RECORDS;
	struct nearcache_commit *record = &im->record[i];

	change(im, record, PICK(record_fields), random);
	/* Mostly put the record where its sequence number belongs in the ring. */
	if (image_random(random) % 4)
		im->record_at[i] = le64_to_cpu(record->sequence) % 16;
}

static void change_intent(struct image *im, u64 *random)
{
	struct nearcache_intent *sector = &im->intent[image_random(random) % IMAGE_INTENT];
	struct nearcache_witness *record = &im->known[image_random(random) % IMAGE_WITNESS];
	u64 bit = image_random(random) % NEARCACHE_INTENT_BITS;

	switch (image_random(random) % 8) {
	case 0:
	case 1:
		change(im, sector, PICK(intent_fields), random);
		break;
	case 2:
		sector->bits[bit / 8] ^= 1U << bit % 8;
		break;
	case 3:
	case 4:
		change(im, record, PICK(witness_fields), random);
		break;
	case 5:
		swap(im->known[0], im->known[1]);
		break;
	default:
		image_write(im, random);
	}
}

/* Replace the image by a new one of random sizes. */
static void create(struct image *im, u64 *random)
{
	u64 cache = (4ULL << 20) + ((image_random(random) >> image_random(random) % 40) & ~511ULL);
	u64 origin = 512 + ((image_random(random) >> image_random(random) % 56) & ~511ULL);
	u32 block = 65536U << image_random(random) % 7;

	/* Mostly choose sizes small enough that fuzz_image.c also runs load(). */
	if (image_random(random) % 8) {
		cache %= 200ULL << 20;
		origin %= 1ULL << 30;
	}
	if (image_random(random) % 2)
		origin = (origin + block - 1) / block * block;
	image_create(im, random, cache + (4 << 20), origin + 512 * !origin, block);
	im->mode = image_random(random) % 3;
	im->witness = image_random(random);
	im->script = image_random(random);
	im->writes = image_random(random) % 64;
	im->end = image_random(random);
	if (image_random(random) % 4)
		image_fill(im, random);
	if (image_random(random) % 2)
		image_write(im, random);
}

/* Damage an image as a medium does: flip, misplace, zero or swap data; checksums stay wrong. */
void image_damage(struct image *im, u64 *random)
{
	unsigned char *bytes = (unsigned char *)im->copy, swapped[NEARCACHE_PAGE_SIZE];
	u64 units = (sizeof(*im) - offsetof(struct image, copy)) / NEARCACHE_PAGE_SIZE;
	unsigned char *a = bytes + image_random(random) % units * NEARCACHE_PAGE_SIZE;
	unsigned char *b = bytes + image_random(random) % units * NEARCACHE_PAGE_SIZE;

	switch (image_random(random) % 4) {
	case 0:
		a[image_random(random) % NEARCACHE_PAGE_SIZE] ^= 1U << image_random(random) % 8;
		break;
	case 1:
		if (a != b)
			memcpy(a, b, image_random(random) % 9 * 512);
		break;
	case 2:
		memset(a, 0, image_random(random) % 9 * 512);
		break;
	default:
		memcpy(swapped, a, NEARCACHE_PAGE_SIZE);
		memmove(a, b, NEARCACHE_PAGE_SIZE);
		memcpy(b, swapped, NEARCACHE_PAGE_SIZE);
	}
}

/* Change an image in one to three ways, seal it, and sometimes damage it. */
void image_mutate(struct image *im, u64 *random)
{
	u32 changes = 1 + image_random(random) % 3;

	while (changes--)
		switch (image_random(random) % 18) {
		case 0:
			create(im, random);
			break;
		case 1:
		case 2:
			change_head(im, random);
			break;
		case 3:
			change_record(im, random);
			break;
		case 16:
		case 17:
			change_intent(im, random);
			break;
		case 4:
		case 5:
		case 6:
		case 7:
		case 8:
			change_table(im, random);
			break;
		default:
			change_super(im, random);
		}
	image_seal(im);
	if (!(image_random(random) % 4))
		image_damage(im, random);
}
