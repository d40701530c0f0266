/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device-mapper devices of the nearcache target. Only dm.c and dm_pieces.c use libdevmapper.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise. dm_load(), dm_resume(), dm_clear() and dm_remove() also serve to clean up
 * after an error: they return 0 if they succeed, even if an earlier error is recorded.
 */
#ifndef HELPER_BLOCK_DM_H
#define HELPER_BLOCK_DM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define DM_CONTROL_NODE	"/dev/mapper/control"
#define DM_TARGET	"nearcache"
#define DM_MODULE	"dm-nearcache"
/* The dm uuid of a nearcache device is this prefix and the uuid of its cache. */
#define DM_UUID_PREFIX	"nearcache-"
/*
 * A pass-through device has no cache: all its I/O goes to the origin. Its dm uuid is this prefix
 * and its name.
 */
#define DM_PASSTHROUGH_PREFIX	"nearcache-passthrough-"
/*
 * A cluster device reads the caches of several nodes, and is no cache itself. Its dm uuid is this
 * prefix and its name.
 */
#define DM_CLUSTER_PREFIX	"nearcache-cluster-"
/* Target of a cluster device. */
#define DM_CLUSTER_TARGET	"nearcache-peers"
/* Target of a stage: a device below a cache, which takes writes into a log. */
#define DM_STAGE_TARGET	"nearcache-stage"
/* The dm uuid of a stage is this prefix and the uuid of its log. It is no cache of its own. */
#define DM_STAGE_PREFIX	"nearcache_stage-"
/* Target of a device that shows what a cache holds. */
#define DM_MAP_TARGET	"nearcache-map"
/* Target of a pass-through device. */
#define DM_LINEAR	"linear"

/* Of a device that is separated from its cache, see struct dm_device. */
#define DM_SEPARATED \
	"passes through to its origin without its cache, after an upgrade: 'nearcache upgrade' finishes one that was interrupted; otherwise unmount the device, close it and open it again"

/**
 * struct dm_device - a device and its state in the kernel
 * @name: dm name
 * @uuid: dm uuid, "" when it has none
 * @number: device number
 * @ours: uses the nearcache target, or has a nearcache uuid and no table of that target
 * @wiped: has a nearcache uuid, and a live table with another target but linear
 * @separated: has a nearcache uuid, and a live table with the target linear, as an upgrade gives it
 * @cluster: uses the target of cluster devices; then @size, @table and @status are of that target
 * @stage: uses the target of stages; then @size, @table and @status are of that target
 * @live: has a live table
 * @suspended: suspended
 * @read_only: the kernel refuses writes
 * @open_count: how often the device is open
 * @event: number of events of the device so far
 * @size: size of the target in bytes, 0: the device has no target of this project
 * @table: parameters of the target, NULL: none
 * @status: status line of the target, NULL: none
 * @mode: of a cache: first word of @table; "" if @table is NULL or cannot be parsed
 * @origin: device number of the origin in @table, 0: none
 * @cache: device number of the first cache device in @table, 0: none
 */
struct dm_device {
	char name[128];
	char uuid[130];
	dev_t number;
	bool ours;
	bool wiped;
	bool separated;
	bool cluster;
	bool stage;
	bool live;
	bool suspended;
	bool read_only;
	int open_count;
	uint32_t event;
	uint64_t size;
	char *table;
	char *status;
	char mode[32];
	dev_t origin;
	dev_t cache;
};

/**
 * struct dm_line - a dm table with one target
 * @target: name of the target, NULL: DM_TARGET
 * @bytes: size of the device
 * @params: the target's parameters
 * @read_only: the device refuses writes
 */
struct dm_line {
	const char *target;
	uint64_t bytes;
	const char *params;
	bool read_only;
};

/**
 * enum dm_suspend - how dm_resume() first suspends a device that runs
 * @DM_SUSPEND_NOT: the device is new, or suspended already
 * @DM_SUSPEND_FREEZE: freeze the file system, which writes all its dirty data, then drain. Needed
 *	if the old table accepts writes and dirty data might not be written through the new one: the
 *	new table refuses writes; or it names another cache device, or the cache device is bypassed
 *	or degraded. If the kernel cannot write such a cache device it does not start the table, and
 *	only a table that refuses writes makes the device answer again
 * @DM_SUSPEND_DRAIN: wait for the I/O in flight; new I/O waits until the resume. Dirty data stays
 *	dirty and is written through the new table. For a change of the settings or of the size,
 *	with the same cache devices in state normal, and for a device that refuses writes. The
 *	device shows the same data before and after. Only a program that copies the origin during
 *	the suspend, such as a snapshot, needs a frozen file system; this program copies nothing
 * @DM_SUSPEND_HAND_OVER: as DM_SUSPEND_DRAIN, but reads that wait for the origin move to the new
 *	table, and the origin is not flushed. The module marks the cache as not cleanly stopped
 */
enum dm_suspend {
	DM_SUSPEND_NOT,
	DM_SUSPEND_FREEZE,
	DM_SUSPEND_DRAIN,
	DM_SUSPEND_HAND_OVER,
};

/* For dm_resume(): use the read-ahead that the kernel derives from the table. */
#define DM_READ_AHEAD_KERNEL	UINT32_MAX

static inline bool dm_uuid_passes_through(const char *uuid)
{
	return !strncmp(uuid, DM_PASSTHROUGH_PREFIX,
			sizeof(DM_PASSTHROUGH_PREFIX) - 1);
}

static inline bool dm_uuid_is_cluster(const char *uuid)
{
	return !strncmp(uuid, DM_CLUSTER_PREFIX, sizeof(DM_CLUSTER_PREFIX) - 1);
}

static inline bool dm_uuid_is_stage(const char *uuid)
{
	return !strncmp(uuid, DM_STAGE_PREFIX, sizeof(DM_STAGE_PREFIX) - 1);
}

int dm_need_target(void);
int dm_need_cluster_target(void);
int dm_need_stage_target(void);
int dm_target_known(const char *target, bool *known);
int dm_find(const char *name, struct dm_device *dev, bool *found);
int dm_need_ours(const char *name, struct dm_device *dev);
int dm_need_table(const struct dm_device *dev);
int dm_need_running(const struct dm_device *dev);
int dm_all(struct dm_device **list, size_t *count);
int dm_all_passing(struct dm_device **list, size_t *count);
int dm_all_stages(struct dm_device **list, size_t *count);
int dm_all_clusters(struct dm_device **list, size_t *count);
const char *dm_cache_uuid(const struct dm_device *dev);
int dm_find_cache(dev_t cache, struct dm_device *dev, bool *found);
void dm_device_free(struct dm_device *dev);
void dm_device_free_all(struct dm_device *list, size_t count);

int dm_activate(const char *name, const char *uuid,
		const struct dm_line *line);
int dm_load(const char *name, const struct dm_line *line);
int dm_resume(const char *name, uint32_t read_ahead, enum dm_suspend suspend);
int dm_clear(const char *name);
void dm_wait_for_udev(bool wait);
int dm_message(const struct dm_device *dev, const char *message);
int dm_ask(const struct dm_device *dev, const char *message, char *answer, size_t size);
int dm_wait_event(const struct dm_device *dev);
int dm_remove(const char *name);

/* suspend_progress.c: tell the user what the suspend of a device waits for. */
void suspend_progress_prepare(dev_t number);
void suspend_progress_start(const char *name, bool freezes);
void suspend_progress_end(void);

#endif /* HELPER_BLOCK_DM_H */
