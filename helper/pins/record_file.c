// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes the record of pins, one JSON file per device in PINS_DIR. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/atomic_file.h"
#include "lib/error.h"
#include "pins/pin_list.h"

/* Largest valid record, bytes: NEARCACHE_RANGES_MAX ranges with a path of 4 KiB each. */
#define BYTES_MAX	(1L << 30)

/* Write the path of a device's record to @path (PINS_PATH bytes) and return it. */
const char *pins_path(const char *name, char *path)
{
	snprintf(path, PINS_PATH, "%s/%s.json", PINS_DIR, name);
	return path;
}

static int refuse_record(const char *path, const char *why)
{
	return fail(CODE_DEVICE,
		    "the record of pins '%s' is damaged: %s; repair it, or remove it and pin again",
		    path, why);
}

static int parse_record(struct pins *pins, const char *path, const char *text,
			size_t bytes)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *json;
	const char *why;

	if (!tokener)
		return fail_memory();
	json = json_tokener_parse_ex(tokener, text, (int)bytes);
	if (!json)
		why = json_tokener_get_error(tokener) == json_tokener_continue ?
		      "it is cut off" :
		      json_tokener_error_desc(json_tokener_get_error(tokener));
	else
		why = pins_from_json(pins, json);
	json_object_put(json);
	json_tokener_free(tokener);
	return why ? refuse_record(path, why) : 0;
}

static int read_file(struct pins *pins, const char *path, FILE *file)
{
	struct stat st;
	size_t bytes;
	char *text;

	if (fstat(fileno(file), &st))
		return fail_errno(errno, "cannot read '%s'", path);
	if (st.st_size > BYTES_MAX)
		return refuse_record(path, "it is larger than 1 GiB");
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return fail_memory();
	bytes = fread(text, 1, (size_t)st.st_size, file);
	if (ferror(file))
		fail_errno(errno, "cannot read '%s'", path);
	else
		parse_record(pins, path, text, bytes);
	free(text);
	return fail_code();
}

/*
 * Read the record of a device. A missing file is an empty record. pins_free() is needed even after
 * a failure.
 */
int pins_load(struct pins *pins, const char *name)
{
	char path[PINS_PATH];
	FILE *file = fopen(pins_path(name, path), "re");

	memset(pins, 0, sizeof(*pins));
	if (!file)
		return errno == ENOENT ? 0 : fail_errno(errno, "cannot open '%s'", path);
	read_file(pins, path, file);
	fclose(file);
	return fail_code();
}

static bool record_empty(const struct pins *pins)
{
	size_t i;

	for (i = 0; i < pins->count; i++)
		if (!pins->pin[i].dropped)
			return false;
	return true;
}

/*
 * Write the new record to a second file, so that a write error shows before the caller changes the
 * kernel's ranges. If there are no pins, write nothing. After success pins_commit() or
 * pins_abandon() is needed.
 */
int pins_prepare(const struct pins *pins, const char *name)
{
	struct json_object *json;
	char path[PINS_PATH];
	const char *text;

	if (record_empty(pins))
		return 0;
	json = pins_to_json(pins, name);
	if (!json)
		return fail_memory();
	text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY |
						    JSON_C_TO_STRING_SPACED |
						    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		atomic_file_prepare(pins_path(name, path), text);
	else
		fail_memory();
	json_object_put(json);
	return fail_code();
}

/*
 * Make the prepared file the record; remove the record if there are no pins. A failure leaves the
 * old record, a crash the old or the new one.
 */
int pins_commit(const struct pins *pins, const char *name)
{
	char path[PINS_PATH];
	bool found;

	return record_empty(pins) ? pins_forget(name, &found) :
			     atomic_file_commit(pins_path(name, path));
}

void pins_abandon(const char *name)
{
	char path[PINS_PATH];

	atomic_file_abandon(pins_path(name, path));
}

int pins_save(const struct pins *pins, const char *name)
{
	return pins_prepare(pins, name) ? (int)fail_code() :
					  pins_commit(pins, name);
}

/* Remove the record of a device. @found receives whether it existed. */
int pins_forget(const char *name, bool *found)
{
	char path[PINS_PATH];

	return atomic_file_remove(pins_path(name, path), found);
}
