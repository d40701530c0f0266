// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmod/stage/ring.c: places and records agree with a list of what was appended, nothing is written
 * over what the ring still needs, and the descriptors of a ring restore it.
 */
#include <endian.h>
#include <stdlib.h>

#include "helper/unit.h"
#include "stage/ring.h"

#define RECORDS_MAX	2048U
#define STEPS		30000U

static struct nc_record records[RECORDS_MAX], restored[RECORDS_MAX];
static struct nc_ring ring;
/* Longest write, in blocks. */
static u32 longest;

static u32 below(u32 n)
{
	return rand() % n;
}

static void start_ring(u64 blocks, u32 records_max, u64 place)
{
	struct nc_cursor at = { .place = place, .number = 7, .epoch = 3 };

	ring = (struct nc_ring) {
		.records = records, .records_max = records_max, .blocks = blocks,
		.epoch_entries_max = records_max / 4, .epoch_blocks_max = blocks / 8,
	};
	longest = blocks / 16 > 256 ? 256 : blocks / 16;
	nc_ring_start(&ring, &at);
	assert_int_equal(ring.last.number, 7);
	assert_int_equal(ring.last.epoch, 3);
	assert_int_equal(ring.head, place + 1);
}

/* Walk over all records: places and cursors agree, and the entries of a descriptor fit in it. */
static void assert_ring(void)
{
	struct nc_cursor at = ring.tail, next;
	u64 number;

	assert_true(ring.head <= ring.usable_tail + ring.blocks);
	assert_true(ring.head_record <= ring.tail.record + ring.records_max);
	assert_true(ring.tail.record <= ring.marked.record &&
		    ring.marked.record <= ring.committed.record &&
		    ring.committed.record <= ring.open.record &&
		    ring.open.record <= ring.last.record && ring.last.record < ring.head_record);
	while (at.record != ring.last.record) {
		next = at;
		nc_ring_next_desc(&ring, &next);
		assert_true(next.record - at.record - 1 <= NEARCACHE_STAGE_DESC_ENTRIES);
		assert_true(next.record - at.record > 1);
		at = next;
		if (at.record == ring.open.record)
			assert_memory_equal(&at, &ring.open, sizeof(at));
	}
	assert_memory_equal(&at, &ring.last, sizeof(at));
	assert_int_equal(ring.head_record - at.record - 1, ring.desc_entries);
	for (number = at.record + 1, at.place++; number < ring.head_record; number++)
		at.place += nearcache_stage_blocks(nc_ring_record(&ring, number)->kind,
						   nc_ring_record(&ring, number)->sectors);
	assert_int_equal(at.place, ring.head);
}

/* Append a write, and compare it with the last record.  Return: was there room? */
static bool append(u8 kind, u64 sector, u32 sectors)
{
	u64 before = ring.head, record = ring.head_record, place, blocks, offset;
	struct nc_ring old = ring;
	enum nc_append r = nc_ring_append(&ring, kind, sector, sectors, &place);
	struct nc_record *last;

	if (r != NC_APPENDED) {
		assert_memory_equal(&old, &ring, sizeof(ring));
		if (r == NC_EPOCH_FULL)
			assert_true(ring.epoch_entries);
		return false;
	}
	last = nc_ring_record(&ring, ring.head_record - 1);
	blocks = nearcache_stage_blocks(kind, sectors);
	offset = place % ring.blocks;
	assert_true(place >= before && ring.head == place + blocks);
	assert_true(offset + blocks <= ring.blocks);
	assert_int_equal(last->kind, kind);
	assert_int_equal(last->sector + last->sectors, sector + sectors);
	if (ring.head_record == record) {
		/* It made the entry before longer. */
		assert_int_equal(place, before);
		assert_true(last->sectors > sectors && last->sectors <= NEARCACHE_STAGE_WRITE_MAX);
	} else {
		assert_int_equal(last->sector, sector);
	}
	/* Room for the next descriptor is left. */
	assert_true(nc_ring_free(&ring) >= 1 && nc_ring_free_records(&ring) >= 1);
	assert_true(ring.epoch_entries <= ring.epoch_entries_max);
	return true;
}

