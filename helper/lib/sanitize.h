/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes text from devices and users safe for terminals and JSON. */
#ifndef HELPER_LIB_SANITIZE_H
#define HELPER_LIB_SANITIZE_H

#include <stddef.h>

size_t text_check(const char *text);
char *text_clean(char *text);

#endif /* HELPER_LIB_SANITIZE_H */
