/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replace the kernel module while devices are in use: kmod/doc/upgrade.md has the steps and what a
 * crash after each of them leaves.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise. Those of the second part also clean up after an error that is set aside.
 */
#ifndef HELPER_UPGRADE_UPGRADE_H
#define HELPER_UPGRADE_UPGRADE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "block/dm.h"
#include "lib/range.h"
#include "nearcache_format.h"
#include "netlink/client.h"

/* Size of a srcversion, the kernel's checksum of a module's source, with NUL. */
#define UPGRADE_SOURCE	64

/**
 * struct upgrade_list - ranges, in a growing array
 * @range: the ranges
 * @count: entries of @range
 * @room: allocated entries
 */
struct upgrade_list {
	struct range *range;
	size_t count;
	size_t room;
};

/**
 * struct upgrade_job - a prefetch job that is not over
 * @job: label, priority, deadline (seconds since boot, 0: none) and bandwidth
 * @left: ranges that the job has not brought yet
 */
struct upgrade_job {
	struct nl_job job;
	struct upgrade_list left;
};

/**
 * struct upgrade_device - a device, and all that a new table does not bring back
 * @name: dm name
 * @uuid: dm uuid
 * @made: the kernel's sequence number of the device: one of this name that was made later has another
 * @number: device number
 * @bytes: its size
 * @table: parameters of the table of the cache
 * @writes: the mode accepts writes
 * @ahead: read-ahead in sectors
 * @gap: names its gap, see gaps_add()
 * @mounted: descriptor on its file system; -1: not open
 * @freezes: the file system is frozen next, which the record notes before
 * @frozen: this command froze the file system, or a run of it that was killed may have
 * @since: when it was frozen, nanoseconds of watch_now()
 * @waited: how long its writers waited the last time, in milliseconds
 * @counted: @written is known, so that this run, or one that was killed, may have changed the table
 * @written: sectors written and discarded through the device, see upgrade_freeze()
 * @verified: after the table of the cache came back, it was verified that no write had passed by
 * @fresh: this run gave the device its cache again, without ranges, plan and jobs
 * @passes: it has the pass-through table
 * @claim: descriptors that claim the cache devices and the witness while @passes
 * @claims: entries of @claim
 * @gone: the device does not exist any more, or is another one
 * @lost: a write passed by, or could, so that its cache must not come back
 * @range: ranges, with expires in seconds since boot; owns the labels
 * @ranges: entries of @range
 * @job: jobs
 * @jobs: entries of @job
 * @planned: a plan is in force
 * @no_prefetch: it brings no data ahead
 * @plan: ranges that readers have not read yet, in order
 */
struct upgrade_device {
	char name[128];
	char uuid[130];
	char made[32];
	dev_t number;
	uint64_t bytes;
	char *table;
	bool writes;
	uint32_t ahead;
	char gap[UPGRADE_SOURCE];
	int mounted;
	bool freezes;
	bool frozen;
	uint64_t since;
	uint64_t waited;
	bool counted;
	uint64_t written;
	bool verified;
	bool fresh;
	bool passes;
	int claim[NEARCACHE_MEMBERS_MAX + 1];
	unsigned int claims;
	bool gone;
	bool lost;
	struct nl_range *range;
	size_t ranges;
	struct upgrade_job *job;
	size_t jobs;
	bool planned;
	bool no_prefetch;
	struct upgrade_list plan;
};

/**
 * struct upgrade_module - a module file
 * @file: its path; "": unknown
 * @source: its srcversion
 * @version: its version
 */
struct upgrade_module {
	char file[PATH_MAX];
	char source[UPGRADE_SOURCE];
	char version[UPGRADE_SOURCE];
};

/**
 * struct upgrade - a change of the module
 * @device: all devices; those in mode read-only come first
 * @count: entries of @device
 * @before: the module that is loaded
 * @now: the module to load
 * @returned: the old module is loaded again after an error
 * @changed: in the end the new module is loaded
 */
struct upgrade {
	struct upgrade_device *device;
	size_t count;
	struct upgrade_module before;
	struct upgrade_module now;
	bool returned;
	bool changed;
};

/* steps.c */
int upgrade_run(struct upgrade *u);
int upgrade_finish(struct upgrade *u);

/* check.c */
int upgrade_find(struct upgrade *u, char *const *name, int names);
int upgrade_check(const struct upgrade *u, bool force);
int upgrade_check_writer(const struct upgrade_device *dev);
int upgrade_check_works(const struct upgrade_device *dev);
void upgrade_free(struct upgrade *u);

/* module.c */
bool upgrade_module_loaded(char *source);
int upgrade_module_inspect(struct upgrade *u, const char *file);
int upgrade_module_check_users(unsigned int users);
int upgrade_module_check_format(const struct upgrade_module *module, uint32_t version,
				uint64_t features, const char *path);
void upgrade_module_keep(const struct upgrade_module *module);

/* record.c */
/* Folder of the record; tests set another one. */
extern const char *upgrade_record_folder;
int upgrade_record_load(struct upgrade *u, bool *found);

/* carried.c */
int upgrade_carried_read(struct upgrade_device *dev);
void upgrade_device_free(struct upgrade_device *dev);
int upgrade_list_add(struct upgrade_list *list, const struct range *range);
uint64_t upgrade_seconds(void);

/* The rest also clean up: for steps.c. */
int upgrade_record_save(const struct upgrade *u);
int upgrade_record_verified(const struct upgrade_device *dev);
int upgrade_record_remove(void);
int upgrade_gap_begin(const struct upgrade_device *dev);
int upgrade_gap_end(const struct upgrade_device *dev);
int upgrade_programs_detach(void);
int upgrade_programs_attach(void);
int upgrade_prepare_freeze(struct upgrade_device *dev);
int upgrade_freeze(struct upgrade_device *dev);
int upgrade_freeze_again(struct upgrade_device *dev);
int upgrade_thaw(struct upgrade_device *dev);
int upgrade_settle(struct upgrade_device *dev);
int upgrade_pass(struct upgrade_device *dev);
int upgrade_back(struct upgrade_device *dev);
int upgrade_verify(struct upgrade_device *dev);
int upgrade_module_unload(void);
int upgrade_module_load(const struct upgrade_module *module);
int upgrade_carried_restore(const struct upgrade_device *dev);

#endif /* HELPER_UPGRADE_UPGRADE_H */
