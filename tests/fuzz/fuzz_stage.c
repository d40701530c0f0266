// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the recovery of a stage.  An input makes a valid log, changes fields of it, corrects the
 * checksums or does not, and lets an I/O fail.  Recovery must refuse the log with a message, or make
 * a consistent ring, whose overlay map shows of each sector the newest entry.  A second start finds
 * the same.
 */
#include <stdarg.h>
#include <stdio.h>

#include <isa-l/crc.h>

#include "count.h"
#include "stage/stage.h"

#define HOLDS(what)	((what) ? (void)0 : bug(#what))
#define RING_BLOCKS	4096U
#define DEVICE_BLOCKS	(NEARCACHE_STAGE_RING_OFFSET / NEARCACHE_STAGE_BLOCK + RING_BLOCKS)
#define VOLUME		((4ULL << 20) >> SECTOR_SHIFT)
#define GENERATION	2
#define RECORDS		1024U

/* Blocks of the log that are not zeros; of the origin, all are zeros. */
static u8 *device[DEVICE_BLOCKS];
static struct block_device log_bdev, origin_bdev = { VOLUME << SECTOR_SHIFT };
/* Descriptors of the image were changed. */
static bool damaged;
/* Number of I/Os until one fails; 0: none. */
static u32 fails_in;
/* Block of the log that cannot be read; 0: all can. */
static u64 unreadable;
static u32 messages;

static const u8 *input;
static size_t input_left;
static u64 random_state;

