/* SPDX-License-Identifier: GPL-2.0-only */
/* How a stream is read or written. */
#ifndef HELPER_LIB_CLASS_H
#define HELPER_LIB_CLASS_H

#include <stdint.h>

const char *class_word(uint32_t class);

#endif /* HELPER_LIB_CLASS_H */
