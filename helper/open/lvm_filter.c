// SPDX-License-Identifier: GPL-2.0-only
/*
 * LVM sees the label of a physical volume on the origin and on the nearcache device. It then takes
 * the origin, past the cache, or refuses both as duplicates. Its configuration belongs to the
 * administrator, so this file only prints the line to add. It also makes udev run its rules for the
 * origin again when a device begins or ends to use it: 62-nearcache.rules hide a cached origin.
 */
#include "open/lvm_filter.h"

#include <ctype.h>
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
#include "ondisk/partition_table.h"

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

/* Send a uevent of a disk or partition. */
static void send_uevent(dev_t device)
{
	char path[64];
	int fd;

	if (!udev_knows(device))
		return;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", major(device), minor(device));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "change", 6) != 6)
		warn("cannot tell udev about '%s': run 'udevadm trigger'", path);
	close(fd);
}

/*
 * A device began or ended to use the origin: send uevents of the origin and of its partitions, so
 * that udev's database and LVM follow. A failure is harmless: the database follows at the next event.
 */
void lvm_filter_notify(dev_t origin)
{
	char path[64], attribute[NAME_MAX + 16], text[32];
	unsigned int high, low;
	struct dirent *entry;
	DIR *folder;

	if (!origin)
		return;
	send_uevent(origin);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(origin), minor(origin));
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		snprintf(attribute, sizeof(attribute), "%s/partition", entry->d_name);
		if (entry->d_name[0] == '.' ||
		    !identity_attribute(origin, attribute, text, sizeof(text)))
			continue;
		snprintf(attribute, sizeof(attribute), "%s/dev", entry->d_name);
		if (identity_attribute(origin, attribute, text, sizeof(text)) &&
		    sscanf(text, "%u:%u", &high, &low) == 2)
			send_uevent(makedev(high, low));
	}
	if (folder)
		closedir(folder);
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

/* Whether a physical volume begins at byte @at: one of its sectors has LVM's label_header. */
static bool is_physical_volume(const struct device *origin, uint64_t at)
{
	char *start = device_buffer(DEVICE_ALIGN);
	bool found = false;
	unsigned int i;

	if (start && at + DEVICE_ALIGN <= origin->size && !(at % origin->lbs) &&
	    !device_read(origin, start, DEVICE_ALIGN, at))
		for (i = 0; i < LABEL_SECTORS && !found; i++)
			found = !memcmp(start + i * SECTOR, "LABELONE", 8) &&
				!memcmp(start + i * SECTOR + 24, "LVM2 001", 8);
	free(start);
	/* The device is open: this is only advice. */
	fail_reset();
	return found;
}

/* Return the number of the first partition of the origin that is a physical volume, or 0. */
static unsigned int find_partition(const struct device *origin)
{
	struct partition_table *table = malloc(sizeof(*table));
	int fd = table ? partition_table_open(origin) : -1;
	unsigned int i, number = 0;

	if (fd >= 0 && !partition_table_read(origin, fd, 0, origin->size, table))
		for (i = 0; i < table->partitions && !number; i++)
			if (!table->partition[i].container &&
			    is_physical_volume(origin, table->partition[i].start))
				number = table->partition[i].number;
	if (fd >= 0)
		close(fd);
	free(table);
	fail_reset();
	return number;
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

/* Returns the text between a disk's name and a partition's number, as udev or the kernel has it. */
static const char *partition_mark(const char *path)
{
	if (!strncmp(path, LINKS "/", sizeof(LINKS)) || !strncmp(path, "/dev/mapper/", 12))
		return "-part";
	return isdigit((unsigned char)path[strlen(path) - 1]) ? "p" : "";
}

/*
 * If the origin, or a partition of it, is a physical volume, print what LVM needs. LVM accepts a
 * device if a pattern accepts any of its names, so the filter must not end with the usual "a|.*|".
 */
void lvm_filter_print(const struct device *origin, const char *name)
{
	bool whole = is_physical_volume(origin, 0);
	unsigned int partition = whole ? 0 : find_partition(origin);
	char path[PATH_MAX], number[32] = "", text[3 * PATH_MAX + 320];
	size_t used = 0;

	if (!whole && !partition) {
		print_string("lvm_needs", NULL, NULL);
		return;
	}
	stable_name(origin, path);
	if (partition)
		snprintf(number, sizeof(number), "%s%u", partition_mark(path), partition);
	/* lvm.conf decides whether LVM uses its devices file. */
	if (!access(DEVICES_FILE, F_OK))
		used = (size_t)snprintf(text, sizeof(text),
					"lvmdevices --deldev '%s%s'; lvmdevices --adddev %s'/dev/mapper/%s'; or, with use_devicesfile=0, in lvm.conf: ",
					path, number, partition ? "with this partition on " : "",
					name);
	if (partition)
		snprintf(number, sizeof(number), "%s[0-9]+", partition_mark(path));
	mask_special(path);
	used += (size_t)snprintf(text + used, sizeof(text) - used,
				 "devices { global_filter = [ \"r|^%s%s$|\"", path, number);
	/* kpartx may be told to name the partitions of a device-mapper device as the kernel does. */
	if (partition && !strncmp(path, "/dev/mapper/", 12))
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ", \"r|^%sp[0-9]+$|\"", path);
	snprintf(text + used, sizeof(text) - used, " ] }");
	print_string("lvm_needs", "LVM needs", text);
}
