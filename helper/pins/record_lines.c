// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pins in a record of schema 2, behind its first line. Each change appends a batch of lines, so
 * that its cost does not grow with the number of recorded pins:
 *
 *	+ TAB FIELD TAB FIELD ...	a pin; the Nth such line of the file is pin N
 *	- TAB N				pin N is dropped
 *	= TAB SUM			end of the batch; SUM is the crc32 of its other lines
 *
 * FIELD is KEY=VALUE or KEY, see print_pin(). A backslash, tab or newline in a value is written as
 * \\, \t or \n. A crash may leave a part of the last batch: only a batch with a valid last line
 * counts.
 */
#include <inttypes.h>
#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/enum_words.h"
#include "lib/name.h"
#include "nearcache.h"
#include "pins/pin_list.h"

#define SECTOR	512

static void print_value(FILE *out, const char *key, const char *text)
{
	if (!text)
		return;
	fprintf(out, "\t%s=", key);
	for (; *text; text++)
		switch (*text) {
		case '\\':
			fputs("\\\\", out);
			break;
		case '\t':
			fputs("\\t", out);
			break;
		case '\n':
			fputs("\\n", out);
			break;
		default:
			fputc(*text, out);
		}
}

static void print_ranges(FILE *out, const struct pin *pin)
{
	size_t i;

	for (i = 0; i < pin->ranges; i++)
		fprintf(out, "%s%" PRIu64 "+%" PRIu64, i ? "," : "\tranges=",
			pin->range[i].start, pin->range[i].length);
}

static void print_pin(FILE *out, const struct pin *pin)
{
	char wants[WANT_TEXT];

	fputc('+', out);
	print_value(out, "wants", want_print(pin->flags, wants));
	if (pin->priority)
		fprintf(out, "\tpriority=%" PRIu32, pin->priority);
	if (pin->expires)
		fprintf(out, "\texpires=%" PRId64, pin->expires);
	if (pin->load)
		fputs("\tload", out);
	if (pin->index_only)
		fputs("\tindex_only", out);
	if (pin->concatenated)
		fputs("\tconcatenated", out);
	if (pin->part)
		fputs("\tpart", out);
	if (pin->folder)
		fputs("\tfolder", out);
	if (pin->kept)
		fputs("\tkept", out);
	if (pin->format != INDEX_ANY)
		print_value(out, "format", index_format_word(pin->format));
	print_value(out, "label", pin->label);
	print_value(out, "samples", pin->samples);
	print_value(out, "path", pin->path);
	print_value(out, "handle", pin->handle);
	print_ranges(out, pin);
	fputc('\n', out);
}

static uint32_t batch_sum(const char *text, size_t bytes)
{
	return crc32_gzip_refl(0, (const unsigned char *)text, bytes);
}

/* The lines that bring the record up to date. */
static void print_changes(FILE *out, struct pins *pins)
{
	size_t i;

	for (i = 0; i < pins->count; i++) {
		struct pin *pin = &pins->pin[i];

		if (pin->number && (pin->dropped || pin->changed)) {
			fprintf(out, "-\t%zu\n", pin->number);
			pin->number = 0;
		}
		if (pin->dropped || pin->number)
			continue;
		print_pin(out, pin);
		pin->number = ++pins->file.numbers;
		pin->changed = false;
	}
}

/* The recorded pins, for a new file. */
static void print_recorded(FILE *out, struct pins *pins)
{
	size_t i;

	pins->file.numbers = 0;
	for (i = 0; i < pins->count; i++) {
		struct pin *pin = &pins->pin[i];

		if (!pin->number)
			continue;
		print_pin(out, pin);
		pin->number = ++pins->file.numbers;
		pin->changed = false;
	}
}

/*
 * Return a batch of lines, for free(); NULL without memory.
 * @anew: the batch is for a new file, and has the pins that are recorded now; otherwise it has the
 * changes. @bytes: length, 0: there is no line.
 */
char *record_batch(struct pins *pins, bool anew, size_t *bytes)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);
	bool bad;

	if (!out)
		return NULL;
	if (anew)
		print_recorded(out, pins);
	else
		print_changes(out, pins);
	fflush(out);
	if (*bytes)
		fprintf(out, "=\t%08" PRIx32 "\n", batch_sum(text, *bytes));
	bad = ferror(out);
	if (!fclose(out) && !bad)
		return text;
	free(text);
	return NULL;
}

/* Undo the escapes of print_value() in place. Returns false if there is an unknown one. */
static bool restore_value(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text != '\\') {
			*to++ = *text;
			continue;
		}
		text++;
		if (*text != '\\' && *text != 't' && *text != 'n')
			return false;
		*to++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : '\\';
	}
	*to = '\0';
	return true;
}

static bool parse_count(const char *text, int64_t most, int64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*number = strtoll(text, &end, 10);
	return !*end && *number <= most;
}

static bool parse_range(const char **text, struct range *range)
{
	char *end;

	range->start = strtoull(*text, &end, 10);
	if (end == *text || *end != '+')
		return false;
	*text = end + 1;
	range->length = strtoull(*text, &end, 10);
	if (end == *text || (*end && *end != ','))
		return false;
	*text = *end ? end + 1 : end;
	return range->length && range->length <= INT64_MAX &&
	       range->start <= INT64_MAX - range->length && !(range->start % SECTOR) &&
	       !(range->length % SECTOR);
}

