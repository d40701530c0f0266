// SPDX-License-Identifier: GPL-2.0-only
#include "open/next_step.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/dm.h"
#include "block/probe.h"
#include "block/transport.h"
#include "lib/error.h"
#include "lib/path.h"
#include "lib/print.h"
#include "lib/size.h"
#include "ondisk/print_superblock.h"

#define BY_ID	"/dev/disk/by-id"

/* Prints the memory that a running cache holds, and the most that it takes for fills. */
void next_step_memory(const char *name)
{
	char text[128], now[SIZE_TEXT], most[SIZE_TEXT];
	struct dm_device dev;
	struct status status;
	bool found;

	if (dm_find(name, &dev, &found) || describe_status(&dev, &status)) {
		/* Ignore the error: the device is open. */
		fail_reset();
	} else if (dev.status) {
		const uint64_t *field = status.field;

		print_bytes("metadata_memory", NULL, field[NEARCACHE_FIELD_METADATA_MEMORY]);
		print_bytes("fill_memory_max", NULL, field[NEARCACHE_FIELD_FILL_MEMORY_MAX]);
		snprintf(text, sizeof(text), "%s, and at most %s more while data is cached",
			 size_print(field[NEARCACHE_FIELD_METADATA_MEMORY], now),
			 size_print(field[NEARCACHE_FIELD_FILL_MEMORY_MAX], most));
		print_string(NULL, "memory", text);
	}
	dm_device_free(&dev);
}

/* Writes the next command, or a sentence, for a device with this content. */
static void describe_next(const struct next_step *next, const char *what, char *text, size_t size)
{
	if (strstr(what, "partition table"))
		snprintf(text, size, "kpartx -a /dev/mapper/%s   (shows its partitions)", next->device);
	else if (!strncmp(what, "LVM2_member", 11))
		snprintf(text, size, "vgchange -ay   (the volume group is on /dev/mapper/%s)", next->device);
	else if (*what && strncmp(what, "crypto_", 7) && strncmp(what, "linux_raid", 10) &&
		 strncmp(what, "something", 9))
		snprintf(text, size, "mount %s/dev/mapper/%s /mnt", next->writes ? "" : "-o ro ",
			 next->device);
	else
		snprintf(text, size, "use /dev/mapper/%s in place of the origin%s", next->device,
			 *what ? "" : "   (no file system is recognised on it)");
}

/* Prints the command that makes the content of the device usable. */
void next_step_mount(const struct next_step *next)
{
	char what[PROBE_WHAT], text[256];

	/* Whatever is wrong with the origin, the device is open. */
	if (probe_content(next->origin, what)) {
		fail_reset();
		return;
	}
	describe_next(next, what, text, sizeof(text));
	print_string("next", "next", text);
}

/* How well a name in BY_ID describes a drive; 0: it describes another device. */
static int name_quality(const char *name, const char *device)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), BY_ID "/%s", name);
	if (name[0] == '.' || !realpath(path, target) || strcmp(target, device))
		return 0;
	return !strncmp(name, "nvme-uuid.", 10) || !strncmp(name, "nvme-eui.", 9) ||
	       !strncmp(name, "wwn-", 4) ? 2 : 1;
}

/* Finds a path of a device that survives a reboot; its canonical path if there is none. */
static const char *lasting_path(const struct device *dev, char *path)
{
	DIR *dir = opendir(BY_ID);
	struct dirent *entry;
	int best = 0;

	snprintf(path, PATH_MAX, "%s", dev->path);
	while (dir && (entry = readdir(dir))) {
		int quality = name_quality(entry->d_name, dev->path);

		if (quality <= best)
			continue;
		best = quality;
		snprintf(path, PATH_MAX, BY_ID "/%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return path;
}

/* Prints the command that opens a cache that is only formatted. */
void next_step_open(const struct next_step *next)
{
	char cache[PATH_MAX], text[PATH_MAX + 256];

	snprintf(text, sizeof(text), "nearcache open %s --cache %s", next->name,
		 lasting_path(next->cache, cache));
	print_string("next", "next", text);
}

/* Prints the line that opens the cache at each boot. */
void next_step_tab(const struct next_step *next)
{
	char origin[PATH_MAX], word[TRANSPORT_WORD], text[3 * PATH_MAX];
	bool local = transport_of(next->volume->number, word) == TRANSPORT_LOCAL;
	char *config = next->cluster ? path_absolute(next->cluster) : NULL;

	snprintf(text, sizeof(text), "%s %s UUID=%s %s%s%s", next->name,
		 lasting_path(next->volume, origin), next->uuid, local ? "defaults" : "_netdev",
		 config ? ",cluster=" : "", config ? config : "");
	free(config);
	print_string("nearcachetab", "in nearcachetab", text);
}
