/* SPDX-License-Identifier: GPL-2.0-only */
/* What /etc/fstab mounts of a device of the table. */
#ifndef HELPER_SYSTEMD_FSTAB_H
#define HELPER_SYSTEMD_FSTAB_H

#define FSTAB_FILE	"/etc/fstab"

int fstab_check(const char *path, const char *name);
int fstab_each_late(const char *path,
		    void (*visit)(const char *folder, void *arg), void *arg);

#endif /* HELPER_SYSTEMD_FSTAB_H */
