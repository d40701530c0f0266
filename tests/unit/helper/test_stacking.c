// SPDX-License-Identifier: GPL-2.0-only
/* block/layer_map.c: places on synthetic stacked devices become places on the cached device. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "block/dm_pieces.h"
#include "lib/error.h"
#include "block/device_sysfs.h"
#include "block/layer_map.h"
#include "unit.h"

#define K	1024ULL
/* Like makedev(), but a constant for initializers. */
#define NUMBER(major, minor)	((major) << 8 | (minor))
#define CACHE	NUMBER(253, 0)
#define OTHER	NUMBER(8, 0)

/* Attributes in the fake sysfs. */
static const struct {
	dev_t number;
	const char *attribute, *value;
} attributes[] = {
	/* A partition at 1 MiB, and a loop device whose file is gone. */
	{ NUMBER(259, 1), "size", "2048" }, { NUMBER(259, 1), "partition", "1" },
	{ NUMBER(259, 1), "start", "2048" }, { NUMBER(259, 1), "../dev", "253:0" },
	{ NUMBER(7, 0), "size", "100" }, { NUMBER(7, 0), "loop/backing_file", "/none" },
	/* Three logical volumes and a RAID device. */
	{ NUMBER(253, 1), "size", "40" }, { NUMBER(253, 1), "dm/name", "lv" },
	{ NUMBER(253, 2), "size", "16" }, { NUMBER(253, 2), "dm/name", "secret" },
	{ NUMBER(253, 3), "size", "16" }, { NUMBER(253, 3), "dm/name", "on-lv" },
	{ NUMBER(9, 0), "size", "16" }, { NUMBER(9, 0), "md/level", "raid1" },
	{ OTHER, "size", "1000" }, { CACHE, "size", "1000" },
};

bool identity_attribute(dev_t number, const char *attribute, char *value, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].number == number &&
		    !strcmp(attributes[i].attribute, attribute)) {
			snprintf(value, size, "%s", attributes[i].value);
			return true;
		}
	return false;
}

bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	snprintf(name, size, "name-%u:%u", major(number), minor(number));
	return true;
}

/* Logical volume 253:1: two pieces on CACHE, and between them a piece on OTHER. */
static const struct dm_piece volume[] = {
	{ 0, 4 * K, "linear", true, CACHE, 100 * K },
	{ 4 * K, 4 * K, "linear", true, OTHER, 0 },
	{ 8 * K, 12 * K, "linear", true, CACHE, 50 * K },
};

static const struct dm_piece secret[] = { { 0, 8 * K, "crypt", false, 0, 0 } };
static const struct dm_piece on_volume[] = { { 0, 8 * K, "linear", true, NUMBER(253, 1), 2 * K } };

int dm_pieces(dev_t number, struct dm_piece **list, size_t *count)
{
	size_t bytes = minor(number) == 1 ? sizeof(volume) : sizeof(secret);

	*list = malloc(bytes);
	*count = bytes / sizeof(**list);
	memcpy(*list, minor(number) == 1 ? volume :
		      minor(number) == 2 ? secret : on_volume, bytes);
	return 0;
}

static struct layers layers;

static void resolve(dev_t upper)
{
	layers_free(&layers);
	assert_int_equal(layers_resolve(&layers, upper, CACHE), 0);
}

static void at(uint64_t start, uint64_t length, uint64_t place, uint64_t bytes)
{
	struct range piece;
	const char *why;

	assert_true(layers_map(&layers, start, length, &piece, &why));
	assert_int_equal(piece.start, place);
	assert_int_equal(piece.length, bytes);
}

static void not_at(uint64_t start, const char *what)
{
	struct range piece;
	const char *why;

	assert_false(layers_map(&layers, start, 512, &piece, &why));
	if (!strstr(why, what))
		fail_msg("no '%s' in: %s", what, why);
}

static void itself(void **state)
{
	(void)state;
	resolve(CACHE);
	assert_true(layers_touch(&layers) && layers_cover(&layers));
	at(0, 1000 * 512, 0, 1000 * 512);
	at(4096, 512, 4096, 512);
	not_at(1000 * 512, "beyond the end");
	layers_free(&layers);
}

static void partition(void **state)
{
	(void)state;
	resolve(NUMBER(259, 1));
	at(0, K, 1 << 20, K);
	at(K, 1 << 30, (1 << 20) + K, 1023 * K);
	layers_free(&layers);
}

static void logical_volume(void **state)
{
	(void)state;
	resolve(NUMBER(253, 1));
	assert_true(layers_touch(&layers) && !layers_cover(&layers));
	at(0, 20 * K, 100 * K, 4 * K);
	not_at(4 * K, "it is on 'name-8:0'");
	at(9 * K, 20 * K, 51 * K, 11 * K);
	/* 253:3 is stacked on 253:1: it maps bytes 2 KiB to 10 KiB of that volume. */
	resolve(NUMBER(253, 3));
	at(0, 8 * K, 102 * K, 2 * K);
	not_at(2 * K, "'name-8:0'");
	at(6 * K, 8 * K, 50 * K, 2 * K);
	layers_free(&layers);
}

static void elsewhere(void **state)
{
	static const struct {
		dev_t number;
		const char *why;
	} row[] = {
		{ OTHER, "it is on 'name-8:0'" },
		{ NUMBER(253, 2), "device-mapper target 'crypt'" },
		{ NUMBER(9, 0), "RAID 'raid1'" },
		{ NUMBER(7, 0), "loop device on a file" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		resolve(row[i].number);
		assert_false(layers_touch(&layers));
		not_at(0, row[i].why);
	}
	layers_free(&layers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(itself),
		cmocka_unit_test(partition),
		cmocka_unit_test(logical_volume),
		cmocka_unit_test(elsewhere),
	};

	return RUN(tests);
}
