/* SPDX-License-Identifier: GPL-2.0-only */
/* From a superblock and two devices to a running device. */
#ifndef HELPER_ACTIVATE_H
#define HELPER_ACTIVATE_H

#include "device.h"
#include "format.h"

/* Room for the target's parameters. */
#define ACTIVATE_PARAMS	160

/**
 * struct activation - what a device is made of
 * @name: dm name, checked
 * @sb: sound superblock
 * @origin: open origin
 * @cache: open cache device
 * @fill_memory: bytes, 0: the kernel's default
 */
struct activation {
	const char *name;
	const struct nearcache_super *sb;
	const struct device *origin;
	const struct device *cache;
	u64 fill_memory;
};

int activate_check_memory(u64 bytes);
int activate_check_kernel(const char *name, bool optional);
int activate_check_devices(const struct device *origin,
			   const struct device *cache);
const char *activate_params(const struct activation *act, char *params);
int activate(const struct activation *act);
void activate_print(const struct activation *act);

#endif /* HELPER_ACTIVATE_H */
