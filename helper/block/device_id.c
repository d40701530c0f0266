// SPDX-License-Identifier: GPL-2.0-only
#include "block/device_id.h"

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

/* How deep stacks of devices are followed. */
#define STACK_MAX	16
/* Longest identity that is stored as it is: DEVICE_ID less prefix and suffix. */
#define VALUE_MAX	80

static void sysfs_path(dev_t number, const char *attribute, char *path)
{
	snprintf(path, PATH_MAX, "/sys/dev/block/%u:%u/%s", major(number),
		 minor(number), attribute);
}

/* First line of a sysfs file, without blanks around it. */
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

/**
 * identity_attribute() - read an attribute of a block device
 * @number: the device
 * @attribute: path below its directory in sysfs
 * @value: filled in, trimmed
 * @size: bytes of @value
 *
 * Return: whether it is there and not empty.
 */
bool identity_attribute(dev_t number, const char *attribute, char *value,
			size_t size)
{
	char path[PATH_MAX];

	sysfs_path(number, attribute, path);
	return read_line(path, value, size);
}

/**
 * identity_kernel_name() - the kernel's name of a block device
 * @number: the device
 * @name: filled in: "nvme0n1"
 * @size: bytes of @name
 *
 * Return: whether there is such a device.
 */
bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	char *p;

	sysfs_path(number, "", path);
	if (!realpath(path, target))
		return false;
	p = strrchr(target, '/');
	snprintf(name, size, "%s", p ? p + 1 : target);
	/* The kernel writes '/' in a name as '!'. */
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

/* The disk that a partition lies on; a whole disk is its own. */
static dev_t whole_disk(dev_t number)
{
	char text[32];
	dev_t whole;

	if (identity_attribute(number, "partition", text, sizeof(text)) &&
	    number_attribute(number, "../dev", &whole))
		return whole;
	return number;
}

/* Identities that the kernel knows, the strongest first. */
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

/**
 * identity_read() - the stable identity of a block device
 * @number: the device
 * @id: DEVICE_ID bytes, filled in: "wwid:eui.0025...", "serial:...", for a
 *	partition with its number behind ("...-part2"); "" when it has none
 *
 * Values too long for the superblock are given as their SHA-256.
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

/**
 * identity_find() - find the device that has an identity
 * @id: stable identity, not ""
 * @except: a device that is not meant
 * @number: the device found
 *
 * Return: how many devices have it; @number is the last of them.
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

		/* Hidden paths below a multipath NVMe disk have no number. */
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

/* Same device, or one is the disk that the other is a partition of. */
static bool same_place(dev_t a, dev_t b)
{
	dev_t whole_a = whole_disk(a), whole_b = whole_disk(b);

	return a == b || (whole_a == whole_b && (a == whole_a || b == whole_b));
}

/*
 * The first device below this one, or below the disk that it is a partition of, that is
 * @wanted; @none: there is no device below.
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

/* Whether @upper is stored, at any depth, on @lower. */
static bool rests_on(dev_t upper, const void *lower, int depth)
{
	bool none;

	return same_place(upper, *(const dev_t *)lower) ||
	       find_below(upper, rests_on, lower, depth, &none);
}

/**
 * identity_rests_on() - whether a device is stored, at any depth, on another one
 * @upper: a device
 * @lower: another one
 *
 * Return: whether it is; not of a disk and its partition.
 */
bool identity_rests_on(dev_t upper, dev_t lower)
{
	bool none;

	return upper != lower && find_below(upper, rests_on, &lower, 0, &none);
}

/**
 * identity_overlap() - whether two devices share storage
 * @a: a device
 * @b: another one
 *
 * Return: whether they are the same, a disk and its partition, one stacked on
 * the other, or two paths to the same disk.
 */
bool identity_overlap(dev_t a, dev_t b)
{
	char id_a[DEVICE_ID], id_b[DEVICE_ID];

	if (rests_on(a, &b, 0) || rests_on(b, &a, 0))
		return true;
	identity_read(a, id_a);
	identity_read(b, id_b);
	/* Only a wwid is unique by contract; drives may share a serial. */
	return !strncmp(id_a, "wwid:", 5) && !strcmp(id_a, id_b);
}

/* Of NVMe the controller or subsystem: its namespaces come and go together. */
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

/* The device that holds the file system of a loop device's file. */
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

/* Whether @upper has anything on the drive of @disk, which has nothing below it. */
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

/* Whether @other has anything on one of the drives that @upper is on. */
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

/**
 * identity_same_drive() - whether two devices have a drive in common
 * @a: a device
 * @b: another one
 *
 * At any depth, through partitions, LVM, RAID, loop devices: such devices leave
 * together when that drive is pulled or fails.
 *
 * Return: whether they have.
 */
bool identity_same_drive(dev_t a, dev_t b)
{
	return shares_drive(a, &b, 0);
}

/**
 * struct friends - holders that are not meant
 * @uuid: start of their dm uuid
 * @self: one of them, whatever its uuid
 */
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

/* The first holder that is @wanted. */
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

/**
 * identity_holder() - a device stacked on this one
 * @number: the device
 * @name: filled in with the kernel's name of a holder; "" for none
 * @size: bytes of @name
 *
 * Return: whether there is one.
 */
bool identity_holder(dev_t number, char *name, size_t size)
{
	return find_holder(number, is_any, NULL, name, size);
}

/**
 * identity_foreign_holder() - a device of another kind stacked on this one
 * @number: the device
 * @uuid: start of the dm uuid of holders that are not meant
 * @self: a holder that is not meant, whatever its uuid; 0: none
 * @name: filled in with the kernel's name of a holder; "" for none
 * @size: bytes of @name
 *
 * Return: whether there is one.
 */
bool identity_foreign_holder(dev_t number, const char *uuid, dev_t self,
			     char *name, size_t size)
{
	struct friends friends = { .uuid = uuid, .self = self };

	return find_holder(number, is_foreign, &friends, name, size);
}

/**
 * identity_writable_holder() - a device stacked on this one that takes writes
 * @number: the device
 * @name: filled in with the kernel's name of a holder; "" for none
 * @size: bytes of @name
 *
 * Return: whether there is one.
 */
bool identity_writable_holder(dev_t number, char *name, size_t size)
{
	return find_holder(number, takes_writes, NULL, name, size);
}
