/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sleep of the system, as far as the caches have to know about it.  dm/system_sleep.c follows the
 * kernel's calls and changes the phase; doc/failures.md says what each phase is for.
 */
#ifndef NEARCACHE_CORE_SLEEP_H
#define NEARCACHE_CORE_SLEEP_H

#include <linux/types.h>

enum nc_sleep_phase {
	NC_SLEEP_AWAKE,
	NC_SLEEP_REST,	/* a sleep was announced, or ends: no work changes a cache device */
	NC_SLEEP_IMAGE,	/* all user tasks are frozen; a hibernation copies the memory */
};

enum nc_sleep_phase nc_sleep_phase(void);
unsigned int nc_sleep_images(void);
bool nc_sleep_has_image(void);
void nc_sleep_set(enum nc_sleep_phase phase);
void nc_sleep_undo(void);

#endif /* NEARCACHE_CORE_SLEEP_H */
