// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes the record of pins, one file per device in PINS_DIR. A change appends to a file
 * of schema 2, see record_lines.c. A file of schema 1, which released versions wrote, another
 * owner, and a file with many dropped pins lead to a new file.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/atomic_file.h"
#include "lib/error.h"
#include "pins/pin_list.h"

/* A record of schema 2 begins with this; the reader of schema 1 gets all other files. */
#define HEAD_START	"{ \"schema\": 2,"
/* Number of dropped pins in a file below which it is never written anew. */
#define DROPPED_FEW	1024U
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

/* Parse a JSON object with @take. Returns NULL, or the fault. */
static const char *parse_json(struct pins *pins, const char *text, size_t bytes,
			      const char *(*take)(struct pins *pins, struct json_object *json))
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *json;
	const char *why;

	if (!tokener)
		return "out of memory";
	json = json_tokener_parse_ex(tokener, text, (int)bytes);
	if (json)
		why = take(pins, json);
	else if (json_tokener_get_error(tokener) == json_tokener_continue)
		why = "it is cut off";
	else
		why = json_tokener_error_desc(json_tokener_get_error(tokener));
	json_object_put(json);
	json_tokener_free(tokener);
	return why;
}

/* Keep the labels of dropped pins: they show that this record is that of a range of the kernel. */
static const char *keep_labels(struct pins *pins)
{
	struct record_file *file = &pins->file;
	size_t i;

	file->label = calloc(pins->count + 1, sizeof(*file->label));
	if (!file->label)
		return "out of memory";
	for (i = 0; i < pins->count; i++)
		if (pins->pin[i].dropped) {
			file->label[file->labels++] = pins->pin[i].label;
			pins->pin[i].label = NULL;
		}
	return NULL;
}

/* Parse a record of schema 2. @line: end of its first line. */
static const char *parse_lines(struct pins *pins, char *text, size_t bytes, const char *line)
{
	size_t head = line - text + 1;
	const char *why = parse_json(pins, text, head, record_head_from_json);

	pins->file.owner = pins->owner;
	if (!why)
		why = record_parse(pins, text + head, bytes - head);
	pins->file.bytes = bytes - pins->file.torn;
	if (!why)
		why = keep_labels(pins);
	pins_settle(pins);
	return why;
}

/* The pins of a record of schema 1 are on record, though not in lines. */
static void number_pins(struct pins *pins)
{
	size_t i;

	for (i = 0; i < pins->count; i++)
		pins->pin[i].number = i + 1;
}

static int parse_record(struct pins *pins, const char *path, char *text, size_t bytes)
{
	const char *line = memchr(text, '\n', bytes), *why;

	if (line && !strncmp(text, HEAD_START, strlen(HEAD_START))) {
		why = parse_lines(pins, text, bytes, line);
	} else {
		why = parse_json(pins, text, bytes, pins_from_json);
		number_pins(pins);
	}
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
	text[bytes] = '\0';
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
	pins->file.exists = file;
	if (!file)
		return errno == ENOENT ? 0 : fail_errno(errno, "cannot open '%s'", path);
	read_file(pins, path, file);
	fclose(file);
	return fail_code();
}

static size_t count_live(const struct pins *pins)
{
	size_t i, live = 0;

	for (i = 0; i < pins->count; i++)
		live += !pins->pin[i].dropped;
	return live;
}

static size_t count_recorded(const struct pins *pins)
{
	size_t i, recorded = 0;

	for (i = 0; i < pins->count; i++)
		recorded += pins->pin[i].number != 0;
	return recorded;
}

static bool is_same_owner(const struct owner *a, const struct owner *b)
{
	return !strcmp(a->uuid, b->uuid) && !strcmp(a->attached, b->attached) &&
	       !strcmp(a->origin_id, b->origin_id);
}

/* Few files are written anew: on average the cost per change does not depend on the pins. */
static bool must_write_anew(const struct pins *pins, size_t recorded)
{
	return !pins->file.bytes || !is_same_owner(&pins->file.owner, &pins->owner) ||
	       pins->file.numbers > 2 * recorded + DROPPED_FEW;
}

