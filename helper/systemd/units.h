/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write the systemd units of a table.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_SYSTEMD_UNITS_H
#define HELPER_SYSTEMD_UNITS_H

#include "open/nearcachetab.h"

/* Room for an escaped name: escaping turns a byte into up to four. */
#define UNITS_NAME	(4 * 64)

/* Finds pinned files after they are mounted. */
#define UNITS_PINS	"nearcache-pins.service"

const char *units_escape(const char *name, char *text);
const char *units_escape_path(const char *path, char *text);
int units_write(const struct tab_entry *entry, const char *folder,
		const char *template, bool waits);
int units_write_pins(const char *folder, const char *template,
		     const char *mounts);

#endif /* HELPER_SYSTEMD_UNITS_H */
