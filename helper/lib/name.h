/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks names of devices, and labels. */
#ifndef HELPER_LIB_NAME_H
#define HELPER_LIB_NAME_H

#include <stdbool.h>

#include "nearcache.h"

/* Size of a device name with NUL. The superblock stores the name in @label, of the same size. */
#define NAME_SIZE	64

bool name_check(const char *name, const char **why);
const char *name_of_operand(const char *operand);

/* Size of a label with NUL. */
#define LABEL_SIZE	(NEARCACHE_LABEL_MAX + 1)

const char *label_check(const char *label);

#endif /* HELPER_LIB_NAME_H */
