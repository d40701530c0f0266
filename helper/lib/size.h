/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes as people write and read them: 64M, 1T, 256KiB. */
#ifndef HELPER_LIB_SIZE_H
#define HELPER_LIB_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Room that size_print() needs. */
#define SIZE_TEXT	32

bool size_parse(const char *text, uint64_t *bytes, const char **why);
const char *size_print(uint64_t bytes, char *text);

#endif /* HELPER_LIB_SIZE_H */