/* Write a new file with the pins that are on record now. */
static int write_anew(struct pins *pins, const char *name, const char *path)
{
	struct json_object *json = record_head_to_json(pins, name);
	char *batch = NULL, *text = NULL;
	const char *head = NULL;
	size_t bytes;
	int length;

	if (json)
		head = json_object_to_json_string_ext(json, JSON_C_TO_STRING_SPACED |
							    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (head)
		batch = record_batch(pins, true, &bytes);
	length = batch ? asprintf(&text, "%s\n%s", head, batch) : -1;
	if (length < 0)
		fail_memory();
	else if (!atomic_file_prepare(path, text))
		atomic_file_commit(path);
	/* A failure leaves the old file, which does not have these numbers of lines. */
	pins->file.bytes = fail_code() ? 0 : (size_t)length;
	pins->file.torn = 0;
	pins->file.owner = pins->owner;
	if (length >= 0)
		free(text);
	free(batch);
	json_object_put(json);
	return fail_code();
}

static int append_batch(struct pins *pins, const char *path)
{
	struct record_file *file = &pins->file;
	size_t bytes;
	char *batch = record_batch(pins, false, &bytes);

	if (!batch)
		return fail_memory();
	/* Without a change, cut off what a crash left. */
	if ((bytes || file->torn) &&
	    !atomic_file_append(path, (off_t)(file->bytes + file->torn), (off_t)file->bytes, batch,
				bytes)) {
		file->appended = bytes;
		file->bytes += bytes;
		file->torn = 0;
	}
	if (fail_code())
		file->bytes = 0;
	free(batch);
	return fail_code();
}

/*
 * Write the changes of the record durably, before the caller changes the kernel's ranges. After
 * success pins_commit() or pins_abandon() is needed. A kill or a crash before these leaves a record
 * with the change, and a kernel without it, which a refresh mends. A new file, if one is needed,
 * first gets the old content: so a crash leaves that, or the old file.
 */
int pins_prepare(struct pins *pins, const char *name)
{
	size_t recorded = count_recorded(pins);
	char path[PINS_PATH];

	pins->file.appended = 0;
	pins->file.hollow = false;
	if (must_write_anew(pins, recorded)) {
		if (!recorded && !count_live(pins))
			return 0;
		if (write_anew(pins, name, pins_path(name, path)))
			return fail_code();
		pins->file.hollow = !pins->file.numbers;
	}
	return append_batch(pins, pins_path(name, path));
}

/* Remove the record if it has no pins. Otherwise pins_prepare() has done all. */
void pins_commit(struct pins *pins, const char *name)
{
	bool found;

	if (count_live(pins))
		return;
	pins->file.bytes = 0;
	if (!pins_forget(name, &found))
		return;
	warn("%s; it has no pins", fail_message());
	fail_reset();
}

/* Undo pins_prepare(). The recorded error stays. */
void pins_abandon(struct pins *pins, const char *name)
{
	struct record_file *file = &pins->file;
	char path[PINS_PATH];
	bool found;

	pins_path(name, path);
	if (file->hollow)
		atomic_file_remove(path, &found);
	else if (file->appended && atomic_file_cut(path, (off_t)file->bytes,
						   (off_t)(file->bytes - file->appended)))
		fail_add("the record '%s' cannot be restored, and has the change: 'nearcache pin %s --refresh' applies it",
			 path, name);
	/* The pins have the numbers of lines that were cut off. */
	file->bytes = 0;
}

int pins_save(struct pins *pins, const char *name)
{
	if (!pins_prepare(pins, name))
		pins_commit(pins, name);
	return fail_code();
}

/* Remove the record of a device. @found receives whether it existed. */
int pins_forget(const char *name, bool *found)
{
	char path[PINS_PATH];

	return atomic_file_remove(pins_path(name, path), found);
}
