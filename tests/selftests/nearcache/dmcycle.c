// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create a dm device, read a little from it and remove it, repeatedly, faster than dmsetup can.
 *
 *	dmcycle NAME COUNT SECTORS TARGET PARAMETERS
 */
#include "dm_ioctl.h"

static struct dm dm;

static void must(int error, const char *what)
{
	if (error) {
		printf("%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void create(uint64_t sectors, const char *target, const char *params)
{
	must(dm_simple(&dm, DM_DEV_CREATE), "create");
	must(dm_load(&dm, sectors, target, params, true), "load");
	must(dm_simple(&dm, DM_DEV_SUSPEND), "resume");
}

/* Read a missing block, so that its fill may still be in progress when the device is removed. */
static void read_some(int round)
{
	char path[64];
	void *buffer = aligned_room(4096);
	int fd;

	snprintf(path, sizeof(path), "/dev/dm-%u", dm.minor);
	fd = device_open(path, O_RDONLY | O_DIRECT);
	read_exactly(fd, buffer, 4096, (off_t)(round % 512) * 4096);
	close(fd);
	free(buffer);
}

int main(int argc, char **argv)
{
	int i, count;

	if (argc != 6)
		return 2;
	dm_open(&dm, argv[1]);
	count = atoi(argv[2]);
	for (i = 0; i < count; i++) {
		create(strtoull(argv[3], NULL, 0), argv[4], argv[5]);
		read_some(i);
		must(dm_simple(&dm, DM_DEV_REMOVE), "remove");
	}
	return 0;
}
