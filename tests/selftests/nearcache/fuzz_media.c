// SPDX-License-Identifier: GPL-2.0-only
/*
 * COUNT times, change the metadata of a cache device and its witness, and start the cache.
 *
 *	fuzz_media damage|crash|forge NAME ORIGIN CACHE WITNESS COUNT SEED
 *
 * damage: damage bytes as a bad medium does, so that checksums no longer match. A cache that starts
 * must return the origin's data (sectors of blockdata, generation 1).
 * crash: as damage, but each time from the metadata that a crash left on CACHE.
 * forge: change fields and correct the checksums, so that the table may name wrong data. A cache
 * that starts must not harm the kernel, and must return the origin's data after "invalidate all".
 * In each case a refusal must name the bad field in the kernel log.
 */
#include "meta/ondisk_check.c"
#include "helper/ondisk/layout.c"
#include "image.c"
#include "mutate.c"
#include "crc32c.h"
#include "dm_ioctl.h"
#include "kernel_log.h"
#include "sector.h"

#define PIECE		(1U << 20)
#define META_START	4096U
#define WITNESS_BYTES	(NEARCACHE_WITNESS_RECORDS * NEARCACHE_WITNESS_SIZE)

static const char *const fields[] = {
	"magic", "version", "checksum", "incompat", "state", "stripe_", "label", "reserved0",
	"origin_fingerprint_type", "block_size", "_lbs", "origin_size", "slot_count", "device_size",
	"data_offset", "table_pages", "area[", "intent_region", "uuid", "sequence",
	"table_epoch", "session", "slot table needs", "logical block size", "blocks of",
};

static struct dm dm;
static const char *origin_path, *cache_path, *witness_path;
static int cache_fd, witness_fd;
static u64 origin_sectors, random_state, started, refused;
static char said[65536];
static void *buffer;
static bool crash;

/* Content before the changes: cache device up to the slots (crash: the whole device); witness. */
static unsigned char *sound, *sound_witness;
static u64 sound_bytes;
static struct nc_geometry geo;

static u64 pick(u64 below)
{
	return image_random(&random_state) % below;
}

static void wrong(const char *what)
{
	printf("input %llu: %s; the kernel said:\n%s\n", (unsigned long long)(started + refused),
	       what, said);
	exit(1);
}

static void put_to(int fd, u64 offset, const void *data)
{
	memcpy(buffer, data, NEARCACHE_PAGE_SIZE);
	write_exactly(fd, buffer, NEARCACHE_PAGE_SIZE, offset);
}

static void put(u64 offset, const void *data)
{
	put_to(cache_fd, offset, data);
}

static void load_sound(void)
{
	char why[NC_WHY_SIZE];
	unsigned char *head = aligned_room(NEARCACHE_AREA_START);

	read_exactly(witness_fd, sound_witness, WITNESS_BYTES, 0);
	read_exactly(cache_fd, head, NEARCACHE_AREA_START, 0);
	if (!nc_super_choose((void *)(head + NEARCACHE_SUPER_OFFSET_0),
			     (void *)(head + NEARCACHE_SUPER_OFFSET_1), ~0ULL, &geo, why)) {
		printf("no sound cache: %s\n", why);
		exit(1);
	}
	free(head);
	if (!sound) {
		sound_bytes = crash ? geo.device_size : geo.data_offset;
		sound = aligned_room(sound_bytes);
	}
	read_exactly(cache_fd, sound, sound_bytes, 0);
}

/* Restore the content before the changes, except bytes that nearcache does not use. */
static void store_sound(void)
{
	put(NEARCACHE_SUPER_OFFSET_0, sound + NEARCACHE_SUPER_OFFSET_0);
	put(NEARCACHE_SUPER_OFFSET_1, sound + NEARCACHE_SUPER_OFFSET_1);
	write_exactly(cache_fd, sound + NEARCACHE_AREA_START, sound_bytes - NEARCACHE_AREA_START,
		      NEARCACHE_AREA_START);
	write_exactly(witness_fd, sound_witness, WITNESS_BYTES, 0);
}

/* Damage some bytes of a unit of 4096 bytes; @from: content of the device before. */
static void damage_at(int fd, const unsigned char *from, u64 unit)
{
	unsigned char changed[NEARCACHE_PAGE_SIZE];
	u64 at = pick(sizeof(changed)), n = 1 + pick(pick(2) ? 16 : sizeof(changed)), how = pick(3);

	memcpy(changed, from + unit * sizeof(changed), sizeof(changed));
	for (; n && at < sizeof(changed); n--, at++)
		changed[at] = how == 2 ? 0 : how == 1 ? pick(256) : changed[at] ^ 1 << pick(8);
	put_to(fd, unit * sizeof(changed), changed);
}

