/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the mounts in /etc/fstab, some of which need a nearcache device.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_SYSTEMD_FSTAB_H
#define HELPER_SYSTEMD_FSTAB_H

#define FSTAB_FILE	"/etc/fstab"

int fstab_check(const char *path, const char *name);
int fstab_each_late(const char *path,
		    void (*visit)(const char *folder, void *arg), void *arg);

#endif /* HELPER_SYSTEMD_FSTAB_H */
