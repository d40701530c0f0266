/* SPDX-License-Identifier: GPL-2.0-only */
/* Removes secrets from text that leaves this machine. */
#ifndef HELPER_LIB_REDACT_H
#define HELPER_LIB_REDACT_H

#include <stdbool.h>
#include <stddef.h>

/* @in_key: the next line is inside a private key */
struct redaction {
	bool in_key;
};

bool redact_line(struct redaction *redaction, char *line, size_t size);

#endif /* HELPER_LIB_REDACT_H */