static void damage_unit(u64 unit)
{
	damage_at(cache_fd, sound, unit);
}

/*
 * Damage one place, or both superblock copies. The format tolerates one damaged place, but not two:
 * if the record that ends a commit and a page of that commit are damaged, the older page counts.
 */
static void damage(void)
{
	u64 page = NEARCACHE_PAGE_SIZE, units = (geo.data_offset - NEARCACHE_AREA_START) / page;

	switch (pick(crash ? 12 : 8)) {
	case 8:
		damage_at(witness_fd, sound_witness, pick(2) ? 0 : pick(NEARCACHE_WITNESS_RECORDS));
		break;
	case 9:
	case 10:
	case 11:
		damage_unit(geo.intent_offset / page);
		break;
	case 0:
		damage_unit(NEARCACHE_SUPER_OFFSET_0 / page);
		damage_unit(NEARCACHE_SUPER_OFFSET_1 / page);
		break;
	case 1:
		damage_unit((pick(2) ? NEARCACHE_SUPER_OFFSET_0 : NEARCACHE_SUPER_OFFSET_1) / page);
		break;
	case 2:
		damage_unit(geo.commit_offset / page + pick(16));
		break;
	case 3:
		damage_unit(NEARCACHE_AREA_START / page + pick(units));
		break;
	default:
		damage_unit(geo.table_offset / page + pick(2 * geo.table_pages));
	}
}

static void read_image(struct image *im)
{
	const unsigned char *page = sound + geo.table_offset;
	u32 i, copy;

	memset(im, 0, sizeof(*im));
	memcpy(&im->copy[0], sound + NEARCACHE_SUPER_OFFSET_0, NEARCACHE_SUPER_SIZE);
	memcpy(&im->copy[1], sound + NEARCACHE_SUPER_OFFSET_1, NEARCACHE_SUPER_SIZE);
	im->cache_bytes = geo.device_size;
	im->origin_bytes = geo.origin_size;
	im->witness = pick(2);
	memcpy(im->intent, sound + geo.intent_offset, sizeof(im->intent));
	memcpy(im->known, sound_witness, sizeof(im->known));
	for (i = 0; i < IMAGE_WITNESS; i++)
		im->witness_at[i] = i;
	for (i = 0; i < IMAGE_RECORDS; i++) {
		im->record_at[i] = i;
		memcpy(&im->record[i], sound + geo.commit_offset + i * NEARCACHE_PAGE_SIZE,
		       NEARCACHE_PAGE_SIZE);
	}
	for (i = 0; i < IMAGE_PAGES; i++) {
		im->page_at[i] = i < IMAGE_PAGES - 1 ? i : geo.table_pages - 1;
		for (copy = 0; copy < 2; copy++)
			memcpy(&im->page[copy][i], page + NEARCACHE_PAGE_SIZE *
			       (im->page_at[i] + copy * geo.table_pages), NEARCACHE_PAGE_SIZE);
	}
}

static void put_intent(const struct image *im, const struct nearcache_super *sb, u64 offset)
{
	struct nearcache_intent page[IMAGE_INTENT];
	u32 i, n;

	put(offset, im->intent);
	for (i = IMAGE_INTENT; i < NEARCACHE_INTENT_AREA_SIZE / NEARCACHE_INTENT_SIZE; i += n) {
		for (n = 0; n < IMAGE_INTENT; n++)
			image_rest_sector(im, sb, i + n, &page[n]);
		put(offset + i * NEARCACHE_INTENT_SIZE, page);
	}
}

