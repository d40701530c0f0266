/* SPDX-License-Identifier: GPL-2.0-only */
/* The path of a control group, for people. */
#ifndef HELPER_LIB_CGROUP_PATH_H
#define HELPER_LIB_CGROUP_PATH_H

#include <limits.h>
#include <stdint.h>

const char *cgroup_path(uint64_t id, char path[PATH_MAX]);

#endif /* HELPER_LIB_CGROUP_PATH_H */
