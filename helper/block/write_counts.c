// SPDX-License-Identifier: GPL-2.0-only
/*
 * If the write counters of all disks below a device have not changed, no program of this node has
 * written to the device, under any of its names.  The counters miss the writes of other nodes.
 */
#include "block/write_counts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "block/device_sysfs.h"
#include "lib/sha256.h"

#define BOOT_ID		"/proc/sys/kernel/random/boot_id"

/**
 * struct disk_sum - sum over disks
 * @writes: sum of the disks' hashes: the disks come in no fixed order
 * @sectors: sectors that were written
 */
struct disk_sum {
	uint64_t writes;
	uint64_t sectors;
};

static uint64_t hash_text(const char *text)
{
	unsigned char digest[SHA256_DIGEST_SIZE];
	uint64_t value;

	sha256_of(text, strlen(text), digest);
	memcpy(&value, digest, sizeof(value));
	return value;
}

static bool read_boot(uint64_t *boot)
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	*boot = hash_text(text);
	return true;
}

/* Add the counters of a disk.  The hash has its sequence number: another disk may get its name. */
static bool add_disk(dev_t disk, void *data)
{
	uint64_t writes, sectors, discards, discarded;
	char text[256], sequence[32];
	struct disk_sum *sum = data;

	/* A loop device does not count what others write to its file. */
	if (identity_attribute(disk, "loop/backing_file", text, sizeof(text)) ||
	    !identity_attribute(disk, "queue/iostats", text, sizeof(text)) || strcmp(text, "1") ||
	    !identity_attribute(disk, "diskseq", sequence, sizeof(sequence)) ||
	    !identity_attribute(disk, "stat", text, sizeof(text)) ||
	    sscanf(text,
		   "%*u %*u %*u %*u %" SCNu64 " %*u %" SCNu64 " %*u %*u %*u %*u %" SCNu64
		   " %*u %" SCNu64, &writes, &sectors, &discards, &discarded) != 4)
		return false;
	snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, sequence,
		 writes, sectors, discards, discarded);
	sum->writes += hash_text(text);
	sum->sectors += sectors;
	return true;
}

/*
 * Read the counters.  Returns false if they are not known.  Counters of 0 are unknown as well: for
 * some kinds of devices the kernel counts no writes.
 */
bool write_counts_read(dev_t number, struct write_counts *counts)
{
	struct disk_sum sum = { 0 };

	if (!read_boot(&counts->boot) || !identity_each_disk(number, add_disk, &sum))
		return false;
	counts->writes = sum.writes;
	return sum.sectors;
}
