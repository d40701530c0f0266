// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show and damage the metadata of a cache device.
 *
 *	sbset DEV fields			print "NAME BITS" of each numeric field
 *	sbset DEV get FIELD
 *	sbset DEV set 0|1|both FIELD VALUE	set a field and seal the superblock
 *	sbset DEV flip 0|1|both FIELD		flip one bit of a field, do not seal
 *	sbset DEV slot N get FIELD		print a field, from the newer page copy
 *	sbset DEV slot N set FIELD VALUE	set a field in the newer page copy and seal it
 *	sbset DEV page N flip 0|1		flip one bit of a copy of a table page
 *	sbset DEV used				print "SLOT BLOCK" of each slot in use
 *	sbset DEV fill		give each slot a complete block; the order is scattered
 * "label[3]" is a single byte of a text or of the magic; "label" is the whole text.
 */
#include "meta/ondisk_check.c"
#include "crc32c.h"
#include "device.h"

#define FIELD(name, member)						       \
	{ name, offsetof(struct nearcache_super, member),		       \
	  sizeof(((struct nearcache_super *)0)->member) }
#define AREA(n)								       \
	FIELD("area[" #n "].offset", area[n].offset),			       \
	FIELD("area[" #n "].length", area[n].length),			       \
	FIELD("area[" #n "].version", area[n].version)
#define SLOT(member)							       \
	{ #member, offsetof(struct nearcache_slot, member),		       \
	  sizeof(((struct nearcache_slot *)0)->member) }
#define N(member)	FIELD(#member, member)

#define FILL_BATCH	256

struct field {
	const char *name;
	size_t offset;
	size_t bytes;
};

static const struct field numbers[] = {
	N(version), N(checksum), N(sequence), N(compat), N(incompat),
	N(created), N(state), N(block_size), N(subblock_size), N(origin_lbs),
	N(cache_lbs), N(stripe_index), N(stripe_count), N(device_size),
	N(slot_count), N(data_offset), N(table_pages), N(table_epoch),
	N(intent_region), N(commit_sequence), N(origin_size),
	N(origin_fingerprint_type), N(write_id),
	AREA(0), AREA(1), AREA(2), AREA(3), AREA(4), AREA(5), AREA(6), AREA(7),
	{ }
};

static const struct field texts[] = {
	N(magic), N(uuid), N(label), N(origin_id), N(origin_fingerprint),
	N(dataset_version), { }
};

static const struct field slot_numbers[] = {
	SLOT(origin_block), SLOT(valid), SLOT(generation), SLOT(flags), { }
};

static const u64 super_at[] = { NEARCACHE_SUPER_OFFSET_0,
				NEARCACHE_SUPER_OFFSET_1 };
static int fd;
static struct nearcache_super *sb;
static struct nearcache_page *page;

static struct field find(const struct field *list, const char *name)
{
	size_t length = strcspn(name, "[");
	struct field f;

	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return *list;
	for (list = texts; list->name; list++)
		if (strlen(list->name) == length &&
		    !strncmp(list->name, name, length)) {
			f = *list;
			if (name[length]) {
				f.offset += atoi(name + length + 1);
				f.bytes = 1;
			}
			return f;
		}
	printf("no field '%s'\n", name);
	exit(2);
}

static u64 get(const void *base, struct field f)
{
	u64 value = 0;

	memcpy(&value, (const char *)base + f.offset, f.bytes);
	return le64_to_cpu(value);
}

static void set(void *base, struct field f, const char *text)
{
	u64 value = cpu_to_le64(strtoull(text, NULL, 0));

	if (f.bytes > sizeof(value))
		memset((char *)base + f.offset, (int)strtoull(text, NULL, 0),
		       f.bytes);
	else
		memcpy((char *)base + f.offset, &value, f.bytes);
}

static void change_super(char **arg, bool flip)
{
	int copy;

	for (copy = 0; copy < 2; copy++) {
		struct field f = find(numbers, arg[1]);

		if (strcmp(arg[0], "both") && atoi(arg[0]) != copy)
			continue;
		read_exactly(fd, sb, sizeof(*sb), super_at[copy]);
		if (flip) {
			((char *)sb)[f.offset] ^= 0x10;
		} else {
			set(sb, f, arg[2]);
			/* Sealing would overwrite a checksum that the command has just set. */
			if (strcmp(arg[1], "checksum"))
				nc_super_seal(sb);
		}
		write_exactly(fd, sb, sizeof(*sb), super_at[copy]);
	}
}

static u64 page_at(u64 index, int copy)
{
	return le64_to_cpu(sb->area[NEARCACHE_AREA_TABLE].offset) +
	       (copy * le64_to_cpu(sb->table_pages) + index) * 4096;
}

/* Read into @page the copy with the higher sequence number; returns the number of the copy. */
static int read_page(u64 index)
{
	u64 sequence;
	int copy = 1;

	read_exactly(fd, page, 4096, page_at(index, 0));
	sequence = le64_to_cpu(page->sequence);
	read_exactly(fd, page, 4096, page_at(index, 1));
	if (le64_to_cpu(page->sequence) <= sequence) {
		copy = 0;
		read_exactly(fd, page, 4096, page_at(index, 0));
	}
	return copy;
}

static void do_slot(u64 n, char **arg)
{
	u64 index = n / NEARCACHE_SLOTS_PER_PAGE;
	int copy = read_page(index);
	struct nearcache_slot *slot = &page->slot[n % NEARCACHE_SLOTS_PER_PAGE];
	struct field f = find(slot_numbers, arg[1]);

	if (!strcmp(arg[0], "get")) {
		printf("%llu\n", (unsigned long long)get(slot, f));
		return;
	}
	set(slot, f, arg[2]);
	nc_page_seal(page);
	write_exactly(fd, page, 4096, page_at(index, copy));
}

static void list_used(void)
{
	u64 n;

	for (n = 0; n < le64_to_cpu(sb->slot_count); n++) {
		struct nearcache_slot *slot;

		if (!(n % NEARCACHE_SLOTS_PER_PAGE))
			read_page(n / NEARCACHE_SLOTS_PER_PAGE);
		slot = &page->slot[n % NEARCACHE_SLOTS_PER_PAGE];
		if (le64_to_cpu(slot->origin_block) != NEARCACHE_NO_BLOCK)
			printf("%llu %llu\n", (unsigned long long)n,
			       (unsigned long long)slot->origin_block);
	}
}

/* Fill all slots of a page with scattered blocks: slot times an odd factor, modulo @blocks. No
 * block occurs twice, as @blocks is a power of two.
 */
static void fill_page(struct nearcache_page *to, u64 index, u64 blocks)
{
	u64 slots = le64_to_cpu(sb->slot_count), i, n;

	nc_page_init(to, sb->uuid, index, 1, le64_to_cpu(sb->table_epoch));
	for (i = 0; i < NEARCACHE_SLOTS_PER_PAGE; i++) {
		n = index * NEARCACHE_SLOTS_PER_PAGE + i;
		if (n >= slots)
			break;
		to->slot[i].origin_block = cpu_to_le64(n * 2654435761ULL & (blocks - 1));
		to->slot[i].valid = cpu_to_le64(~0ULL);
		to->slot[i].generation = cpu_to_le32(1);
	}
	nc_page_seal(to);
}

/* Fill all slots. Needs 64 sub-blocks per block, and a power of two of blocks in the origin. */
static int fill(void)
{
	u64 blocks = le64_to_cpu(sb->origin_size) / le32_to_cpu(sb->block_size);
	u64 pages = le64_to_cpu(sb->table_pages), first, n, i;
	struct nearcache_page *batch = aligned_room(FILL_BATCH * 4096);

	if (blocks & (blocks - 1) ||
	    le32_to_cpu(sb->block_size) != 64 * le32_to_cpu(sb->subblock_size))
		return 2;
	for (first = 0; first < pages; first += n) {
		n = pages - first < FILL_BATCH ? pages - first : FILL_BATCH;
		for (i = 0; i < n; i++)
			fill_page(&batch[i], first + i, blocks);
		write_exactly(fd, batch, n * 4096, page_at(first, 0));
	}
	return 0;
}

static void flip_page(u64 index, int copy)
{
	read_exactly(fd, page, 4096, page_at(index, copy));
	((char *)page)[100] ^= 1;
	write_exactly(fd, page, 4096, page_at(index, copy));
}

int main(int argc, char **argv)
{
	const struct field *f;

	if (argc < 3)
		return 2;
	fd = device_open(argv[1], O_RDWR | O_DIRECT);
	sb = aligned_room(4096);
	page = aligned_room(4096);
	read_exactly(fd, sb, sizeof(*sb), super_at[0]);
	if (!strcmp(argv[2], "fields"))
		for (f = numbers; f->name; f++)
			printf("%s %zu\n", f->name, f->bytes * 8);
	else if (!strcmp(argv[2], "get") && argc == 4)
		printf("%llu\n", (unsigned long long)get(sb, find(numbers, argv[3])));
	else if (!strcmp(argv[2], "set") && argc == 6)
		change_super(argv + 3, false);
	else if (!strcmp(argv[2], "flip") && argc == 5)
		change_super(argv + 3, true);
	else if (!strcmp(argv[2], "slot") && argc >= 6)
		do_slot(strtoull(argv[3], NULL, 0), argv + 4);
	else if (!strcmp(argv[2], "page") && argc == 6)
		flip_page(strtoull(argv[3], NULL, 0), atoi(argv[5]));
	else if (!strcmp(argv[2], "used"))
		list_used();
	else if (!strcmp(argv[2], "fill"))
		return fill();
	else
		return 2;
	return 0;
}