/* A descriptor, as a commit makes it of the records behind @at. */
static void make_desc(const struct nc_cursor *at, struct nearcache_stage_desc *desc)
{
	struct nc_record *record = nc_ring_record(&ring, at->record);
	u64 number = at->record + 1;
	u32 count = 0;

	memset(desc, 0, sizeof(*desc));
	if (record->flags & NC_RECORD_COMMIT) {
		desc->flags = htole32(NEARCACHE_STAGE_COMMIT);
		desc->time = htole64(record->sector);
	}
	for (; number < ring.head_record; number++) {
		record = nc_ring_record(&ring, number);
		if (record->kind == NC_RECORD_DESC)
			break;
		desc->entry[count].sector = htole64(record->sector);
		desc->entry[count].sectors = htole32(record->sectors);
		desc->entry[count++].kind = record->kind;
	}
	desc->count = htole32(count);
}

/* The descriptors from the tail to the newest commit restore the ring. */
static void assert_restored(void)
{
	struct nc_ring copy = ring;
	struct nc_cursor at = ring.tail, next;
	struct nearcache_stage_desc desc;
	u64 number, shift = ring.tail.record;
	struct nc_record *a, *b;

	copy.records = restored;
	nc_ring_start(&copy, &at);
	for (next = copy.last; at.record != ring.open.record; nc_ring_next_desc(&ring, &at)) {
		assert_int_equal(next.place, at.place);
		assert_int_equal(next.number, at.number);
		assert_int_equal(next.epoch, at.epoch);
		make_desc(&at, &desc);
		assert_true(nc_ring_restore(&copy, &next, &desc));
	}
	assert_int_equal(copy.last.place, ring.open.place);
	assert_int_equal(copy.last.number, ring.open.number);
	assert_int_equal(copy.last.epoch, ring.open.epoch);
	assert_int_equal(copy.last.record + shift, ring.open.record);
	assert_int_equal(copy.epoch_entries, 0);
	for (number = 0; number < copy.head_record; number++) {
		a = nc_ring_record(&copy, number);
		b = nc_ring_record(&ring, number + shift);
		assert_int_equal(a->kind, b->kind);
		/* The record of the open descriptor may have no commit yet. */
		assert_int_equal(a->flags & NC_RECORD_COMMIT, b->flags & NC_RECORD_COMMIT);
		assert_int_equal(a->sector, b->sector);
		assert_true(a->kind == NC_RECORD_DESC || a->sectors == b->sectors);
	}
}

/* Close and commit the open epoch, mark up to @marks epochs, and move the tail up to @tails. */
static void make_room(u32 marks, u32 tails)
{
	if (ring.epoch_entries) {
		assert_true(nc_ring_free(&ring) >= 1 && nc_ring_free_records(&ring) >= 1);
		nc_ring_close(&ring, 5000000000ULL, 1000000000ULL);
		assert_ring();
		assert_restored();
		ring.committed = ring.open;
	}
	while (marks-- && ring.marked.record != ring.committed.record)
		nc_ring_next_epoch(&ring, &ring.marked);
	while (tails-- && ring.tail.record != ring.marked.record)
		nc_ring_next_epoch(&ring, &ring.tail);
	ring.usable_tail = ring.tail.place;
	assert_ring();
}

static void random_writes(u64 blocks, u32 records_max, u64 place)
{
	u32 i, sectors, tries;
	u64 sector = 0;
	u8 kind;

	start_ring(blocks, records_max, place);
	for (i = 0; i < STEPS; i++) {
		kind = below(8) ? NEARCACHE_STAGE_DATA : NEARCACHE_STAGE_ZEROES + below(2);
		sectors = 1 + below(below(2) ? 8 : longest * 8);
		if (below(2))
			sectors = (sectors + 7) / 8 * 8;
		if (below(2))
			sector = below(1 << 20);
		for (tries = 0; !append(kind, sector, sectors); tries++) {
			make_room(below(4), below(4));
			/* All can be freed in the end, and then there is room. */
			if (tries > 40)
				make_room(~0U, ~0U);
			assert_true(tries < 42);
		}
		sector += sectors;
		if (!below(64))
			make_room(below(2), below(3));
		if (!below(16))
			assert_ring();
	}
	assert_true(ring.head > 3 * blocks);
}

