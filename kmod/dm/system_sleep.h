/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows system sleep: hibernation and suspend. */
#ifndef NEARCACHE_DM_SYSTEM_SLEEP_H
#define NEARCACHE_DM_SYSTEM_SLEEP_H

int nc_system_sleep_register(void);
void nc_system_sleep_unregister(void);

#endif /* NEARCACHE_DM_SYSTEM_SLEEP_H */
