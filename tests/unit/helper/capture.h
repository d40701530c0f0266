/* SPDX-License-Identifier: GPL-2.0-only */
/* capture() redirects standard output to a file; captured() restores it and returns the text. */
#ifndef HELPER_UNIT_CAPTURE_H
#define HELPER_UNIT_CAPTURE_H

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "unit.h"

#define OUTPUT_MAX	8192

static int saved_stdout;
static FILE *file;

static inline void capture(void)
{
	fflush(stdout);
	saved_stdout = dup(1);
	file = tmpfile();
	dup2(fileno(file), 1);
}

static inline const char *captured(void)
{
	static char output[OUTPUT_MAX];
	size_t n;

	fflush(stdout);
	dup2(saved_stdout, 1);
	close(saved_stdout);
	rewind(file);
	n = fread(output, 1, sizeof(output) - 1, file);
	output[n] = '\0';
	fclose(file);
	return output;
}

static inline struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("no member '%s'", key);
	return value;
}

#endif /* HELPER_UNIT_CAPTURE_H */
