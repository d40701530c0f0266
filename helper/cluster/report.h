/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the state of cluster devices, and compare this node with its configuration.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_REPORT_H
#define HELPER_CLUSTER_REPORT_H

int cluster_status(const char *name);
int cluster_check(const char *name);

#endif /* HELPER_CLUSTER_REPORT_H */
