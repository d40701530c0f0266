// SPDX-License-Identifier: GPL-2.0-only
/*
 * LVM sees the label of a physical volume on the origin and on the nearcache device. It then takes
 * the origin, past the cache, or refuses both as duplicates. Its configuration belongs to the
 * administrator, so this file only prints the line to add. It also makes udev run its rules for the
 * origin again when a device begins or ends to use it: 68-nearcache.rules hide a cached origin.
 */
#include "open/lvm_filter.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "block/device_sysfs.h"
#include "lib/error.h"
#include "lib/print.h"

#define LINKS		"/dev/disk/by-id"
#define DEVICES_FILE	"/etc/lvm/devices/system.devices"
#define SECTOR		512
/* The label of a physical volume is in one of the first sectors. */
#define LABEL_SECTORS	4

/* Whether udev's database has the origin as a physical volume of LVM, hidden or not. */
static bool udev_knows(dev_t origin)
{
	char line[256];
	bool known = false;
	FILE *file;

	snprintf(line, sizeof(line), "/run/udev/data/b%u:%u", major(origin), minor(origin));
	file = fopen(line, "re");
	while (file && !known && fgets(line, sizeof(line), file))
		known = !strcmp(line, "E:ID_FS_TYPE=LVM2_member\n") ||
			!strcmp(line, "E:ID_FS_TYPE=nearcache_origin\n");
	if (file)
		fclose(file);
	return known;
}

/*
 * A device began or ended to use the origin: send a uevent, so that udev's database and LVM follow.
 * A failure is harmless: the database follows at the next event of the origin.
 */
void lvm_filter_notify(dev_t origin)
{
	char path[64];
	int fd;

	if (!origin || !udev_knows(origin))
		return;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", major(origin), minor(origin));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "change", 6) != 6)
		warn("cannot tell udev about '%s': run 'udevadm trigger'", path);
	close(fd);
}

/* Return the device directly below a device, such as the origin of a pass-through device, or 0. */
dev_t lvm_filter_lower(dev_t device)
{
	char path[64], attribute[NAME_MAX + 16], text[32];
	unsigned int high = 0, low = 0;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/slaves", major(device), minor(device));
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		snprintf(attribute, sizeof(attribute), "slaves/%s/dev", entry->d_name);
		if (entry->d_name[0] != '.' &&
		    identity_attribute(device, attribute, text, sizeof(text)))
			sscanf(text, "%u:%u", &high, &low);
	}
	if (folder)
		closedir(folder);
	return makedev(high, low);
}

/* Whether the origin is a physical volume: LVM's struct label_header begins one of its sectors. */
static bool is_physical_volume(const struct device *origin)
{
	char *start = device_buffer(DEVICE_ALIGN);
	bool found = false;
	unsigned int i;

	if (start && !device_read(origin, start, DEVICE_ALIGN, 0))
		for (i = 0; i < LABEL_SECTORS && !found; i++)
			found = !memcmp(start + i * SECTOR, "LABELONE", 8) &&
				!memcmp(start + i * SECTOR + 24, "LVM2 001", 8);
	free(start);
	/* The device is open: this is only advice. */
	fail_reset();
	return found;
}

/* Names that udev takes from the content lead to the nearcache device as well. */
static bool names_disk(const struct dirent *link, dev_t number)
{
	char path[PATH_MAX];
	struct stat st;

	if (link->d_name[0] == '.' || !strncmp(link->d_name, "lvm-pv-uuid-", 12))
		return false;
	snprintf(path, sizeof(path), LINKS "/%s", link->d_name);
	return !stat(path, &st) && S_ISBLK(st.st_mode) && st.st_rdev == number;
}

/*
 * Write a name of the origin that it keeps after a reboot to @path (PATH_MAX bytes): the one of
 * device-mapper, or the first link of udev. Without udev it is the name in /dev.
 */
static void stable_name(const struct device *origin, char *path)
{
	char name[128], first[NAME_MAX + 1] = "";
	struct dirent *link;
	DIR *folder;

	device_path_of(origin->number, path);
	folder = identity_attribute(origin->number, "dm/name", name, sizeof(name)) ?
		 NULL : opendir(LINKS);
	while (folder && (link = readdir(folder)))
		if (names_disk(link, origin->number) &&
		    (!*first || strcmp(link->d_name, first) < 0))
			snprintf(first, sizeof(first), "%s", link->d_name);
	if (folder)
		closedir(folder);
	if (*first)
		snprintf(path, PATH_MAX, LINKS "/%s", first);
}

/* In a regular expression of LVM a dot stands for any character, so also for special ones. */
static void mask_special(char *path)
{
	for (; *path; path++)
		if (strchr(".*+?|()[]^$\\\"", *path))
			*path = '.';
}

/*
 * If the origin is a physical volume, print what LVM needs. LVM accepts a device if a pattern
 * accepts any of its names, so the filter must not end with the usual "a|.*|".
 */
void lvm_filter_print(const struct device *origin, const char *name)
{
	char path[PATH_MAX], text[2 * PATH_MAX + 240];
	size_t used = 0;

	if (!is_physical_volume(origin)) {
		print_string("lvm_needs", NULL, NULL);
		return;
	}
	stable_name(origin, path);
	/* lvm.conf decides whether LVM uses its devices file. */
	if (!access(DEVICES_FILE, F_OK))
		used = (size_t)snprintf(text, sizeof(text),
					"lvmdevices --deldev '%s'; lvmdevices --adddev '/dev/mapper/%s'; or, with use_devicesfile=0, in lvm.conf: ",
					path, name);
	mask_special(path);
	snprintf(text + used, sizeof(text) - used, "devices { global_filter = [ \"r|^%s$|\" ] }",
		 path);
	print_string("lvm_needs", "LVM needs", text);
}
