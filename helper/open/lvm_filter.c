// SPDX-License-Identifier: GPL-2.0-only
/*
 * LVM sees the label of a physical volume on the origin and on the nearcache device. It then takes
 * the origin, past the cache, or refuses both as duplicates. Its configuration belongs to the
 * administrator, so this file only prints the line to add.
 */
#include "open/lvm_filter.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block/device_sysfs.h"
#include "lib/error.h"
#include "lib/print.h"

#define LINKS		"/dev/disk/by-id"
#define DEVICES_FILE	"/etc/lvm/devices/system.devices"
#define SECTOR		512
/* The label of a physical volume is in one of the first sectors. */
#define LABEL_SECTORS	4

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
	char path[PATH_MAX], text[PATH_MAX + 160];

	if (!is_physical_volume(origin)) {
		print_string("lvm_needs", NULL, NULL);
		return;
	}
	stable_name(origin, path);
	if (!access(DEVICES_FILE, F_OK)) {
		snprintf(text, sizeof(text),
			 "lvmdevices --deldev %s; lvmdevices --adddev /dev/mapper/%s", path, name);
	} else {
		mask_special(path);
		snprintf(text, sizeof(text), "devices { global_filter = [ \"r|^%s$|\" ] }", path);
	}
	print_string("lvm_needs", "LVM needs", text);
}
