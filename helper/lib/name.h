/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of nearcache devices. */
#ifndef HELPER_LIB_NAME_H
#define HELPER_LIB_NAME_H

#include <stdbool.h>

/* Bytes of a name with its end: the superblock's label holds it. */
#define NAME_SIZE	64

bool name_check(const char *name, const char **why);
const char *name_of_operand(const char *operand);

#endif /* HELPER_LIB_NAME_H */
