// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create a dm device, read a little from it and remove it, over and over,
 * faster than dmsetup could.
 *
 *	dmcycle NAME COUNT SECTORS TARGET PARAMETERS
 */
#include <errno.h>
#include <linux/dm-ioctl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "device.h"

static int control;
static const char *name;

static union {
	struct dm_ioctl dm;
	char room[16384];
} io;

static void prepare(void)
{
	memset(&io, 0, sizeof(io));
	io.dm.version[0] = DM_VERSION_MAJOR;
	io.dm.data_size = sizeof(io);
	io.dm.data_start = sizeof(io.dm);
	strncpy(io.dm.name, name, sizeof(io.dm.name) - 1);
}

static void command(unsigned long request, const char *what)
{
	if (ioctl(control, request, &io)) {
		printf("%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void create(uint64_t sectors, const char *target, const char *params)
{
	struct dm_target_spec *spec = (void *)(io.room + sizeof(io.dm));

	prepare();
	command(DM_DEV_CREATE, "create");
	prepare();
	io.dm.target_count = 1;
	io.dm.flags = DM_READONLY_FLAG;
	spec->length = sectors;
	strcpy(spec->target_type, target);
	strcpy((char *)(spec + 1), params);
	command(DM_TABLE_LOAD, "load");
	prepare();
	command(DM_DEV_SUSPEND, "resume");
}

/* A cold read: its fill may still be under way when the device goes. */
static void read_some(int round)
{
	char path[64];
	void *buffer = aligned_room(4096);
	int fd;

	snprintf(path, sizeof(path), "/dev/dm-%u", minor(io.dm.dev));
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
	name = argv[1];
	count = atoi(argv[2]);
	control = device_open("/dev/mapper/control", O_RDWR);
	for (i = 0; i < count; i++) {
		create(strtoull(argv[3], NULL, 0), argv[4], argv[5]);
		read_some(i);
		prepare();
		command(DM_DEV_REMOVE, "remove");
	}
	return 0;
}
