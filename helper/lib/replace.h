/* SPDX-License-Identifier: GPL-2.0-only */
/* Files for everybody that are there as a whole, or as they were before. */
#ifndef HELPER_LIB_REPLACE_H
#define HELPER_LIB_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

int replace_check(const char *path);
int replace_file(const char *path, const void *data, size_t bytes, bool durable);

#endif /* HELPER_LIB_REPLACE_H */
