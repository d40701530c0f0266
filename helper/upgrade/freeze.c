// SPDX-License-Identifier: GPL-2.0-only
/*
 * Freeze the file system of a device, so that it has no dirty data and writers wait. Only the mode
 * of the device matters: a file system that is mounted read-only is frozen as well.
 */
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "block/device_sysfs.h"
#include "block/mounts.h"
#include "lib/error.h"
#include "lib/periodic_wait.h"
#include "upgrade/tables.h"
#include "upgrade/upgrade.h"

/*
 * @fd: a mount of the device, -1: none that can be opened. @seen: there is a mount. @discards: its
 * file system may discard while it is frozen.
 */
struct search {
	dev_t number;
	int fd;
	bool seen;
	bool discards;
};

static void take_mount(const struct mount_place *place, void *arg)
{
	struct search *search = arg;

	if (!mounts_on(place, search->number))
		return;
	search->seen = true;
	search->discards |= place->discards;
	if (search->fd < 0)
		search->fd = mounts_open(place);
}

/* Does an ext4 file system discard by an option that is in its superblock, which no mount shows? */
static bool discards_by_default(dev_t number)
{
	char path[64], line[64];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/fs/ext4/dm-%u/options", minor(number));
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strcmp(line, "discard\n");
	if (file)
		fclose(file);
	return found;
}

/*
 * Fail if the file system of a device in a writing mode discards freed blocks: btrfs and ext4 do that
 * also while they are frozen, and a discard counts as a write.
 */
int upgrade_check_discards(const struct upgrade_device *dev)
{
	struct search search = { .number = dev->number, .fd = 0 };
	char bytes[32];

	if (!dev->writes || !identity_attribute(dev->number, "queue/discard_max_bytes", bytes,
						sizeof(bytes)) || !strcmp(bytes, "0"))
		return 0;
	mounts_each_anywhere(take_mount, &search);
	return !search.discards && !discards_by_default(dev->number) ? 0 :
	       fail(CODE_BUSY,
		    "the file system on '%s' discards freed blocks even while it is frozen: 'mount -o remount,nodiscard' first, and 'remount,discard' afterwards",
		    dev->name);
}

static void open_mount(struct upgrade_device *dev, bool *seen)
{
	struct search search = { .number = dev->number, .fd = -1 };

	mounts_each_anywhere(take_mount, &search);
	dev->mounted = search.fd;
	*seen = search.seen;
}

static int freeze_failed(const struct upgrade_device *dev, int error)
{
	if (error == EBUSY)
		return fail(CODE_BUSY,
			    "the file system on '%s' is frozen already: thaw it first (fsfreeze -u)",
			    dev->name);
	if (error == EOPNOTSUPP)
		return fail(CODE_DEVICE,
			    "the file system on '%s' cannot be frozen, and it could write while the cache is closed: unmount it, or remount it read-only and run 'nearcache set %s mode=read-only'",
			    dev->name, dev->name);
	return fail_errno(error, "cannot freeze the file system on '%s'", dev->name);
}

/* Open the file system of a device in a writing mode. Not an error if it has none. */
static int reach_mount(struct upgrade_device *dev)
{
	bool seen = false;

	if (dev->writes && dev->mounted < 0)
		open_mount(dev, &seen);
	return !seen || dev->mounted >= 0 ? 0 :
	       fail(CODE_BUSY,
		    "the file system on '%s' is mounted where this command cannot reach it: unmount it, or what is mounted over it",
		    dev->name);
}

/*
 * Before the first file system is frozen, write back the dirty data of this one, so that writers of
 * the others do not wait for it.
 */
int upgrade_prepare_freeze(struct upgrade_device *dev)
{
	if (reach_mount(dev))
		return fail_code();
	dev->freezes = dev->mounted >= 0;
	return !dev->freezes || !syncfs(dev->mounted) ? 0 :
	       fail_errno(errno, "cannot write back the file system on '%s'", dev->name);
}

/*
 * In a writing mode, freeze the file system of a device, if it has one. In all modes, note the
 * count of written sectors: it must not grow until the cache is back.
 */
int upgrade_freeze(struct upgrade_device *dev)
{
	if (reach_mount(dev))
		return fail_code();
	dev->since = watch_now();
	if (dev->mounted >= 0 && ioctl(dev->mounted, FIFREEZE, 0))
		return freeze_failed(dev, errno);
	dev->frozen = dev->mounted >= 0;
	dev->verified = false;
	dev->counted = upgrade_written(dev->number, &dev->written);
	return dev->counted ? 0 :
	       fail(CODE_DEVICE, "the kernel has no statistics of device '%s'", dev->name);
}

/*
 * Before the cache of a device in a writing mode comes back: no writer may go on meanwhile. The run
 * that froze its file system may have been killed, and a user may have thawed or mounted it since.
 * If it cannot be frozen, its cache must not come back.
 */
int upgrade_freeze_again(struct upgrade_device *dev)
{
	if (!dev->writes || dev->mounted >= 0)
		return 0;
	if (!reach_mount(dev) && dev->mounted >= 0) {
		/* Frozen already: by the run that was killed, unless that did not get so far. */
		if (!ioctl(dev->mounted, FIFREEZE, 0))
			dev->frozen = true;
		else if (errno != EBUSY || !dev->frozen)
			freeze_failed(dev, errno);
	}
	if (!fail_code())
		upgrade_check_writer(dev);
	if (!fail_code())
		return 0;
	dev->lost = true;
	return fail_add("so '%s' passes through to its origin without a cache: unmount it, 'nearcache close %s', then open it again, and its cache starts empty",
			dev->name, dev->name);
}

/* A device is open, and has no mount: its file system was unmounted while it was frozen. */
static bool is_open(const struct upgrade_device *dev)
{
	struct dm_device now;
	bool found, open;

	if (dm_find(dev->name, &now, &found)) {
		fail_reset();
		return false;
	}
	open = found && now.open_count > 0;
	dm_device_free(&now);
	return open;
}

static int thaw_mount(struct upgrade_device *dev)
{
	bool seen = false;

	if (dev->mounted < 0)
		open_mount(dev, &seen);
	if (dev->mounted < 0 && seen)
		return fail(CODE_BUSY,
			    "the file system on '%s' is frozen, and another mount covers it: unmount that one, then run 'nearcache upgrade' again",
			    dev->name);
	if (dev->mounted < 0 && is_open(dev))
		return fail(CODE_BUSY,
			    "the file system on '%s' was unmounted while it was frozen: mount it, then run 'nearcache upgrade' again",
			    dev->name);
	/* EINVAL: it is not frozen: a user thawed it, or it was mounted again. */
	if (dev->mounted >= 0 && ioctl(dev->mounted, FITHAW, 0) && errno != EINVAL)
		return fail_errno(errno, "cannot thaw the file system on '%s' (try fsfreeze -u)",
				  dev->name);
	if (dev->since)
		dev->waited = (watch_now() - dev->since) / 1000000;
	dev->frozen = dev->freezes = false;
	return 0;
}

/* Thaw a file system that this command, or a former run of it, froze. */
int upgrade_thaw(struct upgrade_device *dev)
{
	if (dev->frozen)
		thaw_mount(dev);
	if (dev->mounted >= 0)
		close(dev->mounted);
	dev->mounted = -1;
	return fail_code();
}
