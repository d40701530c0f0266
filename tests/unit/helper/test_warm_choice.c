// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster/warm_choice.c: the peer at which each unit is read, and the order of the units. And the check
 * of a peer's map in cluster/peer_map.c.
 */
#include <endian.h>
#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>

#include "block/parallel_devices.h"
#include "cluster/warm_choice.h"
#include "lib/error.h"
#include "nearcache_map.h"
#include "unit.h"

#define EXTENT	65536ULL
#define UNIT	16384ULL
#define SIZE	(4 * EXTENT)
#define UNITS	(SIZE / UNIT)
#define ALL(heat)	((heat) << NEARCACHE_MAP_HEAT_SHIFT | NEARCACHE_MAP_ALL)

/* No map is read from a device. */
void many_run(struct many_job *job, size_t count, int (*run)(const struct many_job *job))
{
	(void)job;
	(void)count;
	(void)run;
}

static unsigned char bytes[3][UNITS];
static struct peer_map map[3];
static struct homes homes;
static struct warming warming;

/* Node a is here; b and c are up, with maps of nothing. */
static void begin(size_t room)
{
	char line[] = "253:1 253:2 128 1 a 3 a 10 - b 10 8:1 c 10 8:2";
	char status[] = "1 3 6 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
	struct dm_device dev = { .name = "vol", .size = SIZE, .table = line, .status = status };
	size_t i;

	memset(bytes, 0, sizeof(bytes));
	for (i = 1; i < 3; i++)
		map[i] = (struct peer_map){ .unit = UNIT, .byte = bytes[i] };
	assert_int_equal(homes_take(&homes, &dev), 0);
	warming = (struct warming){ .block = UNIT, .room = room * UNIT };
}

static void choose(const struct range *missing, size_t count)
{
	assert_int_equal(warm_choose(&homes, map, missing, count, &warming), 0);
}

/* Fail unless the pieces at the node are these: START LENGTH..., in units. */
static void reads(size_t node, const char *wanted)
{
	const struct warm_source *source = &warming.source[node];
	char text[256] = "";
	size_t i;

	for (i = 0; i < source->pieces; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%llu %llu", i ? " " : "",
			 (unsigned long long)(source->piece[i].start / UNIT),
			 (unsigned long long)(source->piece[i].length / UNIT));
	assert_string_equal(text, wanted);
}

static void end(uint64_t absent, uint64_t beyond)
{
	assert_int_equal(warming.absent, absent * UNIT);
	assert_int_equal(warming.beyond, beyond * UNIT);
	assert_int_equal(warming.alone, 0);
	warm_free(&warming);
	homes_free(&homes);
}

static const struct range whole = { 0, SIZE };

static void hottest_first(void **state)
{
	(void)state;
	begin(100);
	bytes[1][2] = bytes[1][3] = bytes[1][9] = ALL(3);
	bytes[1][5] = ALL(15);
	bytes[2][7] = ALL(0);
	choose(&whole, 1);
	reads(1, "5 1 2 2 9 1");
	reads(2, "7 1");
	end(UNITS - 5, 0);
}

static void little_room(void **state)
{
	(void)state;
	begin(3);
	bytes[1][0] = bytes[1][1] = bytes[1][2] = ALL(3);
	bytes[2][8] = bytes[2][9] = ALL(4);
	choose(&whole, 1);
	reads(1, "0 1");
	reads(2, "8 2");
	end(UNITS - 5, 2);
}

/* Both have it: the first home. One has a part: only if it may ask the origin. */
static void which_peer(void **state)
{
	size_t first = 1, other = 2;

	(void)state;
	begin(100);
	bytes[1][0] = bytes[2][0] = ALL(1);
	choose(&whole, 1);
	if (warming.source[2].pieces) {
		first = 2;
		other = 1;
	}
	reads(first, "0 1");
	reads(other, "");
	end(UNITS - 1, 0);
	begin(100);
	bytes[first][0] = 14;
	bytes[other][0] = ALL(0);
	bytes[first][2] = 14;
	choose(&whole, 1);
	reads(first, "");
	reads(other, "0 1");
	end(UNITS - 1, 0);
	begin(100);
	warming.ask = true;
	bytes[first][0] = 13;
	bytes[other][0] = 14;
	choose(&whole, 1);
	reads(first, "");
	reads(other, "0 1");
	end(UNITS - 1, 0);
}

