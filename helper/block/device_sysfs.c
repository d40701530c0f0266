// SPDX-License-Identifier: GPL-2.0-only
/* Device ids, holders, and the devices and drives below a device, all from sysfs. */
#include "block/device_sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "block/device.h"
#include "block/dm.h"
#include "lib/error.h"
#include "lib/sha256.h"

/* Maximum depth of a stack of devices. Searches ignore deeper devices. */
#define STACK_MAX	16
/* Bytes of the longest value that is not hashed: DEVICE_ID minus room for prefix and suffix. */
#define VALUE_MAX	80

static void sysfs_path(dev_t number, const char *attribute, char *path)
{
	snprintf(path, PATH_MAX, "/sys/dev/block/%u:%u/%s", major(number),
		 minor(number), attribute);
}

/* Read the first line of a file in sysfs, trimmed. Returns false if it is missing or empty. */
static bool read_line(const char *path, char *value, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	char *start;

	if (fd < 0)
		return false;
	n = read(fd, value, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	start = value + strspn(value, " \t");
	memmove(value, start, strlen(start) + 1);
	n = (ssize_t)strlen(value);
	while (n && isspace((unsigned char)value[n - 1]))
		value[--n] = '\0';
	return n > 0;
}

/*
 * Read the first line of a sysfs file. @attribute: its path below the directory of the device.
 * Returns false if the file is missing or the line is empty.
 */
bool identity_attribute(dev_t number, const char *attribute, char *value,
			size_t size)
{
	char path[PATH_MAX];

	sysfs_path(number, attribute, path);
	return read_line(path, value, size);
}

/* Get the kernel's name of a device, like "nvme0n1". Returns false if there is no such device. */
bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	char *p;

	sysfs_path(number, "", path);
	if (!realpath(path, target))
		return false;
	p = strrchr(target, '/');
	snprintf(name, size, "%s", p ? p + 1 : target);
	/* sysfs writes '!' for a '/' in a name: restore the '/'. */
	while ((p = strchr(name, '!')))
		*p = '/';
	return true;
}

