// SPDX-License-Identifier: GPL-2.0-only
#include "block/transport.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "block/device_sysfs.h"

/* Words of sysfs that name a transport, and the word for people. */
struct known {
	const char *found;
	const char *word;
	enum transport transport;
};

/* Values of the attribute "transport" of an NVMe controller. "loop" may lead anywhere. */
static const struct known nvme[] = {
	{ "pcie", "NVMe over PCIe", TRANSPORT_LOCAL },
	{ "tcp", "NVMe over TCP", TRANSPORT_NETWORK },
	{ "rdma", "NVMe over RDMA", TRANSPORT_NETWORK },
	{ "fc", "NVMe over FC", TRANSPORT_NETWORK },
	{ NULL },
};

/* Beginnings of folders above the device of a SCSI disk; a digit follows. */
static const struct known scsi[] = {
	{ "/session", "iSCSI", TRANSPORT_NETWORK },
	{ "/rport-", "Fibre Channel", TRANSPORT_NETWORK },
	{ "/ata", "SATA", TRANSPORT_LOCAL },
	{ "/end_device-", "SAS", TRANSPORT_LOCAL },
	{ "/usb", "USB", TRANSPORT_LOCAL },
	{ NULL },
};

/* Beginnings of the names of disks; a digit follows. */
static const struct known names[] = {
	{ "/rbd", "RBD", TRANSPORT_NETWORK },
	{ "/nbd", "NBD", TRANSPORT_NETWORK },
	{ "/mmcblk", "MMC", TRANSPORT_LOCAL },
	{ "/pmem", "persistent memory", TRANSPORT_LOCAL },
	{ NULL },
};

static enum transport take_known(const struct known *known, char *word)
{
	snprintf(word, TRANSPORT_WORD, "%s", known->word);
	return known->transport;
}

/* Reads FOLDER/transport of an NVMe controller. */
static enum transport controller_transport(const char *folder, char *word)
{
	char path[PATH_MAX + 16], value[32] = "";
	const struct known *row;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/transport", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return TRANSPORT_UNKNOWN;
	n = read(fd, value, sizeof(value) - 1);
	close(fd);
	value[n > 0 ? n : 0] = '\0';
	value[strcspn(value, "\n")] = '\0';
	for (row = nvme; row->found; row++)
		if (!strcmp(row->found, value))
			return take_known(row, word);
	return TRANSPORT_UNKNOWN;
}

/* Takes the first controller of the subsystem that is the device of an NVMe disk with paths. */
static enum transport subsystem_transport(const char *folder, char *word)
{
	enum transport transport = TRANSPORT_UNKNOWN;
	DIR *dir = opendir(folder);
	char path[PATH_MAX + 320];
	struct dirent *entry;

	while (dir && !transport && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "nvme", 4))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		transport = controller_transport(path, word);
	}
	if (dir)
		closedir(dir);
	return transport;
}

/* Finds a word of @table in a path. The later one counts: the disk is at the end. */
static enum transport path_transport(const struct known *table, const char *path, char *word)
{
	const struct known *row, *last = NULL;
	const char *at, *place = path;

	for (row = table; row->found; row++)
		for (at = path; (at = strstr(at, row->found)); at++)
			if (at >= place && isdigit((unsigned char)at[strlen(row->found)])) {
				last = row;
				place = at;
			}
	return last ? take_known(last, word) : TRANSPORT_UNKNOWN;
}

/*
 * Tells how a disk is connected. @folder: its folder in sysfs. @word: TRANSPORT_WORD bytes, unchanged
 * if the transport is unknown.
 */
enum transport transport_of_disk(const char *folder, char *word)
{
	enum transport transport = TRANSPORT_UNKNOWN;
	char path[PATH_MAX], device[PATH_MAX];

	if (!realpath(folder, path))
		return TRANSPORT_UNKNOWN;
	if (strrchr(path, '/'))
		transport = path_transport(names, strrchr(path, '/'), word);
	if (transport || snprintf(device, sizeof(device), "%s/device", path) >= sizeof(device) ||
	    !realpath(device, path))
		return transport;
	return controller_transport(path, word) ?: subsystem_transport(path, word) ?:
	       path_transport(scsi, path, word);
}

/* The transport of the disks that were visited, and its word; @seen: there was one. */
struct visit {
	enum transport transport;
	char *word;
	bool seen;
};

/* Ends the visit at a disk behind a network. A disk that is not known hides only local ones. */
static bool visit_disk(dev_t disk, void *data)
{
	struct visit *visit = data;
	enum transport transport;
	char folder[64];

	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u", major(disk), minor(disk));
	transport = transport_of_disk(folder, visit->word);
	if (!visit->seen || transport != TRANSPORT_LOCAL)
		visit->transport = transport;
	visit->seen = true;
	return transport != TRANSPORT_NETWORK;
}

/* Tells how the disks below a device are connected. @word: TRANSPORT_WORD bytes, "" if unknown. */
enum transport transport_of(dev_t number, char *word)
{
	struct visit visit = { .word = word };
	bool complete;

	*word = '\0';
	complete = identity_each_disk(number, visit_disk, &visit);
	if (visit.transport == TRANSPORT_LOCAL && !complete)
		visit.transport = TRANSPORT_UNKNOWN;
	return visit.transport;
}
