/* SPDX-License-Identifier: GPL-2.0-only */
/* From a superblock and two devices to a running device. */
#ifndef HELPER_OPEN_ACTIVATE_H
#define HELPER_OPEN_ACTIVATE_H

#include "cli/options.h"
#include "block/device.h"
#include "meta/format.h"
#include "open/members.h"
#include "lib/words.h"

/**
 * struct activation - what a device is made of
 * @name: dm name, checked
 * @sb: sound superblock
 * @origin: open origin
 * @cache: open cache device, the first of several
 * @members: the others
 * @witness: the witness device, 0: none
 * @mode: how it treats writes
 * @args: the command line: --fill-memory and the timeouts
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
int activate_check_holders(const struct device *origin, dev_t self);
int activate(const struct activation *act);
void activate_print(const struct activation *act);

#endif /* HELPER_OPEN_ACTIVATE_H */