static void __attribute__((noreturn)) bug(const char *what)
{
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/* The next @bytes bytes of the input; behind its end, random ones that depend on all of it. */
static u64 take(u32 bytes)
{
	u64 n = 0;

	for (; bytes; bytes--) {
		random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
		n = n << 8 | (input_left ? *input++ : random_state >> 56);
		input_left -= !!input_left;
	}
	return n;
}

void fuzz_log(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	HOLDS(vsnprintf(text, sizeof(text), format, args) < sizeof(text));
	va_end(args);
	messages++;
}

u32 crc32c(u32 crc, const void *data, size_t bytes)
{
	return crc32_iscsi((u8 *)data, bytes, crc);
}

static u8 *device_block(u64 block)
{
	HOLDS(block < DEVICE_BLOCKS);
	if (!device[block])
		device[block] = calloc(1, NEARCACHE_STAGE_BLOCK);
	return device[block];
}

int nc_dm_io(struct dm_io_request *request, struct dm_io_region *region)
{
	u8 *memory = request->mem.ptr.vma;
	bool write = request->bi_opf & REQ_OP_WRITE;
	u64 sector = region->sector, end = sector + region->count;

	HOLDS(end <= region->bdev->bytes >> SECTOR_SHIFT && region->count);
	if (fails_in && !--fails_in)
		return -EIO;
	if (!write && unreadable && region->bdev == &log_bdev && sector / 8 <= unreadable &&
	    unreadable <= (end - 1) / 8)
		return -EIO;
	for (; sector < end; sector++, memory += 512) {
		u8 *block;

		if (region->bdev == &origin_bdev) {
			HOLDS(!write);
			memset(memory, 0, 512);
			continue;
		}
		if (!write && !device[sector / 8]) {
			memset(memory, 0, 512);
			continue;
		}
		block = device_block(sector / 8) + sector % 8 * 512;
		memcpy(write ? block : memory, write ? memory : block, 512);
	}
	return 0;
}

bool nc_stage_commit_rewrite(struct nc_stage *s, const struct nearcache_stage_desc *desc, u64 place)
{
	(void)desc;
	HOLDS(place - s->ring.tail.place < s->ring.blocks);
	return !fails_in || --fails_in;
}

static void super_sum(struct nearcache_stage_super *sb)
{
	sb->checksum = 0;
	sb->checksum = cpu_to_le32(~crc32c(~0U, sb, sizeof(*sb)));
}

/* Add an entry of the input's choice to @desc.  Return: the place behind it. */
static u64 make_entry(struct nearcache_stage_desc *desc, u64 place)
{
	u32 choice = take(1), count = le32_to_cpu(desc->count), sectors;
	struct nearcache_stage_entry *entry = &desc->entry[count];
	u64 rest = RING_BLOCKS - place % RING_BLOCKS;

	entry->kind = choice & 3 ? NEARCACHE_STAGE_DATA : NEARCACHE_STAGE_ZEROES + (choice >> 2 & 1);
	sectors = choice & 8 ? 1 + take(1) : 8 * (1 + take(1));
	if (entry->kind == NEARCACHE_STAGE_DATA && rest < nearcache_stage_blocks(entry->kind, sectors)) {
		entry->kind = NEARCACHE_STAGE_SKIP;
		sectors = rest * 8;
	} else {
		entry->sector = cpu_to_le64(choice < 240 ? take(2) % (VOLUME - sectors) :
					    VOLUME - sectors + take(1) % 3);
	}
	entry->sectors = cpu_to_le32(sectors);
	desc->count = cpu_to_le32(count + 1);
	return place + nearcache_stage_blocks(entry->kind, sectors);
}

/* Change a number of @bytes bytes: a near value, or any other one. */
static void mutate(u8 *at, u32 bytes)
{
	u64 value = 0;
	u32 how = take(1);

	memcpy(&value, at, bytes);
	value = how < 100 ? value + (int)how - 50 : how < 200 ? take(bytes) : ~0ULL << (how - 200);
	memcpy(at, &value, bytes);
}

/* The checksum of data that is zeros. */
static void data_sum(struct nearcache_stage_desc *desc)
{
	static const u8 zeros[NEARCACHE_STAGE_BLOCK];
	u64 place = le64_to_cpu(desc->place) + 1, sum = 0, last;
	u32 i, bytes, all = 0;

	for (i = 0; i < le32_to_cpu(desc->count); i++) {
		last = place + nearcache_stage_blocks(desc->entry[i].kind,
						      le32_to_cpu(desc->entry[i].sectors));
		bytes = le32_to_cpu(desc->entry[i].sectors) * 512;
		if (desc->entry[i].kind == NEARCACHE_STAGE_DATA)
			all += bytes;
		for (; place < last; place++, bytes -= NEARCACHE_STAGE_BLOCK)
			if (desc->entry[i].kind == NEARCACHE_STAGE_DATA)
				sum += (2 * place + 1) *
				       (~crc32c(~0U, zeros, min(bytes, NEARCACHE_STAGE_BLOCK)) & U32_MAX);
	}
	desc->data_checksum = cpu_to_le64(sum);
	/* A checked commit as long as this is refused when it is the last one. */
	damaged |= le32_to_cpu(desc->flags) & NEARCACHE_STAGE_CHECKED && all > NEARCACHE_STAGE_CHECKED_MAX;
}

/* Write a chain of descriptors from the tail on, as the input says.  Return: number of epochs. */
static u32 make_chain(struct nearcache_stage_super *sb)
{
	u64 place = le64_to_cpu(sb->tail), tail = place, number = le64_to_cpu(sb->tail_number);
	u64 epoch = le64_to_cpu(sb->tail_epoch);
	u32 seed = nc_stage_seed(sb), descs = take(1) % 24, entries, how;
	struct nearcache_stage_desc *desc;

	for (; descs && place - tail < RING_BLOCKS; descs--) {
		desc = (void *)device_block(NEARCACHE_STAGE_RING_OFFSET / NEARCACHE_STAGE_BLOCK +
					    place % RING_BLOCKS);
		memset(desc, 0, sizeof(*desc));
		how = take(1);
		desc->magic = cpu_to_le32(NEARCACHE_STAGE_DESC_MAGIC);
		desc->number = cpu_to_le64(number++);
		desc->epoch = cpu_to_le64(epoch);
		desc->place = cpu_to_le64(place++);
		desc->generation = cpu_to_le64(le64_to_cpu(sb->generation) -
				(le64_to_cpu(desc->number) < le64_to_cpu(sb->start_number)));
		if (how & 1) {
			desc->flags = cpu_to_le32(NEARCACHE_STAGE_COMMIT);
			desc->time = cpu_to_le64(epoch++);
		}
		if ((how & 7) == 3)
			desc->flags |= cpu_to_le32(NEARCACHE_STAGE_CHECKED);
		for (entries = how >> 4 ? how >> 4 : 1 + take(1) % 252; entries; entries--)
			place = make_entry(desc, place);
		data_sum(desc);
		if ((how & 8) && take(1) > 128) {
			mutate((u8 *)desc + take(2) % 96, 1 << take(1) % 4);
			damaged = true;
		}
		if (!(how & 8) || take(1) > 64)
			desc->checksum = nc_stage_desc_checksum(seed, desc);
	}
	return epoch - le64_to_cpu(sb->tail_epoch);
}

static void make_image(void)
{
	struct nearcache_stage_super *sb = (void *)device_block(1);
	u32 epochs, how = take(1);

	memcpy(sb->magic, NEARCACHE_STAGE_MAGIC, sizeof(sb->magic));
	sb->version = cpu_to_le32(NEARCACHE_STAGE_VERSION);
	sb->sequence = cpu_to_le64(5);
	sb->generation = cpu_to_le64(GENERATION);
	sb->volume_sectors = cpu_to_le64(VOLUME);
	sb->ring_blocks = cpu_to_le64(RING_BLOCKS);
	sb->salt = cpu_to_le64(7);
	sb->tail = cpu_to_le64(take(2));
	sb->tail_number = cpu_to_le64(1 + take(1));
	sb->tail_epoch = cpu_to_le64(1 + take(1));
	sb->start_number = cpu_to_le64(le64_to_cpu(sb->tail_number) + take(1) % 8);
	epochs = make_chain(sb);
	sb->drained_epoch = cpu_to_le64(le64_to_cpu(sb->tail_epoch) - 1);
	sb->drained_number = cpu_to_le64(le64_to_cpu(sb->tail_number) - 1);
	if (how & 1) {
		sb->drained_epoch = cpu_to_le64(le64_to_cpu(sb->drained_epoch) + take(1) % (epochs + 1));
		sb->drained_number = cpu_to_le64(le64_to_cpu(sb->drained_number) + take(1) % 24);
	}
	sb->committed_number = cpu_to_le64(how & 16 ? take(1) : le64_to_cpu(sb->drained_number));
	if (how & 2)
		mutate((u8 *)sb + 8 + take(1), 1 << take(1) % 4);
	super_sum(sb);
	if (how & 4)
		mutate((u8 *)sb + take(2) % 4080, 8);
	if (how & 8) {
		memcpy(device_block(128), sb, sizeof(*sb));
		sb = (void *)device_block(128);
		mutate((u8 *)&sb->sequence, 8);
		mutate((u8 *)&sb->tail + take(1) % 64, 1 << take(1) % 4);
		super_sum(sb);
	}
}

/* Places, cursors and records of the ring agree, and nothing is outside of the ring. */
static void check_ring(const struct nc_ring *r)
{
	struct nc_cursor at = r->tail;
	bool marked = false;

	HOLDS(r->head_record - r->tail.record <= r->records_max);
	HOLDS(r->head - r->tail.place <= r->blocks && r->usable_tail == r->tail.place);
	HOLDS(r->open.record == r->last.record && r->committed.record == r->last.record);
	HOLDS(r->head_record == r->last.record + 1 && r->head == r->last.place + 1);
	for (;; nc_ring_next_desc(r, &at)) {
		marked |= !memcmp(&at, &r->marked, sizeof(at));
		HOLDS(at.record <= r->last.record);
		if (at.record == r->last.record)
			break;
	}
	HOLDS(marked && !memcmp(&at, &r->last, sizeof(at)));
}

/* The overlay map has, of each sector, the last entry in the ring. */
static void check_overlay(struct nc_stage *s)
{
	static u64 newest[VOLUME];
	u64 number = s->ring.tail.record, place = s->ring.tail.place, n = 0, sector;
	const struct nc_record *record;
	const struct nc_extent *x;

	HOLDS(!s->overlay.overflow);
	memset(newest, 0, sizeof(newest));
	for (; number < s->ring.head_record; number++) {
		record = nc_ring_record(&s->ring, number);
		if (record->kind == NC_RECORD_DESC) {
			place++;
			continue;
		}
		for (n = 0; record->kind != NEARCACHE_STAGE_SKIP && n < record->sectors; n++)
			newest[record->sector + n] = nc_place_sector(place) + 1 +
				(record->kind == NEARCACHE_STAGE_DATA ? n : 0);
		place += nearcache_stage_blocks(record->kind, record->sectors);
	}
	x = nc_overlay_find(&s->overlay, 0);
	for (sector = 0; sector < VOLUME; sector++) {
		if (x && sector >= nc_extent_end(x))
			x = nc_extent_next(x);
		if (!newest[sector]) {
			HOLDS(!x || x->sector > sector);
			continue;
		}
		HOLDS(x && x->sector <= sector);
		HOLDS(newest[sector] == x->at + 1 +
		      (x->kind == NEARCACHE_STAGE_DATA ? sector - x->sector : 0));
	}
}

static int start(struct nc_stage *s, struct dm_target *ti)
{
	static struct dm_dev log_dev = { &log_bdev, "log" }, origin_dev = { &origin_bdev, "origin" };
	char *error = NULL;
	int r;

	*ti = (struct dm_target) { .len = VOLUME };
	*s = (struct nc_stage) { .ti = ti, .log = &log_dev, .origin = &origin_dev };
	s->keep_retained = take(1) & 1;
	s->drop_unreadable = take(1) & 1;
	HOLDS(!nc_stage_super_init(s));
	s->drain.block = malloc(NEARCACHE_STAGE_BLOCK);
	/* As the constructor does. */
	r = nc_stage_super_read(s, &error);
	HOLDS(!r == !error);
	if (r || le64_to_cpu(s->super.block->volume_sectors) > VOLUME)
		return r ? r : -EINVAL;
	s->ring.blocks = le64_to_cpu(s->super.block->ring_blocks);
	s->ring.records_max = RECORDS;
	s->ring.epoch_entries_max = RECORDS / 4;
	s->ring.records = malloc(RECORDS * sizeof(*s->ring.records));
	HOLDS(!nc_overlay_init(&s->overlay, 2 * RECORDS, nc_place_sector(s->ring.blocks)));
	messages = 0;
	r = nc_stage_recover(s);
	HOLDS(messages);
	if (r)
		return r;
	check_ring(&s->ring);
	check_overlay(s);
	return 0;
}

static void stop(struct nc_stage *s)
{
	nc_overlay_destroy(&s->overlay);
	free(s->ring.records);
	free(s->drain.block);
	nc_stage_super_destroy(s);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct dm_target ti;
	struct nc_stage s;
	u64 epoch, marked;
	u32 i;
	int r;

	input = data;
	input_left = bytes;
	random_state = crc32c(~0U, data, bytes);
	log_bdev.bytes = DEVICE_BLOCKS * (u64)NEARCACHE_STAGE_BLOCK;
	fails_in = take(1) & 3 ? 0 : 1 + take(1) % 16;
	damaged = false;
	make_image();
	if (!(take(1) & 3))
		unreadable = NEARCACHE_STAGE_RING_OFFSET / NEARCACHE_STAGE_BLOCK + take(1);
	r = start(&s, &ti);
	fuzz_count(r ? "logs_refused" : "logs_recovered", 1);
	epoch = s.ring.committed.epoch;
	marked = s.ring.marked.epoch;
	/* With a forged generation, the new one may be that of descriptors which the start dropped. */
	damaged |= s.generation != GENERATION + 1;
	stop(&s);
	fails_in = 0;
	unreadable = 0;
	if (!r) {
		/* A commit that is the last one now may have a wrong checksum of its data. */
		HOLDS(!start(&s, &ti) || damaged);
		HOLDS(damaged || (s.ring.committed.epoch == epoch && s.ring.marked.epoch == marked));
		stop(&s);
	}
	for (i = 0; i < DEVICE_BLOCKS; i++) {
		free(device[i]);
		device[i] = NULL;
	}
	return 0;
}
