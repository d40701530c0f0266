/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files that a crash leaves as they were before, or as they are to be. */
#ifndef HELPER_LIB_DURABLE_H
#define HELPER_LIB_DURABLE_H

#include <stdbool.h>

int durable_prepare(const char *path, const char *text);
int durable_commit(const char *path);
void durable_abandon(const char *path);
int durable_remove(const char *path, bool *found);

#endif /* HELPER_LIB_DURABLE_H */
