/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Create the device-mapper (dm) device of a cache, after checks that its parts fit together.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_ACTIVATE_H
#define HELPER_OPEN_ACTIVATE_H

#include "cli/options.h"
#include "block/device.h"
#include "meta/ondisk_check.h"
#include "open/members.h"
#include "lib/enum_words.h"

/**
 * struct activation - the parts of a device to create
 * @name: dm name, checked
 * @sb: valid superblock
 * @origin: open origin
 * @cache: open cache device; of several: the first member
 * @members: the other members; empty if there is one cache device
 * @witness: device number of the witness, 0: none
 * @mode: how writes are handled; may be read-only
 * @args: the command line: --fill-memory, --verify and the timeouts are used
 */
struct activation {
	const char *name;
	const struct nearcache_super *sb;
	const struct device *origin;
	const struct device *cache;
	const struct members *members;
	dev_t witness;
	enum nearcache_mode mode;
	const struct arguments *args;
};

int activate_check_name(const char *name);
int activate_check_kernel(const struct activation *act, bool optional);
int activate_check_devices(const struct activation *act);
int activate_check_mode(const struct device *origin, enum nearcache_mode mode);
int activate_check_free(const struct device *origin);
int activate_check_free_but(const struct device *origin, dev_t self);
int activate_check_holders(const struct device *origin, dev_t self);
int activate(const struct activation *act);
void activate_print(const struct activation *act);

#endif /* HELPER_OPEN_ACTIVATE_H */
