/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what a table says to the devices that are meant.  Nothing here waits for a device
 * that does not answer.
 */
#ifndef HELPER_RESOLVE_H
#define HELPER_RESOLVE_H

#include "device.h"
#include "format.h"

/* Seconds that a device has to show what it carries. */
#define RESOLVE_SECONDS	2

/**
 * struct resolved - what lies at a place
 * @path: of the device
 * @sb: its superblock
 */
struct resolved {
	char path[PATH_MAX];
	struct nearcache_super sb;
};

int resolve_path(struct resolved *cache, const char *path);
int resolve_uuid(struct resolved *cache, const char *uuid, unsigned int index,
		 const struct device *origin);
bool resolve_wait(const char *path, unsigned int seconds);

#endif /* HELPER_RESOLVE_H */