static bool number_attribute(dev_t number, const char *attribute,
			     dev_t *result)
{
	unsigned int major_number, minor_number;
	char text[32];

	if (!identity_attribute(number, attribute, text, sizeof(text)) ||
	    sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
		return false;
	*result = makedev(major_number, minor_number);
	return true;
}

/* Return the disk of a partition. For a device that is no partition, return the device itself. */
static dev_t whole_disk(dev_t number)
{
	char text[32];
	dev_t whole;

	if (identity_attribute(number, "partition", text, sizeof(text)) &&
	    number_attribute(number, "../dev", &whole))
		return whole;
	return number;
}

/* Sources of device ids, the most reliable first. The first attribute that exists is the id. */
static const struct {
	const char *attribute;
	const char *prefix;
} sources[] = {
	{ "wwid", "wwid" },			/* NVMe */
	{ "device/wwid", "wwid" },		/* SCSI */
	{ "dm/uuid", "dm-uuid" },
	{ "md/uuid", "md-uuid" },
	{ "serial", "serial" },			/* virtio */
	{ "device/serial", "serial" },
};

static void hash_text(const char *text, char *hex)
{
	unsigned char digest[SHA256_DIGEST_SIZE];
	int i;

	sha256_of(text, strlen(text), digest);
	for (i = 0; i < SHA256_DIGEST_SIZE; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
}

/*
 * Write the device id to @id (DEVICE_ID bytes): "wwid:eui.0025...", "serial:...", or "" if the
 * device has none. A partition has the id of its disk with a suffix like "-part2". A value too long
 * for the superblock is replaced by its SHA-256.
 */
void identity_read(dev_t number, char *id)
{
	dev_t whole = whole_disk(number);
	char value[256], part[32], suffix[48] = "";
	unsigned int i;

	id[0] = '\0';
	if (whole != number &&
	    identity_attribute(number, "partition", part, sizeof(part)))
		snprintf(suffix, sizeof(suffix), "-part%s", part);
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (!identity_attribute(whole, sources[i].attribute, value,
					sizeof(value)))
			continue;
		if (strlen(value) > VALUE_MAX) {
			char hex[2 * SHA256_DIGEST_SIZE + 1];

			hash_text(value, hex);
			snprintf(value, sizeof(value), "sha256.%s", hex);
		}
		snprintf(id, DEVICE_ID, "%s:%s%s", sources[i].prefix, value,
			 suffix);
		return;
	}
}

/*
 * Count the devices other than @except that have the id @id (not ""). @number: the last one found.
 */
int identity_find(const char *id, dev_t except, dev_t *number)
{
	static const char dir_path[] = "/sys/class/block";
	DIR *dir = opendir(dir_path);
	struct dirent *entry;
	int found = 0;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX], text[32], other[DEVICE_ID];
		unsigned int major_number, minor_number;
		dev_t candidate;

		/* Skip hidden paths of an NVMe multipath disk: they have no device number. */
		snprintf(path, sizeof(path), "%s/%s/dev", dir_path,
			 entry->d_name);
		if (entry->d_name[0] == '.' ||
		    !read_line(path, text, sizeof(text)) ||
		    sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
			continue;
		candidate = makedev(major_number, minor_number);
		identity_read(candidate, other);
		if (candidate == except || strcmp(other, id))
			continue;
		*number = candidate;
		found++;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* True if both are the same device, or one is a partition of the other. */
static bool same_place(dev_t a, dev_t b)
{
	dev_t whole_a = whole_disk(a), whole_b = whole_disk(b);

	return a == b || (whole_a == whole_b && (a == whole_a || b == whole_b));
}

/*
 * Call @wanted for each device directly below @number (of a partition: below its disk), until one
 * call returns true. Returns false if no call did. @depth: how many levels above @number the search
 * began. @none receives whether there is no device below @number.
 */
static bool find_below(dev_t number,
		       bool (*wanted)(dev_t below, const void *data, int depth),
		       const void *data, int depth, bool *none)
{
	dev_t whole = whole_disk(number), below;
	char path[PATH_MAX], attribute[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	*none = true;
	sysfs_path(whole, "slaves", path);
	dir = depth < STACK_MAX ? opendir(path) : NULL;
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(attribute, sizeof(attribute), "slaves/%s/dev",
			 entry->d_name);
		if (entry->d_name[0] == '.' ||
		    !number_attribute(whole, attribute, &below))
			continue;
		*none = false;
		found = wanted(below, data, depth + 1);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* True if same_place() holds for @lower and @upper, or for @lower and a device below @upper. */
static bool rests_on(dev_t upper, const void *lower, int depth)
{
	bool none;

	return same_place(upper, *(const dev_t *)lower) ||
	       find_below(upper, rests_on, lower, depth, &none);
}

/* True if @upper is stacked on @lower, at any depth. False if they are a disk and its partition. */
bool identity_rests_on(dev_t upper, dev_t lower)
{
	bool none;

	return upper != lower && find_below(upper, rests_on, &lower, 0, &none);
}

/*
 * True if two devices share storage: the same device, a disk and its partition, one stacked on the
 * other, or two paths to the same disk.
 */
bool identity_overlap(dev_t a, dev_t b)
{
	char id_a[DEVICE_ID], id_b[DEVICE_ID];

	if (rests_on(a, &b, 0) || rests_on(b, &a, 0))
		return true;
	identity_read(a, id_a);
	identity_read(b, id_b);
	/* Only equal wwids prove that the disk is the same: drives may share a serial number. */
	return !strncmp(id_a, "wwid:", 5) && !strcmp(id_a, id_b);
}

/* Get a disk's drive, as a path in sysfs: for NVMe the controller or subsystem of the namespace. */
static bool drive_of(dev_t disk, char *path)
{
	char link[PATH_MAX];

	sysfs_path(disk, "device", link);
	return realpath(link, path);
}

static bool same_drive(dev_t a, dev_t b)
{
	char of_a[PATH_MAX], of_b[PATH_MAX];

	if (a == b || identity_overlap(a, b))
		return true;
	return drive_of(a, of_a) && drive_of(b, of_b) && !strcmp(of_a, of_b);
}

/* Get the device that stores the file of a loop device. Returns false if it is unknown. */
static bool loop_below(dev_t number, dev_t *below)
{
	char file[PATH_MAX];
	struct stat st;

	if (!identity_attribute(number, "loop/backing_file", file,
				sizeof(file)) || stat(file, &st))
		return false;
	*below = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	return major(*below);
}

/* True if some part of @upper is on the drive of @disk. @disk has no device below it. */
static bool rests_on_drive(dev_t upper, const void *disk, int depth)
{
	bool none, found;
	dev_t below;

	found = find_below(upper, rests_on_drive, disk, depth, &none);
	if (!none || depth >= STACK_MAX)
		return found;
	if (loop_below(whole_disk(upper), &below))
		return rests_on_drive(below, disk, depth + 1);
	return same_drive(whole_disk(upper), *(const dev_t *)disk);
}

/* A visit of all disks on which a device rests.  @take returns false to end it. */
struct disk_visit {
	bool (*take)(dev_t disk, void *data);
	void *data;
};

static bool end_visit(dev_t upper, const void *data, int depth)
{
	const struct disk_visit *visit = data;
	bool none, ended = find_below(upper, end_visit, data, depth, &none);

	/* A stack that is too deep hides its disks. */
	return none && depth < STACK_MAX ? !visit->take(whole_disk(upper), visit->data) :
					   ended || depth >= STACK_MAX;
}

/*
 * Call @take for each disk that a device rests on, at any depth; some disks repeatedly.  Returns
 * false if @take returned false, or if the disks are not known.
 */
bool identity_each_disk(dev_t number, bool (*take)(dev_t disk, void *data), void *data)
{
	const struct disk_visit visit = { .take = take, .data = data };

	return !end_visit(number, &visit, 0);
}

/* @data: char **, the buffer (DEVICE_DM_NAME bytes) that gets the name of the suspended device. */
static bool rests_on_suspended(dev_t upper, const void *data, int depth)
{
	char value[8], *name = *(char *const *)data;
	bool none;

	if (identity_attribute(upper, "dm/suspended", value, sizeof(value)) && !strcmp(value, "1"))
		return identity_attribute(upper, "dm/name", name, DEVICE_DM_NAME);
	return find_below(upper, rests_on_suspended, data, depth, &none);
}

/*
 * True if a device, or one below it, is a suspended device of device-mapper: a read of it hangs,
 * and the reader cannot be killed. @name (DEVICE_DM_NAME bytes) receives the name of that device.
 */
bool identity_suspended(dev_t number, char *name)
{
	return rests_on_suspended(number, &name, 0);
}

/* True if @other has a part on the same drive as some part of @upper. */
static bool shares_drive(dev_t upper, const void *other, int depth)
{
	dev_t whole = whole_disk(upper), below;
	bool none, found;

	found = find_below(upper, shares_drive, other, depth, &none);
	if (!none || depth >= STACK_MAX)
		return found;
	if (loop_below(whole, &below))
		return shares_drive(below, other, depth + 1);
	return rests_on_drive(*(const dev_t *)other, &whole, 0);
}

/*
 * True if two devices have a drive in common, at any depth, through partitions, LVM, RAID and loop
 * devices. Such devices disappear together when that drive is pulled or fails.
 */
bool identity_same_drive(dev_t a, dev_t b)
{
	return shares_drive(a, &b, 0);
}

/* Parameters of identity_foreign_holder(), for is_foreign(). */
struct friends {
	const char *uuid;
	dev_t self;
};

static bool is_any(dev_t number, const char *holder, const void *unused)
{
	(void)number;
	(void)holder;
	(void)unused;
	return true;
}

static bool is_foreign(dev_t number, const char *holder, const void *data)
{
	const struct friends *friends = data;
	char attribute[320], uuid[256];
	dev_t its;

	snprintf(attribute, sizeof(attribute), "holders/%s/dev", holder);
	if (number_attribute(number, attribute, &its) && its == friends->self)
		return false;
	snprintf(attribute, sizeof(attribute), "holders/%s/dm/uuid", holder);
	return !identity_attribute(number, attribute, uuid, sizeof(uuid)) ||
	       strncmp(uuid, friends->uuid, strlen(friends->uuid)) ||
	       dm_uuid_passes_through(uuid);
}

static bool takes_writes(dev_t number, const char *holder, const void *unused)
{
	char attribute[320], value[16];

	(void)unused;
	snprintf(attribute, sizeof(attribute), "holders/%s/ro", holder);
	return !identity_attribute(number, attribute, value, sizeof(value)) ||
	       strcmp(value, "1");
}

static bool find_holder(dev_t number,
			bool (*wanted)(dev_t number, const char *holder,
				       const void *data),
			const void *data, char *name, size_t size)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	name[0] = '\0';
	sysfs_path(number, "holders", path);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    !wanted(number, entry->d_name, data))
			continue;
		snprintf(name, size, "%s", entry->d_name);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Get the kernel's name of a device that is stacked on @number; "" and false if there is none. */
bool identity_holder(dev_t number, char *name, size_t size)
{
	return find_holder(number, is_any, NULL, name, size);
}

/*
 * Like identity_holder(), but skips the device @self (0: none) and devices whose dm uuid starts
 * with @uuid. Does not skip pass-through devices: their writes bypass all caches.
 */
bool identity_foreign_holder(dev_t number, const char *uuid, dev_t self,
			     char *name, size_t size)
{
	struct friends friends = { .uuid = uuid, .self = self };

	return find_holder(number, is_foreign, &friends, name, size);
}

/* Like identity_holder(), but skips devices that refuse writes. */
bool identity_writable_holder(dev_t number, char *name, size_t size)
{
	return find_holder(number, takes_writes, NULL, name, size);
}

static bool is_cluster(dev_t number, const char *holder, const void *unused)
{
	char attribute[320], uuid[256];

	(void)unused;
	snprintf(attribute, sizeof(attribute), "holders/%s/dm/uuid", holder);
	return identity_attribute(number, attribute, uuid, sizeof(uuid)) &&
	       dm_uuid_is_cluster(uuid);
}

/* Get the dm name of a cluster device that reads @number; "" and false if there is none. */
bool identity_cluster_holder(dev_t number, char *name, size_t size)
{
	char holder[64], attribute[96];

	if (!find_holder(number, is_cluster, NULL, holder, sizeof(holder)))
		return false;
	snprintf(attribute, sizeof(attribute), "holders/%.60s/dm/name", holder);
	return identity_attribute(number, attribute, name, size);
}
