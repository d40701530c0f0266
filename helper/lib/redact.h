/* SPDX-License-Identifier: GPL-2.0-only */
/* Removes secrets from text that leaves this machine. */
#ifndef HELPER_LIB_REDACT_H
#define HELPER_LIB_REDACT_H

#include <stdbool.h>
#include <stddef.h>

bool redact_line(char *line, size_t size);

#endif /* HELPER_LIB_REDACT_H */
