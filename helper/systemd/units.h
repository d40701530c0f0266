/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write the systemd units that open the devices of nearcachetab(5) at boot.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_SYSTEMD_UNITS_H
#define HELPER_SYSTEMD_UNITS_H

#include "open/nearcachetab.h"

/* Room for an escaped device name of up to 63 bytes: escaping turns a byte into up to four. */
#define UNITS_NAME	(4 * 64)

/* Service that pins files again at their present place, after their file systems are mounted. */
#define UNITS_PINS	"nearcache-pins.service"

const char *units_escape(const char *name, char *text);
const char *units_escape_path(const char *path, char *text);
int units_write(const struct tab_entry *entry, const char *folder,
		const char *template, bool waits);
int units_write_cluster(const struct tab_entry *entry, const char *folder, const char *template,
			bool waits);
int units_write_pins(const char *folder, const char *template,
		     const char *mounts);

#endif /* HELPER_SYSTEMD_UNITS_H */
