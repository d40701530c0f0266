/* SPDX-License-Identifier: GPL-2.0-only */
/* The words for the ways that a read or write goes. */
#ifndef HELPER_LIB_PATH_WORD_H
#define HELPER_LIB_PATH_WORD_H

#include <stdint.h>

const char *path_word(uint32_t path);

#endif /* HELPER_LIB_PATH_WORD_H */
