/* SPDX-License-Identifier: GPL-2.0-only */
/* The controllers of the kernel as sysfs shows them, for link.c. */
#ifndef HELPER_CLUSTER_LINK_SYSFS_H
#define HELPER_CLUSTER_LINK_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#include "cluster/link.h"

#ifndef CONTROLLERS
#define CONTROLLERS	"/sys/class/nvme"
#endif
/* Size of an attribute in sysfs; the longest is the address of a controller. */
#define ATTRIBUTE		512

bool link_read_line(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void link_read_address(const char *controller, char *text);
bool link_take_controller(const char *name, const char *nqn, const char *host_nqn,
			  struct link_state *state);
void link_find_controller(const char *nqn, const char *host_nqn, const char *address,
			  struct link_state *state);

#endif /* HELPER_CLUSTER_LINK_SYSFS_H */
