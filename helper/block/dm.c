// SPDX-License-Identifier: GPL-2.0-only
#include "block/dm.h"

#include <errno.h>
#include <libdevmapper.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/error.h"
#include "block/dm_task.h"
#include "block/dm_unprivileged.h"
#include "block/kernel_module.h"
#include "block/kmsg.h"
#include "block/lock.h"
#include "lib/name.h"
#include "block/table_params.h"
#include "block/signals.h"

/* Tell whether the kernel has a target, without loading a module. */
int dm_target_known(const char *target, bool *known)
{
	struct dm_task *task = dm_begin(DM_DEVICE_LIST_VERSIONS, NULL);
	struct dm_versions *version;
	uint32_t step = 1;

	*known = false;
	if (!task)
		return fail_code();
	version = dm_task_run(task) ? dm_task_get_versions(task) : NULL;
	while (version && step && !*known) {
		*known = !strcmp(version->name, target);
		step = version->next;
		version = (void *)((char *)version + step);
	}
	dm_task_destroy(task);
	return 0;
}

/* Say why the kernel has no target. */
static int fail_target(const char *target)
{
	char text[256];

	if (!kernel_module_error(DM_MODULE, text, sizeof(text)))
		return fail(CODE_DEVICE,
			    "the kernel has no '%s' target: load the module '" DM_MODULE "' of this version, built for this kernel",
			    target);
	if (kernel_module_is_unsigned(text))
		return fail(CODE_DEVICE,
			    "%s: this kernel loads only modules with a signature by a key that is enrolled (Secure Boot): 'mokutil --import CERTIFICATE', reboot, and choose \"Enroll MOK\"; the certificate is /var/lib/dkms/mok.pub for DKMS, and that in /usr/share/nearcache-modules-* for a prebuilt module",
			    text);
	return fail(CODE_DEVICE, "the kernel has no '%s' target: %s", target, text);
}

static int need_target(const char *target)
{
	bool known;

	/* libdevmapper looks for device-mapper only once: load the module before the first task. */
	if (access(DM_CONTROL_NODE, F_OK))
		kernel_module_load(DM_MODULE);
	if (dm_target_known(target, &known) || known)
		return fail_code();
	kernel_module_load(DM_MODULE);
	if (dm_target_known(target, &known) || known)
		return fail_code();
	return fail_target(target);
}

/* Fail unless the kernel has the nearcache target. Loads the kernel module if necessary. */
int dm_need_target(void)
{
	return need_target(DM_TARGET);
}

/* As dm_need_target(), for the target of cluster devices, which older modules lack. */
int dm_need_cluster_target(void)
{
	return need_target(DM_CLUSTER_TARGET);
}

/* As dm_need_target(), for the target of stages, which older modules lack. */
int dm_need_stage_target(void)
{
	return need_target(DM_STAGE_TARGET);
}

static bool parse_number(const char *word, dev_t *number)
{
	unsigned int major_number, minor_number;

	if (sscanf(word, "%u:%u", &major_number, &minor_number) != 2)
		return false;
	*number = makedev(major_number, minor_number);
	return true;
}

static void take_table(struct dm_device *dev, uint64_t sectors,
		       const char *params)
{
	char origin[32], cache[32];

	dev->ours = true;
	dev->size = sectors * 512;
	dev->table = strdup(params);
	if (sscanf(params, "%31s %31s %31s", dev->mode, origin, cache) != 3 ||
	    !parse_number(origin, &dev->origin) ||
	    !parse_number(cache, &dev->cache))
		dev->mode[0] = '\0';
}

/* True if the device was created for a cache, whatever table it has. */
static bool has_cache_uuid(const struct dm_device *dev)
{
	return !dm_uuid_passes_through(dev->uuid) && !dm_uuid_is_cluster(dev->uuid) &&
	       !strncmp(dev->uuid, DM_UUID_PREFIX, sizeof(DM_UUID_PREFIX) - 1);
}

