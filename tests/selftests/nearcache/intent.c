// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show and change the write sessions that a cache device and its witness have recorded.
 *
 *	intent CACHE witness WITNESS N		make record N of the witness a new record of CACHE
 *	intent CACHE said WITNESS N		print "SESSION PREVIOUS STATE" of record N
 *	intent CACHE say WITNESS N SESSION PREVIOUS STATE	set three fields, seal record N
 *	intent CACHE marks	print the write intent: a line per marked region, a line "ends" if
 *				the ends are marked, a line "damaged SECTOR" per damaged sector
 *	intent CACHE flip SECTOR		flip one bit of a sector of the write intent
 *	intent CACHE empty SESSION		write the write intent with which SESSION begins
 */
#include "meta/ondisk_check.c"
#include "crc32c.h"
#include "device.h"

static int cache;
static struct nearcache_super *sb;

static u64 area_at(void)
{
	return le64_to_cpu(sb->area[NEARCACHE_AREA_INTENT].offset);
}

static void marks(void)
{
	struct nearcache_intent *area = aligned_room(NEARCACHE_INTENT_AREA_SIZE);
	u32 i, n;

	read_exactly(cache, area, NEARCACHE_INTENT_AREA_SIZE, area_at());
	for (i = 0; i < NEARCACHE_INTENT_AREA_SIZE / NEARCACHE_INTENT_SIZE; i++) {
		if (!nc_intent_sector_check(&area[i], sb->uuid, i) ||
		    area[i].session != sb->session) {
			printf("damaged %u\n", i);
			continue;
		}
		for (n = 0; n < NEARCACHE_INTENT_BITS; n++)
			if (area[i].bits[n / 8] & 1U << n % 8)
				printf("%u\n", i * NEARCACHE_INTENT_BITS + n);
		if (area[i].flags)
			printf("ends\n");
	}
}

static void flip(u64 sector)
{
	unsigned char *page = aligned_room(4096);
	u64 at = sector * NEARCACHE_INTENT_SIZE;

	read_exactly(cache, page, 4096, area_at() + at / 4096 * 4096);
	page[at % 4096 + 300] ^= 1;
	write_exactly(cache, page, 4096, area_at() + at / 4096 * 4096);
}

static void empty(u64 session)
{
	struct nearcache_intent *area = aligned_room(NEARCACHE_INTENT_AREA_SIZE);
	u32 i;

	for (i = 0; i < NEARCACHE_INTENT_AREA_SIZE / NEARCACHE_INTENT_SIZE; i++) {
		nc_intent_sector_init(&area[i], sb->uuid, session, i);
		nc_intent_sector_seal(&area[i]);
	}
	write_exactly(cache, area, NEARCACHE_INTENT_AREA_SIZE, area_at());
}

static int witness(const char *verb, char **arg)
{
	struct nearcache_witness *record = aligned_room(sizeof(*record));
	int fd = device_open(arg[0], O_RDWR | O_DIRECT);
	u64 at = strtoull(arg[1], NULL, 0) * NEARCACHE_WITNESS_SIZE;

	read_exactly(fd, record, sizeof(*record), at);
	if (!strcmp(verb, "said")) {
		if (!nc_witness_check(record, sb->uuid))
			return 1;
		printf("%llu %llu %u\n", (unsigned long long)le64_to_cpu(record->session),
		       (unsigned long long)le64_to_cpu(record->previous),
		       le32_to_cpu(record->state));
		return 0;
	}
	nc_witness_init(record, sb->uuid);
	if (!strcmp(verb, "say")) {
		record->session = cpu_to_le64(strtoull(arg[2], NULL, 0));
		record->previous = cpu_to_le64(strtoull(arg[3], NULL, 0));
		record->state = cpu_to_le32(strtoul(arg[4], NULL, 0));
	}
	nc_witness_seal(record);
	write_exactly(fd, record, sizeof(*record), at);
	return 0;
}

/* Read the superblock copy with the higher sequence number; validity is not checked. */
static void read_super(void)
{
	struct nearcache_super *other = aligned_room(4096);

	sb = aligned_room(4096);
	read_exactly(cache, sb, 4096, NEARCACHE_SUPER_OFFSET_0);
	read_exactly(cache, other, 4096, NEARCACHE_SUPER_OFFSET_1);
	if (le64_to_cpu(other->sequence) > le64_to_cpu(sb->sequence))
		sb = other;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	cache = device_open(argv[1], O_RDWR | O_DIRECT);
	read_super();
	if (!strcmp(argv[2], "marks"))
		marks();
	else if (!strcmp(argv[2], "flip") && argc == 4)
		flip(strtoull(argv[3], NULL, 0));
	else if (!strcmp(argv[2], "empty") && argc == 4)
		empty(strtoull(argv[3], NULL, 0));
	else if ((!strcmp(argv[2], "witness") || !strcmp(argv[2], "said")) && argc == 5)
		return witness(argv[2], argv + 3);
	else if (!strcmp(argv[2], "say") && argc == 8)
		return witness(argv[2], argv + 3);
	else
		return 2;
	return 0;
}
