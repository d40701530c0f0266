/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes (64M, 256KiB), bandwidths (40Gb/s) and time spans (30m) as people write and read them. */
#ifndef HELPER_LIB_SIZE_H
#define HELPER_LIB_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Room that size_print() needs. */
#define SIZE_TEXT	32

bool size_parse(const char *text, uint64_t *bytes, const char **why);
const char *size_print(uint64_t bytes, char *text);

const char *bandwidth_parse(const char *text, uint64_t *bytes);

const char *duration_parse(const char *text, unsigned int *seconds);

#endif /* HELPER_LIB_SIZE_H */