/* Returns the uuid of the cache, as its superblock has it; the dm uuid of another device. */
const char *dm_cache_uuid(const struct dm_device *dev)
{
	return has_cache_uuid(dev) ? dev->uuid + strlen(DM_UUID_PREFIX) : dev->uuid;
}

/* Store the line that @type asks for of a target of this project. */
static void take_line(int type, struct dm_device *dev, const char *target, uint64_t sectors,
		      const char *params)
{
	if (type == DM_DEVICE_STATUS) {
		dev->status = strdup(params);
	} else if (!strcmp(target, DM_TARGET)) {
		take_table(dev, sectors, params);
	} else {
		dev->cluster = !strcmp(target, DM_CLUSTER_TARGET);
		dev->stage = !dev->cluster;
		dev->size = sectors * 512;
		dev->table = strdup(params);
	}
}

static bool is_own_target(const char *target)
{
	return !strcmp(target, DM_TARGET) || !strcmp(target, DM_CLUSTER_TARGET) ||
	       !strcmp(target, DM_STAGE_TARGET);
}

/* Set @dev->table or @dev->status. Leave NULL if the device has another target or is gone. */
static int query_task(int type, struct dm_device *dev)
{
	struct dm_task *task = dm_begin(type, dev->name);
	char *target = NULL, *params = NULL;
	uint64_t start, length;

	if (!task)
		return fail_code();
	/* Reading the table must not cause I/O. */
	dm_task_no_flush(task);
	dm_task_no_open_count(task);
	if (!dm_task_run(task)) {
		int error = dm_task_get_errno(task) == ENXIO ? 0 :
			    dm_failed(task, "ask for the table of", dev->name);

		dm_task_destroy(task);
		return error;
	}
	dm_get_next_target(task, NULL, &start, &length, &target, &params);
	if (target && is_own_target(target)) {
		take_line(type, dev, target, length, params);
	} else if (target && type == DM_DEVICE_TABLE && has_cache_uuid(dev)) {
		/* 'dmsetup wipe_table' loads a table with the target "error". */
		dev->separated = !strcmp(target, DM_LINEAR);
		dev->wiped = !dev->separated;
		dev->ours = true;
	}
	dm_task_destroy(task);
	return 0;
}

static void take_info(struct dm_device *dev, struct dm_task *task,
		      const struct dm_info *info)
{
	const char *uuid = dm_task_get_uuid(task);

	snprintf(dev->uuid, sizeof(dev->uuid), "%s", uuid ? uuid : "");
	dev->number = makedev(info->major, info->minor);
	dev->live = info->live_table;
	dev->suspended = info->suspended;
	dev->read_only = info->read_only;
	dev->open_count = info->open_count;
	dev->event = info->event_nr;
	dev->ours = !dev->live && has_cache_uuid(dev);
}

/* Look up a dm device of any kind. If it exists, @found is true and dm_device_free() is needed. */
int dm_find(const char *name, struct dm_device *dev, bool *found)
{
	struct dm_task *task;
	struct dm_info info;

	*found = false;
	if (dm_is_unprivileged())
		return dm_unprivileged_find(name, dev, found);
	task = dm_begin(DM_DEVICE_INFO, name);
	memset(dev, 0, sizeof(*dev));
	if (!task)
		return fail_code();
	if (!dm_task_run(task) || !dm_task_get_info(task, &info)) {
		int error = dm_failed(task, "look up the device", name);

		dm_task_destroy(task);
		return error;
	}
	*found = info.exists;
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	if (info.exists)
		take_info(dev, task, &info);
	dm_task_destroy(task);
	if (!*found || !dev->live)
		return 0;
	if (query_task(DM_DEVICE_TABLE, dev) || query_task(DM_DEVICE_STATUS, dev)) {
		dm_device_free(dev);
		return fail_code();
	}
	return 0;
}

