/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leave a cluster: undo 'cluster join'.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_LEAVE_H
#define HELPER_CLUSTER_LEAVE_H

#include <stdbool.h>

int cluster_leave(const char *name, bool dry_run);

#endif /* HELPER_CLUSTER_LEAVE_H */
