/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes (64M, 256KiB), bandwidths (40Gb/s) and durations (30m) as people write them. */
#ifndef HELPER_LIB_SIZE_H
#define HELPER_LIB_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Size of a text of size_print() with NUL. */
#define SIZE_TEXT	32

bool size_parse(const char *text, uint64_t *bytes, const char **why);
const char *size_print(uint64_t bytes, char *text);
const char *size_exact(uint64_t bytes, char *text);

/* Return NULL, or the reason why @text is invalid. 0 is invalid. @bytes: bytes per second. */
const char *bandwidth_parse(const char *text, uint64_t *bytes);
const char *duration_parse(const char *text, unsigned int *seconds);

#endif /* HELPER_LIB_SIZE_H */
