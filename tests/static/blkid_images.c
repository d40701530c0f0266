// SPDX-License-Identifier: GPL-2.0-only
/*
 * For blkid.sh: make images of devices in a folder, or print what the helper finds on one.
 *   usage: make_images make DIR | make_images content FILE
 */
#include <limits.h>
#include <stdio.h>

#include "block/probe.h"
#include "lib/error.h"
#include "tests/unit/helper/carried_image.h"

static const char *folder;

static int image(const char *name, uint64_t bytes)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return carried_open(path, bytes);
}

/* A partition table with one partition, at sector 1016: its byte 4096 is byte 512 KiB of the disk. */
static void put_partition(int fd)
{
	static const unsigned char entry[] = {
		[4] = 0x83, [8] = 1016 & 255, [9] = 1016 >> 8, [14] = 1, [15] = 0,
	};

	carried_put(fd, entry, 16, 446);
	carried_put(fd, "\x55\xaa", 2, 510);
}

static void make_images(void)
{
	int fd;

	carried_cache(image("cache", CARRIED_BYTES), "train data");
	carried_log(image("stage", CARRIED_BYTES), "nc");
	carried_record(image("witness", 4096), 0, CARRIED_CACHE, NEARCACHE_WITNESS_NEW);

	fd = image("torn-cache", CARRIED_BYTES);
	carried_cache(fd, "torn");
	carried_damage(fd, NEARCACHE_SUPER_OFFSET_0);
	fd = image("bad-cache", CARRIED_BYTES);
	carried_cache(fd, "bad");
	carried_damage(fd, NEARCACHE_SUPER_OFFSET_0);
	carried_damage(fd, NEARCACHE_SUPER_OFFSET_1);
	fd = image("bad-stage", CARRIED_BYTES);
	carried_log(fd, "bad");
	carried_damage(fd, NEARCACHE_STAGE_SUPER_OFFSET_0);
	carried_damage(fd, NEARCACHE_STAGE_SUPER_OFFSET_1);

	fd = image("second-witness", 1 << 20);
	carried_record(fd, 3, CARRIED_OTHER, NEARCACHE_WITNESS_MOVED);
	carried_record(fd, 63, CARRIED_CACHE, NEARCACHE_WITNESS_STAYED);
	fd = image("moved-witness", 1 << 20);
	carried_record(fd, 0, CARRIED_OTHER, NEARCACHE_WITNESS_MOVED);
	fd = image("bad-witness", 1 << 20);
	carried_record(fd, 0, CARRIED_CACHE, NEARCACHE_WITNESS_NEW);
	carried_damage(fd, 0);
	put_partition(image("disk", 2 * CARRIED_BYTES));
	image("empty", CARRIED_BYTES);
}

static int print_content(const char *path)
{
	char what[PROBE_WHAT];
	struct device dev;
	int error = device_open_any(&dev, path, "image");

	if (!error)
		error = probe_content(&dev, what);
	device_close(&dev);
	puts(error ? fail_message() : what);
	return error;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return CODE_USAGE;
	if (!strcmp(argv[1], "content"))
		return print_content(argv[2]);
	folder = argv[2];
	make_images();
	return 0;
}
