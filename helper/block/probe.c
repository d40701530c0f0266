// SPDX-License-Identifier: GPL-2.0-only
#include "block/probe.h"

#include <blkid/blkid.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "nearcache_stage.h"

#define STAGE_LOG	"the log of a nearcache stage, whose writes may be nowhere else"

/*
 * Metadata of device-mapper targets that libblkid 2.38 does not recognise. Magic numbers from
 * drivers/md/dm-*-metadata.c, dm-writecache.c and uapi/nearcache_stage.h ("nc-stage", twice).
 */
static const struct {
	const char *what;
	uint64_t offset;
	uint64_t magic;
	size_t bytes;
} signatures[] = {
	/* Octal, as in the kernel's source: this magic is a date. */
	{ "dm-cache metadata", 32, 06142003, 8 },
	{ "dm-thin metadata", 32, 27022010, 8 },
	{ "dm-era metadata", 32, 2126579579, 8 },
	{ "dm-clone metadata", 32, 0x8af27f64, 8 },
	{ "dm-writecache metadata", 0, 0x23489321, 4 },
	{ STAGE_LOG, NEARCACHE_STAGE_SUPER_OFFSET_0, 0x65676174732d636e, 8 },
	{ STAGE_LOG, NEARCACHE_STAGE_SUPER_OFFSET_1, 0x65676174732d636e, 8 },
};

#define SIGNATURES	(sizeof(signatures) / sizeof(signatures[0]))

/* Test for a signature. @block: DEVICE_ALIGN bytes of memory. */
static int own_signature(const struct device *dev, unsigned int i, bool wipe, char *block,
			 char *what)
{
	uint64_t magic = htole64(signatures[i].magic);
	uint64_t start = signatures[i].offset / DEVICE_ALIGN * DEVICE_ALIGN;
	char *place = block + signatures[i].offset % DEVICE_ALIGN;

	if (dev->size < start + DEVICE_ALIGN)
		return 0;
	if (device_read(dev, block, DEVICE_ALIGN, start))
		return fail_code();
	if (memcmp(place, &magic, signatures[i].bytes))
		return 0;
	snprintf(what, PROBE_WHAT, "%s", signatures[i].what);
	memset(place, 0, signatures[i].bytes);
	return wipe ? device_write(dev, block, DEVICE_ALIGN, start) : 0;
}

static int own_signatures(const struct device *dev, bool wipe, char *what)
{
	char *block = device_buffer(DEVICE_ALIGN);
	int error = block ? 0 : fail_code();
	unsigned int i;

	for (i = 0; i < SIGNATURES && !error; i++)
		error = own_signature(dev, i, wipe, block, what);
	free(block);
	return error;
}

/*
 * Probe for file systems, RAID members and partition tables, even with bad checksums. Callers look for
 * the formats of nearcache themselves: a libblkid that knows them (helper/packaging/blkid) must not
 * change their answers. An older libblkid ignores names that it does not know.
 */
static blkid_probe new_probe(int fd)
{
	char *ours[] = {
		(char *)"nearcache_cache", (char *)"nearcache_stage", (char *)"nearcache_witness", NULL,
	};
	blkid_probe probe = blkid_new_probe();

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0)) {
		blkid_free_probe(probe);
		return NULL;
	}
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe,
					  BLKID_SUBLKS_TYPE |
					  BLKID_SUBLKS_LABEL |
					  BLKID_SUBLKS_MAGIC |
					  BLKID_SUBLKS_BADCSUM);
	blkid_probe_filter_superblocks_type(probe, BLKID_FLTR_NOTIN, ours);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC);
	return probe;
}

static void describe_probe(blkid_probe probe, char *what)
{
	const char *type, *label = NULL;

	if (!blkid_probe_lookup_value(probe, "TYPE", &type, NULL)) {
		blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
		snprintf(what, PROBE_WHAT, "%.40s%s%.64s%s", type,
			 label ? " labelled '" : "", label ? label : "",
			 label ? "'" : "");
	} else if (!blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL)) {
		snprintf(what, PROBE_WHAT, "%.40s partition table", type);
	} else {
		snprintf(what, PROBE_WHAT, "something unknown");
	}
}

/* Describe or wipe the signatures that libblkid finds. libblkid needs buffered I/O. */
static int walk_signatures(const struct device *dev, bool wipe, char *what)
{
	int fd = open(dev->path, (wipe ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	blkid_probe probe = fd < 0 ? NULL : new_probe(fd);
	int found = -1;

	if (!probe) {
		int error = fail_errno(errno, "cannot probe %s '%s'", dev->role,
				       dev->path);

		if (fd >= 0)
			close(fd);
		return error;
	}
	while (!(found = blkid_do_probe(probe))) {
		describe_probe(probe, what);
		if (!wipe || blkid_do_wipe(probe, 0))
			break;
	}
	if (wipe && !found)
		fail(CODE_DEVICE, "cannot wipe the %s from %s '%s'", what,
		     dev->role, dev->path);
	else if (found < 0)
		fail(CODE_DEVICE, "cannot probe %s '%s': reads fail",
		     dev->role, dev->path);
	if (wipe && fsync(fd))
		fail_errno(errno, "cannot flush %s '%s'", dev->role, dev->path);
	blkid_free_probe(probe);
	close(fd);
	return fail_code();
}

/*
 * Describe the content of a device in @what (PROBE_WHAT bytes): "ext4 labelled 'data'", or "" if
 * nothing is recognised.
 */
int probe_content(const struct device *dev, char *what)
{
	int error;

	what[0] = '\0';
	error = walk_signatures(dev, false, what);
	if (!error && !what[0])
		error = own_signatures(dev, false, what);
	return error;
}

/*
 * Overwrite the signatures on a claimed device, so that nothing recognises its content. All other
 * data stays.
 */
int probe_wipe(const struct device *dev)
{
	char what[PROBE_WHAT];
	int error = walk_signatures(dev, true, what);

	return error ? error : own_signatures(dev, true, what);
}
