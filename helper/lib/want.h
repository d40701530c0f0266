/* SPDX-License-Identifier: GPL-2.0-only */
/* What is wanted of ranges, in words. */
#ifndef HELPER_LIB_WANT_H
#define HELPER_LIB_WANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for all words. */
#define WANT_TEXT	48

const char *want_print(uint32_t flags, char *text);
bool want_parse(const char *text, uint32_t *flags);

#endif /* HELPER_LIB_WANT_H */