/* Look up a device that must be a nearcache device. After success dm_device_free() is needed. */
int dm_need_ours(const char *name, struct dm_device *dev)
{
	const char *why;
	bool found;

	if (!name_check(name, &why))
		return fail(CODE_USAGE, "'%s' is not a valid device name: %s", name,
			    why);
	if (dm_find(name, dev, &found))
		return fail_code();
	if (found && dev->ours)
		return 0;
	dm_device_free(dev);
	if (found && dm_uuid_passes_through(dev->uuid))
		return fail(CODE_DEVICE,
			    "device '%s' passes through to its origin, without a cache: 'nearcache close %s', then open it again",
			    name, name);
	if (found && (dev->cluster || dm_uuid_is_cluster(dev->uuid)))
		return fail(CODE_DEVICE,
			    "device '%s' is a cluster device, not a cache: 'nearcache cluster leave %s' removes it; the cache of this node is '%s-home'",
			    name, name, name);
	if (found && dm_uuid_is_stage(dev->uuid))
		return fail(CODE_DEVICE,
			    "device '%s' is the stage below a cache, not a cache: name the cache",
			    name);
	if (found)
		return fail(CODE_DEVICE,
			    "device '%s' is a device-mapper device of another kind",
			    name);
	return fail(CODE_DEVICE,
		    "there is no device '%s': 'nearcache list' shows those that are open",
		    name);
}

/* Append a device to the list if @wanted() accepts it. A device that vanished is not an error. */
static int append_device(struct dm_device **list, size_t *count, const char *name,
			 bool (*wanted)(const struct dm_device *dev))
{
	struct dm_device dev, *longer;
	bool found;

	if (dm_find(name, &dev, &found))
		return fail_code();
	if (!found || !wanted(&dev)) {
		dm_device_free(&dev);
		return 0;
	}
	longer = reallocarray(*list, *count + 1, sizeof(**list));
	if (!longer) {
		dm_device_free(&dev);
		return fail_memory();
	}
	longer[(*count)++] = dev;
	*list = longer;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct dm_device *)a)->name,
		      ((const struct dm_device *)b)->name);
}

/* A list that grows. */
struct device_list {
	struct dm_device **list;
	size_t *count;
	bool (*wanted)(const struct dm_device *dev);
};

static int visit_device(const char *name, void *arg)
{
	const struct device_list *all = arg;

	return append_device(all->list, all->count, name, all->wanted);
}

static int each_name(int (*visit)(const char *name, void *arg), void *arg)
{
	struct dm_task *task = dm_begin(DM_DEVICE_LIST, NULL);
	struct dm_names *names;
	int error = 0;

	if (!task)
		return fail_code();
	names = dm_task_run(task) ? dm_task_get_names(task) : NULL;
	if (!names)
		error = dm_failed(task, "list the devices of", "device-mapper");
	while (names && names->dev && !error) {
		error = visit(names->name, arg);
		if (!names->next)
			break;
		names = (void *)((char *)names + names->next);
	}
	dm_task_destroy(task);
	return error;
}

static int list_all(struct dm_device **list, size_t *count,
		    bool (*wanted)(const struct dm_device *dev))
{
	struct device_list all = { list, count, wanted };
	int error;

	*list = NULL;
	*count = 0;
	error = dm_is_unprivileged() ? dm_unprivileged_each(visit_device, &all) :
				       each_name(visit_device, &all);
	if (error) {
		dm_device_free_all(*list, *count);
		return error;
	}
	if (*count)
		qsort(*list, *count, sizeof(**list), by_name);
	return 0;
}

static bool is_ours(const struct dm_device *dev)
{
	return dev->ours;
}

static bool passes_through(const struct dm_device *dev)
{
	return dm_uuid_passes_through(dev->uuid);
}

/* List all nearcache devices, sorted by name. The list needs dm_device_free_all(). */
int dm_all(struct dm_device **list, size_t *count)
{
	return list_all(list, count, is_ours);
}

/* List all pass-through devices, sorted by name. The list needs dm_device_free_all(). */
int dm_all_passing(struct dm_device **list, size_t *count)
{
	return list_all(list, count, passes_through);
}

static bool is_cluster(const struct dm_device *dev)
{
	return dev->cluster;
}

