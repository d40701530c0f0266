/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The port of an export in nvmet's configfs.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_EXPORT_PORT_H
#define HELPER_CLUSTER_EXPORT_PORT_H

#include "cluster/configfs.h"
#include "cluster/export.h"

/**
 * struct export_port - a change of the port of an export
 * @export: the wanted state
 * @edits: gets the edits
 * @path: folder of the port; "": none yet
 * @old: folder of a port that served only this subsystem before; "": none
 */
struct export_port {
	const struct export *export;
	struct configfs_edit **edits;
	char path[64];
	char old[64];
};

int export_port_serve(struct export_port *port);
int export_port_leave_others(struct export_port *port);
void export_port_clean(const struct export_port *port);
int export_port_remove(struct export_port *port);

#endif /* HELPER_CLUSTER_EXPORT_PORT_H */