/* Parse "START+LENGTH,...". NULL: no ranges. Returns NULL, or the fault. */
static const char *parse_ranges(const char *text, struct pin *pin)
{
	const char *at;
	size_t most = 1;

	for (at = text; at && *at; at++)
		most += *at == ',';
	pin->range = calloc(most, sizeof(*pin->range));
	if (!pin->range)
		return "out of memory";
	while (text && *text)
		if (!parse_range(&text, &pin->range[pin->ranges++]))
			return "one of its \"ranges\" is not START+LENGTH";
	return NULL;
}

/* Values of a line that pins_append() and parse_ranges() copy; they belong to the line. */
struct line_texts {
	const char *wants;
	const char *format;
	const char *path;
	const char *ranges;
};

static bool is_key(const char *field, const char *equals, const char *key)
{
	return equals && (size_t)(equals - field) == strlen(key) &&
	       !strncmp(field, key, equals - field);
}

static const char *parse_field(char *field, struct pin *like, struct line_texts *texts)
{
	char *equals = strchr(field, '='), *value = equals ? equals + 1 : NULL;
	int64_t number;

	if (value && !restore_value(value))
		return "a value has an unknown escape";
	if (is_key(field, equals, "wants"))
		texts->wants = value;
	else if (is_key(field, equals, "format"))
		texts->format = value;
	else if (is_key(field, equals, "path"))
		texts->path = value;
	else if (is_key(field, equals, "ranges"))
		texts->ranges = value;
	else if (is_key(field, equals, "label"))
		like->label = value;
	else if (is_key(field, equals, "samples"))
		like->samples = value;
	else if (is_key(field, equals, "handle"))
		like->handle = value;
	else if (is_key(field, equals, "priority") &&
		 parse_count(value, NEARCACHE_PRIORITY_MAX, &number))
		like->priority = (uint32_t)number;
	else if (is_key(field, equals, "expires") && parse_count(value, INT64_MAX, &number))
		like->expires = number;
	else if (!strcmp(field, "load"))
		like->load = true;
	else if (!strcmp(field, "index_only"))
		like->index_only = true;
	else if (!strcmp(field, "concatenated"))
		like->concatenated = true;
	else if (!strcmp(field, "part"))
		like->part = true;
	else if (!strcmp(field, "folder"))
		like->folder = true;
	else if (!strcmp(field, "kept"))
		like->kept = true;
	else
		return "a field of a pin is unknown or wrong; was it written by a newer version?";
	return NULL;
}

/* @line: behind "+ TAB", NUL-terminated; changed. Returns NULL, or the fault. */
static const char *parse_pin(struct pins *pins, char *line)
{
	struct pin like = { .format = INDEX_ANY }, *pin;
	struct line_texts texts = { 0 };
	const char *why = NULL;
	char *field, *rest = line;

	while (!why && (field = strsep(&rest, "\t")))
		why = parse_field(field, &like, &texts);
	if (why)
		return why;
	if (!texts.wants || !want_parse(texts.wants, &like.flags))
		return "its \"wants\" is none of pin, bypass, evict-after-use, count";
	if (texts.format && !index_format_parse(texts.format, &like.format))
		return "its \"format\" is unknown";
	if (texts.path ? *texts.path != '/' : like.folder)
		return "a \"path\" is not absolute";
	if (!like.label || label_check(like.label))
		return "a \"label\" is not 1 to 127 bytes of UTF-8";
	pin = pins_append(pins, &like, texts.path);
	if (!pin)
		return "out of memory";
	pin->number = ++pins->file.numbers;
	return parse_ranges(texts.ranges, pin);
}

/* While the lines are parsed, pin N is element N - 1. */
static const char *parse_drop(struct pins *pins, const char *text)
{
	int64_t number;

	if (!parse_count(text, (int64_t)pins->count, &number) || !number)
		return "a line drops an unknown pin";
	pins->pin[number - 1].dropped = true;
	return NULL;
}

/* @text: the lines of a batch without the last one; changed. */
static const char *parse_batch(struct pins *pins, char *text, const char *end)
{
	const char *why = NULL;

	while (text < end && !why) {
		char *next = memchr(text, '\n', end - text);

		*next = '\0';
		if (!strncmp(text, "+\t", 2))
			why = parse_pin(pins, text + 2);
		else if (!strncmp(text, "-\t", 2))
			why = parse_drop(pins, text + 2);
		else
			why = "a line begins neither with + nor with -";
		text = next + 1;
	}
	return why;
}

/*
 * Parse the batches. Sets pins->file.torn to the length of an incomplete last batch.
 * @text: @bytes bytes and a NUL; changed. Returns NULL, or the fault.
 */
const char *record_parse(struct pins *pins, char *text, size_t bytes)
{
	char *at = text, *batch = text, *end, *good = text;
	const char *why = NULL;
	char sum[16];

	while (!why && (end = memchr(at, '\n', text + bytes - at))) {
		size_t length = at - batch;

		if (*at == '=') {
			snprintf(sum, sizeof(sum), "=\t%08" PRIx32 "\n", batch_sum(batch, length));
			if (strncmp(at, sum, strlen(sum)))
				batch = end + 1;
			else if (batch != good)
				why = "a checksum is wrong";
			else
				why = parse_batch(pins, batch, at);
			if (batch == good)
				good = batch = end + 1;
		}
		at = end + 1;
	}
	pins->file.torn = text + bytes - good;
	return why;
}
