// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/partition_table.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"

/* Unit of libblkid's offsets and sizes, whatever the logical block size is. */
#define SECTOR	512

static void set_text(char *text, size_t bytes, const char *value)
{
	snprintf(text, bytes, "%s", value ? value : "");
}

/* Take one entry. A negative or huge number, from a hostile table, counts as 0. */
static void take_partition(struct partition_table *table, blkid_partition from)
{
	struct partition *part = &table->partition[table->partitions++];
	blkid_loff_t start = blkid_partition_get_start(from);
	blkid_loff_t size = blkid_partition_get_size(from);
	const char *type = blkid_partition_get_type_string(from);

	part->number = (unsigned int)blkid_partition_get_partno(from);
	part->start = start > 0 && start < INT64_MAX / SECTOR ? start * SECTOR : 0;
	part->size = size > 0 && size < INT64_MAX / SECTOR ? size * SECTOR : 0;
	part->container = blkid_partition_is_extended(from);
	set_text(part->id, sizeof(part->id), blkid_partition_get_uuid(from));
	if (type)
		set_text(part->type, sizeof(part->type), type);
	else
		snprintf(part->type, sizeof(part->type), "%#x", blkid_partition_get_type(from));
}

static void take_table(struct partition_table *table, blkid_partlist list)
{
	blkid_parttable from = list ? blkid_partlist_get_table(list) : NULL;
	int i, count = from ? blkid_partlist_numof_partitions(list) : 0;

	if (count <= 0)
		return;
	set_text(table->kind, sizeof(table->kind), blkid_parttable_get_type(from));
	for (i = 0; i < count && table->partitions < PARTITIONS_MAX; i++)
		take_partition(table, blkid_partlist_get_partition(list, i));
	table->more = (unsigned int)count - table->partitions;
}

/*
 * True if libblkid finds content on a volume that nearcache does not know, or several kinds of
 * content: encryption, RAID and ZFS may leave the superblock of a former file system in place.
 * @fd: from partition_table_open(). An error counts as false: this decides only about a message.
 */
bool partition_table_mixed(int fd, uint64_t offset, uint64_t size)
{
	static const char *const known[] = { "ext2", "ext3", "ext4", "ext4dev", "xfs", "erofs",
					     "btrfs", "LVM2_member" };
	blkid_probe probe = blkid_new_probe();
	const char *type = NULL;
	bool mixed = false;
	unsigned int i;

	if (probe && !blkid_probe_set_device(probe, fd, (blkid_loff_t)offset, (blkid_loff_t)size)) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE);
		/* 0: found, -2: several kinds. */
		switch (blkid_do_safeprobe(probe)) {
		case 0:
			mixed = !blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
			for (i = 0; mixed && i < sizeof(known) / sizeof(known[0]); i++)
				mixed = strcmp(type, known[i]) != 0;
			break;
		case -2:
			mixed = true;
		}
	}
	blkid_free_probe(probe);
	return mixed;
}

static void fail_probe(const struct device *dev)
{
	fail_errno(errno ? errno : EIO, "cannot probe %s '%s' for partitions", dev->role,
		   dev->path);
}

/*
 * Open @dev again for partition_table_read(), with buffered I/O, which libblkid needs. Drop what
 * the page cache has of the device: it may be older than a write of another host or of the kernel
 * module. Returns a file descriptor, or -1 (recorded with fail()).
 */
int partition_table_open(const struct device *dev)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dev->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	else
		fail_probe(dev);
	return fd;
}

/*
 * Read the partition table at byte @offset of @dev, of a volume of @size bytes. @fd: from
 * partition_table_open(). A table without partitions counts as none. Returns 0 or an exit code
 * recorded with fail().
 */
int partition_table_read(const struct device *dev, int fd, uint64_t offset, uint64_t size,
			 struct partition_table *table)
{
	blkid_probe probe = blkid_new_probe();
	int result = -1;

	memset(table, 0, sizeof(*table));
	errno = 0;
	if (probe && !blkid_probe_set_device(probe, fd, (blkid_loff_t)offset, (blkid_loff_t)size)) {
		blkid_probe_enable_superblocks(probe, 0);
		blkid_probe_enable_partitions(probe, 1);
		/* 0: a table, 1: none; anything else is an error, for which the list is NULL too. */
		result = blkid_do_fullprobe(probe);
	}
	if (!result)
		take_table(table, blkid_probe_get_partitions(probe));
	else if (result != 1)
		fail_probe(dev);
	blkid_free_probe(probe);
	return fail_code();
}
