/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces files as a whole: a reader sees the old or the new content, never a mixture. Also appends
 * to files whose reader recognises an incomplete end.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_LIB_ATOMIC_FILE_H
#define HELPER_LIB_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Write the new content durably with prepare; then put it in place with commit, or drop it. */
int atomic_file_prepare(const char *path, const char *text);
int atomic_file_commit(const char *path);
void atomic_file_abandon(const char *path);
int atomic_file_remove(const char *path, bool *found);

int atomic_file_append(const char *path, off_t size, off_t offset, const char *data, size_t bytes);
int atomic_file_cut(const char *path, off_t size, off_t offset);

int atomic_file_check(const char *path);
int atomic_file_write(const char *path, const void *data, size_t bytes, bool durable);

#endif /* HELPER_LIB_ATOMIC_FILE_H */
