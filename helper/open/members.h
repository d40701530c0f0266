/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of a cache after the first. The first member has the metadata and is called "cache
 * device" in other files.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 * Call members_close() after each function that opens members, even after a failure.
 */
#ifndef HELPER_OPEN_MEMBERS_H
#define HELPER_OPEN_MEMBERS_H

#include "cli/options.h"
#include "block/device.h"
#include "block/table_params.h"
#include "ondisk/superblock.h"
#include "open/witness.h"

/**
 * struct members - the open members of a cache except one, usually the first
 * @count: entries of @index and @dev; 0: the cache has one device
 * @index: position of each member in the cache, 0: first
 * @dev: open devices
 */
struct members {
	unsigned int count;
	unsigned int index[NEARCACHE_MEMBERS_MAX - 1];
	struct device dev[NEARCACHE_MEMBERS_MAX - 1];
};

int members_open(struct members *members, const struct arguments *args);
int members_find(struct members *members, const struct arguments *args,
		 const struct device *first, const struct super *super,
		 const struct device *origin, const struct params *used);
int members_open_numbers(struct members *members, const struct params *params);
int members_judge(const struct members *members, const struct super *super);
int members_check_places(const struct members *members,
			 const struct device *first, const struct device *origin);
int members_check_first(const struct device *first, const struct super *super);
int members_check_witness(const struct members *members,
			  const struct witness *witness,
			  const struct device *first, const struct device *origin);
int members_find_rest(struct members *members, const struct super *super,
		      const struct device *one);
void members_find_used(struct members *members, const struct params *params,
		       dev_t one);
void members_tell_left(const struct super *super, const struct device *one);
void members_forget(struct members *members, unsigned int at);
void members_to_params(const struct members *members, struct params *params);
void members_print_numbers(const struct params *params);
void members_list_numbers(const struct params *params);
void members_print_as(const struct members *members, const char *label);
void members_print(const struct members *members);
void members_close(struct members *members);

#endif /* HELPER_OPEN_MEMBERS_H */
