// SPDX-License-Identifier: GPL-2.0-only
/*
 * System sleep.  A hibernation copies the memory, and this kernel goes on until it has written the
 * copy (the image) to the swap device.  If it changed a cache device in that time, the resumed
 * kernel would have a map in memory that the cache device no longer has.  Therefore:
 *
 *	PM_HIBERNATION_PREPARE	user tasks run.  Background work stops
 *	prepare()		user tasks are frozen, all devices work.  From now on writes wait,
 *				and reads go to the origin
 *	(image)			in this kernel and in the resumed one follow the same calls:
 *	complete()		all devices work.  Only now may a write change a cache device
 *	PM_POST_HIBERNATION	user tasks run.  Compare the cache devices, then work again
 *
 * The notifier alone does not suffice: at PM_HIBERNATION_PREPARE user tasks still write, and they
 * run before PM_POST_HIBERNATION.  prepare() and complete() are called by the driver core for a
 * device that exists only for this.  Its freeze(), thaw() and restore() would come while some of
 * the disks are stopped, so no I/O could be done there.
 *
 * Suspend to RAM keeps the memory.  Work stops as well, but hits go on: they change nothing on a
 * cache device, and nothing has to be compared.
 */
#include <linux/device.h>
#include <linux/iopoll.h>
#include <linux/notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/suspend.h>

#include "cache.h"
#include "cache_sleep.h"
#include "core/sleep.h"
#include "dm/claim_registry.h"
#include "dm/system_sleep.h"

/* Microseconds to wait for a holder of nc_life.lock: between two looks, and in total. */
#define LIFE_LOOK	(20 * USEC_PER_MSEC)
#define LIFE_TIME	(10 * USEC_PER_SEC)
/* Jiffies for all caches to get ready for an image. */
#define HOLD_TIME	(10 * HZ)

/* The sleep that was announced is a hibernation. */
static bool takes_image;
/* Its image was taken, or cannot be taken any more. */
static bool image_taken;
/* When sleep_prepare() gives up, in jiffies. */
static unsigned long hold_end;

static struct device *sleep_device;

static int hold_for_sleep(struct nc_cache *c, struct nc_target *t, void *list)
{
	nc_registry_hold(c);
	list_add_tail(&c->reg.asleep, list);
	return 0;
}

static int wake_queue(struct nc_cache *c, struct nc_target *t, void *arg)
{
	queue_work(c->workers.cache, &c->workers.wake);
	return 0;
}

/* Call @call for one cache of each dm device, without the registry's mutex: @call may wait for
 * devices.  Returns the last error.
 */
static int sleep_each(int (*call)(struct nc_cache *c))
{
	struct nc_cache *c, *next;
	LIST_HEAD(list);
	int r = 0;

	nc_registry_each(0, hold_for_sleep, &list);
	list_for_each_entry_safe(c, next, &list, reg.asleep) {
		r = call(c) ?: r;
		nc_registry_release(c);
	}
	return r;
}

static void say_refused(struct nc_cache *c, const char *why)
{
	DMERR("%s: no system sleep now: %s; try again later", nc_cache_name(c), why);
}

/* Stop the work of @c that changes its cache device.  No activation starts it again, because the
 * phase is NC_SLEEP_REST.  No read waits for this work, so user tasks can be frozen.  Work that
 * runs ends by itself: nc_cache_hold() waits for it before an image, but not before a suspend.
 * Return: 0, or -ETIMEDOUT if another task is changing the device.
 */
static int stop_work(struct nc_cache *c)
{
	bool locked;
	int r;

	/* The holder may wait for an origin that hangs: rather refuse the sleep than hang. */
	r = read_poll_timeout(mutex_trylock, locked, locked, LIFE_LOOK, LIFE_TIME, false,
			      &c->life.lock);
	if (r) {
		say_refused(c, "dmsetup or nearcache is changing the device");
		return r;
	}
	WRITE_ONCE(c->life.asleep, true);
	WRITE_ONCE(c->reclaim.enabled, false);
	mutex_unlock(&c->life.lock);
	nc_scrub_rest(c);
	nc_prefetch_rest(c);
	nc_readahead_rest(c);
	return 0;
}

