/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device ids, from sysfs: names of block devices that survive a reboot and a new device number.
 * Also the devices stacked on a device (holders), those below it, and its drives.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_DEVICE_SYSFS_H
#define HELPER_BLOCK_DEVICE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void identity_read(dev_t number, char *id);
int identity_find(const char *id, dev_t except, dev_t *number);
bool identity_rests_on(dev_t upper, dev_t lower);
bool identity_overlap(dev_t a, dev_t b);
bool identity_same_drive(dev_t a, dev_t b);
bool identity_each_disk(dev_t number, bool (*take)(dev_t disk, void *data), void *data);

/* Size of the name of a dm device, with its end. */
#define DEVICE_DM_NAME	128

bool identity_suspended(dev_t number, char *name);

bool identity_attribute(dev_t number, const char *attribute, char *value,
			size_t size);
bool identity_kernel_name(dev_t number, char *name, size_t size);
bool identity_holder(dev_t number, char *name, size_t size);
bool identity_foreign_holder(dev_t number, const char *uuid, dev_t self,
			     char *name, size_t size);
bool identity_writable_holder(dev_t number, char *name, size_t size);
bool identity_cluster_holder(dev_t number, char *name, size_t size);

/* In device_id_match.c. */
bool identity_may_be_same(const char *a, const char *b);

#endif /* HELPER_BLOCK_DEVICE_SYSFS_H */
