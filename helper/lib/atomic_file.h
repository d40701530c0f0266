/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that are replaced as a whole: a reader, and a crash, see the old content or the new. */
#ifndef HELPER_LIB_ATOMIC_FILE_H
#define HELPER_LIB_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

int atomic_file_prepare(const char *path, const char *text);
int atomic_file_commit(const char *path);
void atomic_file_abandon(const char *path);
int atomic_file_remove(const char *path, bool *found);

int atomic_file_check(const char *path);
int atomic_file_write(const char *path, const void *data, size_t bytes, bool durable);

#endif /* HELPER_LIB_ATOMIC_FILE_H */
