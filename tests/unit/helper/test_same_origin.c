// SPDX-License-Identifier: GPL-2.0-only
/* open/origin_users.c: a second device on the same origin is refused, unless neither one writes. */
#include <stdio.h>
#include <stdlib.h>

#include "block/dm.h"
#include "block/dm_pieces.h"
#include "lib/error.h"
#include "block/device_sysfs.h"
#include "open/origin_users.h"
#include "open/find_cache_devices.h"
#include "unit.h"

#define ORIGIN	0x810
/* PATH is another path to ORIGIN; OTHER is another volume. */
#define PATH	0x820
#define OTHER	0x830

/* The other device: @cache or @passing, whichever has a name. */
static struct dm_device cache, passing;
static struct dm_piece piece;
static bool gone, silent;
static const char *recorded;

static int list(struct dm_device **devices, size_t *count,
		const struct dm_device *dev)
{
	*devices = calloc(1, sizeof(**devices));
	**devices = *dev;
	*count = dev->name[0] ? 1 : 0;
	return 0;
}

int dm_all(struct dm_device **devices, size_t *count)
{
	return list(devices, count, &cache);
}

int dm_all_passing(struct dm_device **devices, size_t *count)
{
	return list(devices, count, &passing);
}

void dm_device_free_all(struct dm_device *devices, size_t count)
{
	(void)count;
	free(devices);
}

int dm_pieces(dev_t number, struct dm_piece **pieces, size_t *count)
{
	assert_int_equal(number, passing.number);
	*pieces = calloc(1, sizeof(**pieces));
	**pieces = piece;
	*count = 1;
	return 0;
}

bool identity_overlap(dev_t a, dev_t b)
{
	assert_int_equal(a, ORIGIN);
	return b == ORIGIN || b == PATH;
}

bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	(void)number;
	snprintf(name, size, "sda");
	return !gone;
}

const char *device_path_of(dev_t number, char *path)
{
	(void)number;
	return strcpy(path, "/dev/c");
}

int resolve_path(struct resolved *found, const char *path)
{
	assert_string_equal(path, "/dev/c");
	if (silent)
		return (fail)(CODE_DEVICE, "SILENT");
	strcpy((char *)found->sb.origin_id, recorded);
	return 0;
}

static int reset(void **state)
{
	(void)state;
	memset(&cache, 0, sizeof(cache));
	memset(&passing, 0, sizeof(passing));
	memset(&piece, 0, sizeof(piece));
	gone = silent = false;
	recorded = "wwid:eui.a";
	return 0;
}

/* Check "nc" in @mode beside the other device.  It must be refused with @said; NULL: accepted. */
static void meets(enum nearcache_mode mode, const char *said)
{
	struct device origin = { .number = ORIGIN, .id = "wwid:eui.a",
				 .path = "/dev/o" };
	int error;

	fail_reset();
	error = neighbour_check(&origin, mode, "nc");
	assert_int_equal(!error, !said);
	if (said && !strstr(fail_message(), said))
		fail_msg("no '%s' in: %s", said, fail_message());
}

static void is_cache(const char *mode, dev_t origin)
{
	cache.ours = true;
	cache.origin = origin;
	strcpy(cache.name, "other");
	strcpy(cache.mode, mode);
}

static void caches(void **state)
{
	(void)state;
	meets(NEARCACHE_WRITEAROUND, NULL);
	is_cache("read-only", PATH);
	meets(NEARCACHE_READ_ONLY, NULL);
	meets(NEARCACHE_WRITEAROUND, "would miss writes");
	is_cache("writethrough", PATH);
	meets(NEARCACHE_READ_ONLY, "is written by device 'other' (mode writethrough)");
	meets(NEARCACHE_WRITEAROUND, "would miss writes");
	is_cache("writethrough", OTHER);
	meets(NEARCACHE_WRITEAROUND, NULL);
	/* "nc" itself and a device without a dm table are no obstacles. */
	is_cache("writethrough", PATH);
	strcpy(cache.name, "nc");
	meets(NEARCACHE_WRITEAROUND, NULL);
	is_cache("", 0);
	meets(NEARCACHE_WRITEAROUND, NULL);
}

static void passing_through(void **state)
{
	(void)state;
	strcpy(passing.name, "other");
	passing.number = 0xfd00;
	piece.linear = true;
	piece.under = PATH;
	meets(NEARCACHE_READ_ONLY, "is written by device 'other' (pass-through)");
	meets(NEARCACHE_WRITEAROUND, "would miss writes");
	passing.read_only = true;
	meets(NEARCACHE_READ_ONLY, NULL);
	meets(NEARCACHE_WRITEAROUND, "would miss writes");
	passing.read_only = false;
	piece.under = OTHER;
	meets(NEARCACHE_WRITEAROUND, NULL);
	piece.under = PATH;
	strcpy(passing.name, "nc");
	meets(NEARCACHE_WRITEAROUND, NULL);
}

/* The other device's origin is gone and may have come back as ORIGIN: its recorded id decides. */
static void origin_gone(void **state)
{
	(void)state;
	gone = true;
	is_cache("read-only", OTHER);
	meets(NEARCACHE_READ_ONLY, NULL);
	meets(NEARCACHE_WRITEAROUND, "may be that origin");
	is_cache("writearound", OTHER);
	meets(NEARCACHE_READ_ONLY, "may be that origin");
	recorded = "wwid:eui.b";
	meets(NEARCACHE_READ_ONLY, NULL);
	meets(NEARCACHE_WRITEAROUND, NULL);
	recorded = "";
	meets(NEARCACHE_WRITEAROUND, "may be that origin");
	silent = true;
	meets(NEARCACHE_WRITEAROUND, "it is unknown whether");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(caches, reset),
		cmocka_unit_test_setup(passing_through, reset),
		cmocka_unit_test_setup(origin_gone, reset),
	};

	return RUN(tests);
}
