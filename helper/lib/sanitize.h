/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes text from devices and users safe for terminals and JSON. */
#ifndef HELPER_LIB_SANITIZE_H
#define HELPER_LIB_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>

size_t text_check(const char *text);
char *text_clean(char *text);
char *text_escape(const char *text);
char *text_escape_word(const char *text);
bool text_unescape(char *text);
char *text_line(char *line, bool first);

#endif /* HELPER_LIB_SANITIZE_H */
