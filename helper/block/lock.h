/* SPDX-License-Identifier: GPL-2.0-only */
/* Locks against other runs of this command, so that only one at a time changes a device. */
#ifndef HELPER_BLOCK_LOCK_H
#define HELPER_BLOCK_LOCK_H

#include <stdbool.h>

#include "block/device.h"

void lock_name(const char *name);
bool lock_try_shared(const char *name);
bool lock_held(void);
void lock_release(void);
void lock_leave_to_parent(void);
int lock_all(const struct device *origin);
bool lock_holds_all(void);
void unlock_all(void);

#endif /* HELPER_BLOCK_LOCK_H */