/* List all cluster devices, sorted by name. The list needs dm_device_free_all(). */
int dm_all_clusters(struct dm_device **list, size_t *count)
{
	return list_all(list, count, is_cluster);
}

static bool is_stage(const struct dm_device *dev)
{
	return dev->stage;
}

/* List all stages, sorted by name. The list needs dm_device_free_all(). */
int dm_all_stages(struct dm_device **list, size_t *count)
{
	return list_all(list, count, is_stage);
}

/* True if @cache is one of the device's cache devices. */
static bool uses_cache(const struct dm_device *dev, dev_t cache)
{
	struct params params;
	unsigned int i;

	if (dev->cache == cache)
		return true;
	if (!dev->ours || !dev->table || !params_parse(dev->table, &params))
		return false;
	for (i = 0; i < params.members; i++)
		if (params.member[i] == cache)
			return true;
	return false;
}

/* Find the nearcache device that uses a cache device. If @found, dm_device_free() is needed. */
int dm_find_cache(dev_t cache, struct dm_device *dev, bool *found)
{
	struct dm_device *list;
	size_t i, count;

	*found = false;
	if (dm_all(&list, &count))
		return fail_code();
	for (i = 0; i < count; i++) {
		if (*found || !uses_cache(&list[i], cache)) {
			dm_device_free(&list[i]);
			continue;
		}
		*dev = list[i];
		*found = true;
	}
	free(list);
	return 0;
}

void dm_device_free(struct dm_device *dev)
{
	free(dev->table);
	free(dev->status);
	dev->table = NULL;
	dev->status = NULL;
}

void dm_device_free_all(struct dm_device *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		dm_device_free(&list[i]);
	free(list);
}

/*
 * Run a task that adds or removes a device. After success call @then (may be NULL), and only then
 * wait until udev has updated the node in /dev, which may take long; without udev, libdevmapper
 * updates the node. Returns whether the task succeeded.
 */
static bool run_with_node(struct dm_task *task, void (*then)(void))
{
	uint32_t cookie = 0;
	bool done;

	done = dm_task_set_cookie(task, &cookie, 0) && dm_task_run(task);
	if (done && then)
		then();
	dm_udev_wait(cookie);
	dm_task_update_nodes();
	return done;
}

/*
 * Whether this process waits until udev has processed its events. During a freeze it must not: a
 * rule of udev may wait for a frozen file system.
 */
void dm_wait_for_udev(bool wait)
{
	dm_udev_set_sync_support(wait);
}

static int create_failed(struct dm_task *task, const char *name,
			 const char *uuid)
{
	if (dm_task_get_errno(task) != EBUSY)
		return dm_failed(task, "make the device", name);
	return fail(CODE_BUSY,
		    "cannot make the device '%s': that name or the uuid '%s' exists; is this cache, or a copy of it, open already?",
		    name, uuid);
}

static int create_empty(const char *name, const char *uuid)
{
	struct dm_task *task = dm_begin(DM_DEVICE_CREATE, name);
	int error = 0;

	if (!task)
		return fail_code();
	if (!dm_task_set_uuid(task, uuid) ||
	    !dm_task_set_add_node(task, DM_ADD_NODE_ON_RESUME))
		error = fail_memory();
	else if (!dm_task_run(task))
		error = create_failed(task, name, uuid);
	dm_task_destroy(task);
	return error;
}

/* Load a dm table as the inactive table of a device. dm_resume() makes it live. */
int dm_load(const char *name, const struct dm_line *line)
{
	struct dm_task *task = dm_begin(DM_DEVICE_RELOAD, name);
	int error = 0;

	if (!task)
		return fail_code();
	if ((line->read_only && !dm_task_set_ro(task)) ||
	    !dm_task_add_target(task, 0, line->bytes / 512,
				line->target ? line->target : DM_TARGET,
				line->params))
		error = fail_memory();
	else if (!dm_task_run(task))
		error = dm_failed(task, "load the table of", name);
	dm_task_destroy(task);
	return error;
}

static void end_suspend(void)
{
	unlock_all();
	suspend_progress_end();
}

