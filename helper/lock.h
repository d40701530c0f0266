/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of the command at a time changes a device. */
#ifndef HELPER_LOCK_H
#define HELPER_LOCK_H

void lock_name(const char *name);
void lock_all(void);
void lock_release(void);

#endif /* HELPER_LOCK_H */
