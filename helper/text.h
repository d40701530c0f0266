/* SPDX-License-Identifier: GPL-2.0-only */
/* Text from devices and users, made fit for terminals and JSON. */
#ifndef HELPER_TEXT_H
#define HELPER_TEXT_H

#include <stddef.h>

size_t text_check(const char *text);
char *text_clean(char *text);

#endif /* HELPER_TEXT_H */