/* Mutate the metadata, then write each area to the offset in the mutated superblock. */
static void forge(struct image *im)
{
	const struct nearcache_super *sb;
	struct nc_geometry forged;
	char why[NC_WHY_SIZE];
	u64 index;
	u32 i;

	read_image(im);
	image_mutate(im, &random_state);
	for (i = 0; i < IMAGE_WITNESS; i++)
		put_to(witness_fd, im->witness_at[i] % NEARCACHE_WITNESS_RECORDS *
		       NEARCACHE_WITNESS_SIZE, &im->known[i]);
	put(NEARCACHE_SUPER_OFFSET_0, &im->copy[0]);
	put(NEARCACHE_SUPER_OFFSET_1, &im->copy[1]);
	sb = nc_super_choose(&im->copy[0], &im->copy[1], geo.device_size, &forged, why);
	if (!sb)
		return;
	put_intent(im, sb, forged.intent_offset);
	for (i = 0; i < IMAGE_RECORDS; i++)
		put(forged.commit_offset + im->record_at[i] % 16 * NEARCACHE_PAGE_SIZE,
		    &im->record[i]);
	for (i = 0; i < IMAGE_PAGES; i++) {
		index = im->page_at[i] % forged.table_pages;
		put(forged.table_offset + index * NEARCACHE_PAGE_SIZE, &im->page[0][i]);
		put(forged.table_offset + (forged.table_pages + index) * NEARCACHE_PAGE_SIZE,
		    &im->page[1][i]);
	}
}

/* Read one sub-block of each block, or all sub-blocks; @check: compare with the origin's data. */
static void read_device(bool check)
{
	u64 at, n, end = origin_sectors * SECTOR, step = pick(16) ? geo.block_size : PIECE;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/dm-%u", dm.minor);
	fd = device_open(path, O_RDONLY | O_DIRECT);
	for (at = 0; at < end; at += step) {
		n = end - at < PIECE ? end - at : PIECE;
		if (step != PIECE) {
			at += pick(geo.subblocks) * geo.subblock_size;
			n = geo.subblock_size;
		}
		read_exactly(fd, buffer, n, at);
		if (check && !sectors_good(buffer, at / SECTOR, n / SECTOR, 1))
			wrong("wrong data");
		at -= at % step;
	}
	close(fd);
}

static void judge_refusal(void)
{
	size_t i;

	kernel_log_end(said, sizeof(said));
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (strstr(said, fields[i]))
			return;
	wrong("refused, and no field is named");
}

/* Load and resume a table.  Returns false if refused, after checking the reason in the log. */
static bool try_start(u8 mode, bool witness)
{
	static const char *const modes[] = { "read-only", "writearound", "writethrough" };
	char line[256];
	int r;

	snprintf(line, sizeof(line), "%s %s %s%s%s", modes[mode % 3], origin_path, cache_path,
		 witness ? " 2 witness " : "", witness ? witness_path : "");
	kernel_log_begin();
	if (dm_simple(&dm, DM_DEV_CREATE))
		wrong("no dm device");
	r = dm_load(&dm, origin_sectors, "nearcache", line, false);
	if (!r)
		r = dm_simple(&dm, DM_DEV_SUSPEND);
	if (r)
		judge_refusal();
	return !r;
}

static void remove_device(void)
{
	u32 i;

	/* Retry while another process, such as udev, has the device open. */
	for (i = 0; i < 500 && dm_simple(&dm, DM_DEV_REMOVE); i++)
		usleep(10000);
	if (i == 500)
		wrong("the dm device stays");
}

static void try_damage(void)
{
	bool live;

	damage();
	live = try_start(crash ? pick(3) : 0, crash);
	if (live)
		read_device(true);
	started += live;
	refused += !live;
	remove_device();
	if (live && !crash)
		load_sound();
	else
		store_sound();
}

static void try_forged(void)
{
	static struct image im;

	forge(&im);
	if (try_start(im.mode, im.witness % 4)) {
		started++;
		read_device(false);
		if (!dm_message(&dm, "invalidate all"))
			read_device(true);
	} else {
		refused++;
	}
	remove_device();
	store_sound();
}

int main(int argc, char **argv)
{
	u64 count;

	if (argc != 8)
		return 2;
	crash = !strcmp(argv[1], "crash");
	dm_open(&dm, argv[2]);
	origin_path = argv[3];
	cache_path = argv[4];
	witness_path = argv[5];
	count = strtoull(argv[6], NULL, 0);
	random_state = strtoull(argv[7], NULL, 0);
	buffer = aligned_room(PIECE);
	sound_witness = aligned_room(WITNESS_BYTES);
	cache_fd = device_open(cache_path, O_RDWR | O_DIRECT);
	witness_fd = device_open(witness_path, O_RDWR | O_DIRECT);
	load_sound();
	origin_sectors = geo.origin_size / SECTOR;
	while (count--)
		if (!strcmp(argv[1], "forge"))
			try_forged();
		else
			try_damage();
	printf("%s: %llu started, %llu refused\n", argv[1], (unsigned long long)started,
	       (unsigned long long)refused);
	return 0;
}