/* A peer without a map is asked last, in order, and only if it may ask the origin. */
static void without_map(void **state)
{
	bool ask;

	(void)state;
	for (ask = false;; ask = true) {
		begin(100);
		warming.ask = ask;
		map[1].unit = map[2].unit = 0;
		choose(&whole, 1);
		assert_int_equal(warming.bytes, ask ? SIZE : 0);
		assert_false(warm_is_offered(&homes, map, &whole, 1));
		end(ask ? 0 : UNITS, 0);
		if (ask)
			break;
	}
}

/* Ranges that are parts of units, and a unit that is partly missing. */
static void parts_of_units(void **state)
{
	const struct range missing[] = { { UNIT / 2, UNIT }, { 3 * UNIT, 512 } };

	(void)state;
	begin(2);
	bytes[1][0] = bytes[1][3] = ALL(1);
	assert_true(warm_is_offered(&homes, map, missing, 2));
	assert_false(warm_is_offered(&homes, map, &(struct range){ UNIT, UNIT }, 1));
	choose(missing, 2);
	assert_int_equal(warming.source[1].pieces, 2);
	assert_int_equal(warming.source[1].piece[0].length, UNIT / 2);
	assert_int_equal(warming.source[1].piece[1].length, 512);
	assert_int_equal(warming.absent, UNIT / 2);
	assert_int_equal(warming.room, 0);
	warm_free(&warming);
	homes_free(&homes);
}

static void seal(struct nearcache_map_header *header)
{
	header->checksum = htole32(~crc32_iscsi((unsigned char *)header,
						offsetof(struct nearcache_map_header, checksum), ~0U));
}

static void maps_are_checked(void **state)
{
	static unsigned char memory[2 * NEARCACHE_MAP_PAGE];
	struct nearcache_map_header *header = (void *)memory;
	struct peer_map one = { .memory = memory, .bytes = sizeof(memory) };

	(void)state;
	memcpy(header->magic, NEARCACHE_MAP_MAGIC, sizeof(header->magic));
	header->version = htole32(NEARCACHE_MAP_VERSION);
	header->header_bytes = htole32(NEARCACHE_MAP_PAGE);
	header->volume_bytes = htole64(SIZE);
	header->unit_bytes = htole64(UNIT);
	seal(header);
	assert_true(peer_map_check(&one, SIZE, EXTENT));
	assert_int_equal(one.unit, UNIT);
	assert_ptr_equal(one.byte, memory + NEARCACHE_MAP_PAGE);
	assert_false(peer_map_check(&one, SIZE + 512, EXTENT));
	assert_false(peer_map_check(&one, SIZE, UNIT / 2));
	one.bytes -= 1;
	assert_false(peer_map_check(&one, SIZE, EXTENT));
	one.bytes += 1;
	memory[20]++;
	assert_false(peer_map_check(&one, SIZE, EXTENT));
	memory[20]--;
	header->unit_bytes = htole64(UNIT + 512);
	seal(header);
	assert_false(peer_map_check(&one, SIZE, EXTENT));
	header->unit_bytes = 0;
	seal(header);
	assert_false(peer_map_check(&one, SIZE, EXTENT));
	/* As many units as the number can have: the device is too small. */
	header->volume_bytes = htole64(1ULL << 62);
	header->unit_bytes = htole64(4096);
	seal(header);
	assert_false(peer_map_check(&one, 1ULL << 62, EXTENT));
	/* No cache has so small blocks; the choice would take a step for each of them. */
	header->volume_bytes = htole64(SIZE);
	header->unit_bytes = htole64(2048);
	seal(header);
	assert_false(peer_map_check(&one, SIZE, EXTENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hottest_first),
		cmocka_unit_test(little_room),
		cmocka_unit_test(which_peer),
		cmocka_unit_test(without_map),
		cmocka_unit_test(parts_of_units),
		cmocka_unit_test(maps_are_checked),
	};

	return RUN(tests);
}