static void random_rings(void **state)
{
	(void)state;
	random_writes(4096, 2048, 0);
	random_writes(4096, 256, 4095);
	random_writes(100, 2048, 99);
	random_writes(101, 64, (1ULL << 40) + 3);
	random_writes(5000, 512, 1);
}

/* The first entries of a descriptor that are full leave room for a skip. */
static void full_desc(void **state)
{
	u32 i;

	(void)state;
	start_ring(4096, 2048, 0);
	for (i = 0; i < NEARCACHE_STAGE_DESC_ENTRIES - 1; i++)
		assert_true(append(NEARCACHE_STAGE_ZEROES, i, 1));
	assert_int_equal(ring.last.number, 7);
	assert_true(append(NEARCACHE_STAGE_ZEROES, i, 1));
	assert_int_equal(ring.last.number, 8);
	assert_int_equal(ring.last.place, NEARCACHE_STAGE_DESC_ENTRIES);
	assert_int_equal(ring.desc_entries, 1);
	/* A write that follows makes the entry longer; not beyond the longest, nor another kind. */
	assert_true(append(NEARCACHE_STAGE_DATA, 1000, 2040));
	assert_true(append(NEARCACHE_STAGE_DATA, 3040, 8));
	assert_int_equal(ring.desc_entries, 2);
	assert_true(append(NEARCACHE_STAGE_DATA, 3048, 8));
	assert_true(append(NEARCACHE_STAGE_ZEROES, 3056, 8));
	assert_true(append(NEARCACHE_STAGE_ZEROES, 3064, 8));
	assert_int_equal(ring.desc_entries, 5);
	/* Nor behind an entry that ends within a block. */
	assert_true(append(NEARCACHE_STAGE_DATA, 5000, 3));
	assert_true(append(NEARCACHE_STAGE_DATA, 5003, 5));
	assert_int_equal(ring.desc_entries, 7);
}

/* Data that would wrap around starts at the ring's start, behind a skip. */
static void skips(void **state)
{
	(void)state;
	start_ring(100, 256, 96);
	assert_true(append(NEARCACHE_STAGE_DATA, 0, 8));
	assert_int_equal(ring.head, 98);
	assert_true(append(NEARCACHE_STAGE_DATA, 8, 24));
	assert_int_equal(ring.head, 103);
	assert_int_equal(nc_ring_record(&ring, ring.head_record - 2)->kind, NEARCACHE_STAGE_SKIP);
	assert_int_equal(nc_ring_record(&ring, ring.head_record - 2)->sectors, 16);
	assert_ring();
	make_room(1, 0);
	assert_ring();
}

/* A ring that uses all its records can be closed, and is restored. */
static void all_records(void **state)
{
	u32 i;

	(void)state;
	start_ring(4096, RECORDS_MAX, 4095 - (RECORDS_MAX - 3));
	for (i = 0; i < 14 * 127; i++) {
		assert_true(append(NEARCACHE_STAGE_ZEROES, 2 * i, 1));
		if (i % 127 == 126)
			make_room(0, 0);
	}
	for (i = 0; i < NEARCACHE_STAGE_DESC_ENTRIES - 1; i++)
		assert_true(append(NEARCACHE_STAGE_ZEROES, 2 * i, 1));
	/* It needs a descriptor, the skip of a block, and an entry. */
	assert_int_equal(nc_ring_free_records(&ring), 4);
	assert_true(append(NEARCACHE_STAGE_DATA, 8192, 16));
	assert_int_equal(nc_ring_free_records(&ring), 1);
	assert_false(append(NEARCACHE_STAGE_DATA, 0, 1));
	make_room(0, 0);
	assert_int_equal(nc_ring_free_records(&ring), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_rings),
		cmocka_unit_test(full_desc),
		cmocka_unit_test(skips),
		cmocka_unit_test(all_records),
	};

	srand(1);
	return RUN(tests);
}