/* As run_with_node(), but tell the user what the suspend waits for, if there is one. */
static bool run_suspend(struct dm_task *task, const char *name, enum dm_suspend suspend)
{
	bool done;

	if (suspend == DM_SUSPEND_FREEZE || suspend == DM_SUSPEND_DRAIN)
		suspend_progress_start(name, suspend == DM_SUSPEND_FREEZE);
	done = run_with_node(task, end_suspend);
	suspend_progress_end();
	return done;
}

/*
 * Make the loaded table live, or start a suspended device. If there is a loaded table, the kernel
 * first suspends a running device, as @suspend says. Success releases lock_all(): other runs may
 * then start devices.
 * @read_ahead: sectors, or DM_READ_AHEAD_KERNEL.
 */
int dm_resume(const char *name, uint32_t read_ahead, enum dm_suspend suspend)
{
	struct dm_task *task = dm_begin(DM_DEVICE_RESUME, name);
	int error = 0;

	if (!task)
		return fail_code();
	/* With AUTO, libdevmapper leaves the read-ahead to the kernel. */
	if (read_ahead == DM_READ_AHEAD_KERNEL)
		read_ahead = DM_READ_AHEAD_AUTO;
	if (!dm_task_set_add_node(task, DM_ADD_NODE_ON_RESUME) ||
	    !dm_task_set_read_ahead(task, read_ahead, 0) ||
	    (suspend == DM_SUSPEND_DRAIN && !dm_task_skip_lockfs(task)) ||
	    (suspend == DM_SUSPEND_HAND_OVER && !dm_task_no_flush(task)))
		error = fail_memory();
	else if (!run_suspend(task, name, suspend))
		error = dm_failed(task, "start the device", name);
	dm_task_destroy(task);
	return error;
}

static int need_node(const char *name)
{
	char path[256];
	int tries;

	snprintf(path, sizeof(path), "%s/%s", dm_dir(), name);
	for (tries = 0; access(path, F_OK) && tries < 50; tries++) {
		dm_mknodes(name);
		dm_task_update_nodes();
		usleep(100 * 1000);
	}
	if (access(path, F_OK))
		return fail_errno(errno, "the node '%s' did not appear", path);
	return 0;
}

static void make_device(const char *name, const char *uuid,
			const struct dm_line *line)
{
	struct kmsg log = kmsg_mark(0);

	if (create_empty(name, uuid)) {
		kmsg_close(&log);
		return;
	}
	if (dm_load(name, line) || dm_resume(name, DM_READ_AHEAD_KERNEL, DM_SUSPEND_NOT)) {
		kmsg_explain(&log, DM_TARGET);
		dm_remove(name);
	} else if (need_node(name)) {
		dm_remove(name);
	}
	kmsg_close(&log);
}

/*
 * Create a device and start it. After a failure, remove the device and quote the kernel's reason in
 * the error. After a ^C, remove the device too, unless the caller has called signals_hold().
 */
int dm_activate(const char *name, const char *uuid,
		const struct dm_line *line)
{
	sigset_t before;

	signals_hold(&before);
	make_device(name, uuid, line);
	if (!fail_code() && signals_waiting(&before))
		dm_remove(name);
	signals_release(&before);
	return fail_code();
}

/* Drop the table that dm_load() loaded and that is not live yet. */
int dm_clear(const char *name)
{
	struct dm_task *task = dm_begin(DM_DEVICE_CLEAR, name);
	int error = 0;

	if (!task)
		return fail_code();
	if (!dm_task_run(task))
		error = dm_failed(task, "drop the inactive table of", name);
	dm_task_destroy(task);
	return error;
}

int dm_remove(const char *name)
{
	struct dm_task *task = dm_begin(DM_DEVICE_REMOVE, name);
	int error = 0;

	if (!task)
		return fail_code();
	/* udev may have the device open for a moment: let libdevmapper retry. */
	dm_task_retry_remove(task);
	if (!run_with_node(task, NULL))
		error = dm_failed(task, "remove the device", name);
	dm_task_destroy(task);
	return error;
}