static int cache_rest(struct nc_cache *c)
{
	unsigned int noio = memalloc_noio_save();
	int r = stop_work(c);

	memalloc_noio_restore(noio);
	return r;
}

static int cache_hold(struct nc_cache *c)
{
	nc_cache_hold(c, !image_taken);
	return 0;
}

static int cache_held(struct nc_cache *c)
{
	int r = nc_cache_held(c, hold_end);

	if (r)
		say_refused(c, "the origin or the cache device does not complete its requests");
	return r;
}

static int cache_unhold(struct nc_cache *c)
{
	unsigned int noio = memalloc_noio_save();

	nc_cache_unhold(c);
	memalloc_noio_restore(noio);
	return 0;
}

static void sleep_end(void)
{
	takes_image = false;
	nc_sleep_set(NC_SLEEP_AWAKE);
	nc_registry_each(0, wake_queue, NULL);
}

static int sleep_begin(bool image)
{
	int r;

	takes_image = image;
	image_taken = false;
	nc_sleep_set(NC_SLEEP_REST);
	r = sleep_each(cache_rest);
	/* The chain does not call a notifier again that failed. */
	if (r)
		sleep_end();
	return r;
}

static int sleep_notify(struct notifier_block *block, unsigned long event, void *unused)
{
	switch (event) {
	case PM_HIBERNATION_PREPARE:
		return notifier_from_errno(sleep_begin(true));
	case PM_SUSPEND_PREPARE:
		return notifier_from_errno(sleep_begin(false));
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
		sleep_end();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block sleep_notifier = {
	.notifier_call = sleep_notify,
};

/* Not for a suspend, nor in a kernel that is about to be replaced by an image that it has read:
 * that is a power cut for its caches.  The driver core calls this again after the image was taken,
 * before it powers down or resumes: then nothing may be waited for, and writes wait as before.
 */
static int sleep_prepare(struct device *device)
{
	if (!takes_image)
		return 0;
	nc_sleep_set(NC_SLEEP_IMAGE);
	sleep_each(cache_hold);
	if (image_taken)
		return 0;
	hold_end = jiffies + HOLD_TIME;
	if (!sleep_each(cache_held))
		return 0;
	/* The driver core does not call complete() for a device whose prepare() failed. */
	nc_sleep_undo();
	sleep_each(cache_unhold);
	return -EBUSY;
}

static void sleep_complete(struct device *device)
{
	if (!takes_image)
		return;
	image_taken = true;
	nc_sleep_set(NC_SLEEP_REST);
	nc_registry_each(0, wake_queue, NULL);
}

static const struct dev_pm_ops sleep_ops = {
	.prepare = sleep_prepare,
	.complete = sleep_complete,
};

static const struct device_type sleep_type = {
	.name = "nearcache-sleep",
	.pm = &sleep_ops,
};

static void sleep_device_release(struct device *device)
{
	kfree(device);
}

/* The driver core calls sleep_ops only if it finds them in device_add(). */
static int add_device(void)
{
	struct device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	int r;

	if (!device)
		return -ENOMEM;
	device_initialize(device);
	device->type = &sleep_type;
	device->release = sleep_device_release;
	r = dev_set_name(device, "nearcache-sleep") ?: device_add(device);
	if (r)
		put_device(device);
	else
		sleep_device = device;
	return r;
}

/* Follow system sleep.  If one is under way, waits for its end: no cache exists while a sleep is
 * announced that the module does not know of.  Returns 0 or an error code.
 */
int nc_system_sleep_register(void)
{
	unsigned int flags = lock_system_sleep();
	int r = add_device();

	if (!r) {
		r = register_pm_notifier(&sleep_notifier);
		if (r)
			device_unregister(sleep_device);
	}
	unlock_system_sleep(flags);
	return r;
}

/* Context: no dm table exists. */
void nc_system_sleep_unregister(void)
{
	unregister_pm_notifier(&sleep_notifier);
	device_unregister(sleep_device);
}
