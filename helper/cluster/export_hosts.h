/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hosts of an export in nvmet's configfs: their folders with the keys, and the list of hosts
 * that a subsystem allows.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_EXPORT_HOSTS_H
#define HELPER_CLUSTER_EXPORT_HOSTS_H

#include "cluster/configfs.h"
#include "cluster/export.h"

/**
 * struct export_hosts - a change of the hosts of an export
 * @export: the wanted state
 * @edits: gets the edits
 * @before: hosts that the subsystem allowed before, @before_count of them
 */
struct export_hosts {
	const struct export *export;
	struct configfs_edit **edits;
	char **before;
	size_t before_count;
};

int export_hosts_look(struct export_hosts *hosts);
int export_hosts_check(const struct export_hosts *hosts);
bool export_hosts_lose(const struct export_hosts *hosts);
int export_hosts_make(struct export_hosts *hosts);
int export_hosts_allow(struct export_hosts *hosts);
void export_hosts_clean(const struct export_hosts *hosts);
void export_hosts_free(struct export_hosts *hosts);

#endif /* HELPER_CLUSTER_EXPORT_HOSTS_H */
