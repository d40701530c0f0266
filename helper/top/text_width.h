/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures the width of a text on a terminal, and cuts the text to a width. */
#ifndef HELPER_TOP_TEXT_WIDTH_H
#define HELPER_TOP_TEXT_WIDTH_H

#include <stddef.h>

size_t width_of(const char *text);
size_t width_copy(const char *text, size_t width, char *to, size_t room);

#endif /* HELPER_TOP_TEXT_WIDTH_H */
