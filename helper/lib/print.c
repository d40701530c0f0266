// SPDX-License-Identifier: GPL-2.0-only
#include "lib/print.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/size.h"
#include "lib/sanitize.h"

#define DEPTH_MAX	8

/*
 * A record is an object: one line per value in text.  A list holds records.  A
 * table holds records too, each of which is one line in text.
 */
enum kind { RECORD, LIST, TABLE, ROW };

/* One value in text: up to four columns. */
struct cell {
	char *label;
	char *text;
	char *unit;
	char *help;
	bool number;
	unsigned int row;
};

/*
 * The scopes that are open, outermost first.  @json is owned by the scope
 * around it, the root by this file.  @cell collects what is printed aligned
 * once the scope is complete.
 */
struct scope {
	enum kind kind;
	struct json_object *json;
	struct cell *cell;
	size_t cells;
	unsigned int rows;
};

static struct scope stack[DEPTH_MAX];
static unsigned int depth;
static bool as_json;
static bool one_line;
static bool anything;

static void *need_memory(void *memory)
{
	if (!memory) {
		fputs("nearcache: out of memory\n", stderr);
		exit(CODE_MEMORY);
	}
	return memory;
}

/* Fit to be shown; for free(). */
static char *copy_text(const char *text)
{
	return text ? text_clean(need_memory(strdup(text))) : NULL;
}

static struct json_object *json_text(const char *text)
{
	char *clean = copy_text(text);
	struct json_object *json = need_memory(json_object_new_string(clean));

	free(clean);
	return json;
}

static struct scope *top_scope(void)
{
	return &stack[depth];
}

static void push_scope(enum kind kind, struct json_object *json)
{
	if (++depth == DEPTH_MAX)
		abort();
	memset(top_scope(), 0, sizeof(*top_scope()));
	top_scope()->kind = kind;
	top_scope()->json = json;
}

static void start_document(void)
{
	depth = 0;
	memset(top_scope(), 0, sizeof(*top_scope()));
	top_scope()->kind = RECORD;
	top_scope()->json = need_memory(json_object_new_object());
	json_object_object_add(top_scope()->json, "schema",
			       json_object_new_int(PRINT_SCHEMA));
}

/**
 * print_start() - begin the output
 * @json: JSON instead of text
 */
void print_start(bool json)
{
	as_json = json;
	one_line = false;
	start_document();
}

/**
 * print_lines() - several documents follow, in JSON each on a line
 *
 * Each is ended by print_next().  What is collected behind the last one is no document
 * of its own, unless it is an error.
 */
void print_lines(void)
{
	one_line = true;
}

static void put_spaces(int count)
{
	printf("%*s", count > 0 ? count : 0, "");
}

static int widest_member(const struct scope *scope, size_t member)
{
	size_t i, width = 0;

	for (i = 0; i < scope->cells; i++) {
		char *text = *(char **)((char *)&scope->cell[i] + member);

		if (text && strlen(text) > width)
			width = strlen(text);
	}
	return (int)width;
}

#define WIDEST(scope, name)	widest_member(scope, offsetof(struct cell, name))

static void flush_record(struct scope *scope, int indent)
{
	int label = WIDEST(scope, label);
	int text = WIDEST(scope, text);
	int unit = WIDEST(scope, unit);
	size_t i;

	for (i = 0; i < scope->cells; i++) {
		struct cell *cell = &scope->cell[i];

		put_spaces(indent);
		printf("%-*s  ", label, cell->label);
		if (!cell->help)
			printf("%s", cell->text);
		else
			printf("%*s  %-*s  %s", cell->number ? text : -text,
			       cell->text, unit, cell->unit, cell->help);
		putchar('\n');
	}
}

/* Width of column @column over all rows and its heading. */
static int column_width(const struct scope *scope, size_t columns,
			size_t column)
{
	size_t i, width = strlen(scope->cell[column].label);

	for (i = column; i < scope->cells; i += columns)
		if (strlen(scope->cell[i].text) > width)
			width = strlen(scope->cell[i].text);
	return (int)width;
}

static void print_column(const struct cell *cell, const char *text, int width,
			 bool last)
{
	if (cell->number)
		printf("%*s%s", width, text, last ? "\n" : "  ");
	else if (last)
		printf("%s\n", text);
	else
		printf("%-*s  ", width, text);
}

/* Every row has the same labels; they are the heading. */
static void flush_table(struct scope *scope)
{
	size_t i, c, columns = 0;
	int *width;

	if (anything)
		putchar('\n');
	while (columns < scope->cells && !scope->cell[columns].row)
		columns++;
	width = need_memory(calloc(columns, sizeof(*width)));
	for (c = 0; c < columns; c++) {
		char *p;

		for (p = scope->cell[c].label; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		width[c] = column_width(scope, columns, c);
	}
	for (c = 0; c < columns; c++)
		print_column(&scope->cell[c], scope->cell[c].label, width[c],
			     c + 1 == columns);
	for (i = 0; i < scope->cells; i++)
		print_column(&scope->cell[i], scope->cell[i].text,
			     width[i % columns], (i + 1) % columns == 0);
	free(width);
}

static void flush_scope(struct scope *scope, int indent)
{
	size_t i;

	if (!as_json && scope->cells) {
		if (scope->kind == TABLE)
			flush_table(scope);
		else
			flush_record(scope, indent);
		anything = true;
	}
	for (i = 0; i < scope->cells; i++) {
		free(scope->cell[i].label);
		free(scope->cell[i].text);
		free(scope->cell[i].unit);
		free(scope->cell[i].help);
	}
	free(scope->cell);
	scope->cell = NULL;
	scope->cells = 0;
}

static int indent_of(unsigned int level)
{
	return level ? 2 : 0;
}

/* Hand a value to the innermost scope; it owns the value then. */
static void add_json(const char *key, struct json_object *value)
{
	struct scope *scope = top_scope();

	if (scope->kind == LIST || scope->kind == TABLE)
		json_object_array_add(scope->json, value);
	else if (key)
		json_object_object_add(scope->json, key, value);
	else
		json_object_put(value);
}

/**
 * print_record() - open an object
 * @key: its key; NULL as a member of a list or table, or to continue the
 *	object around it under a title of its own
 * @title: line above it in text, or NULL
 */
void print_record(const char *key, const char *title)
{
	enum kind around = top_scope()->kind;
	struct json_object *json = top_scope()->json;

	if (around == RECORD)
		flush_scope(top_scope(), indent_of(depth));
	if (!as_json && title) {
		char *clean = copy_text(title);

		printf("%s%s\n", anything ? "\n" : "", clean);
		free(clean);
		anything = true;
	}
	if (key || around != RECORD) {
		json = need_memory(json_object_new_object());
		add_json(key, json);
	}
	push_scope(around == TABLE ? ROW : RECORD, json);
}

static void open_array(const char *key, enum kind kind)
{
	struct json_object *json = need_memory(json_object_new_array());

	flush_scope(top_scope(), indent_of(depth));
	add_json(key, json);
	push_scope(kind, json);
}

/**
 * print_list() - open an array of objects, each shown as a block of text
 * @key: its key
 */
void print_list(const char *key)
{
	open_array(key, LIST);
}

/**
 * print_table() - open an array of objects, each shown as a line of text
 * @key: its key; every object must have the same labels
 */
void print_table(const char *key)
{
	open_array(key, TABLE);
}

/* Close what was opened last. */
void print_end(void)
{
	struct scope *scope = top_scope();

	if (scope->kind == ROW) {
		depth--;
		top_scope()->rows++;
		return;
	}
	flush_scope(scope, indent_of(depth));
	depth--;
}

static void add_error(struct json_object *root)
{
	struct json_object *error = need_memory(json_object_new_object());

	json_object_object_add(error, "code",
			       json_object_new_int(fail_code()));
	json_object_object_add(error, "kind",
			       json_object_new_string(fail_code_word(fail_code())));
	json_object_object_add(error, "message",
			       json_text(fail_message()));
	json_object_object_add(root, "error", error);
}

static void print_error(void)
{
	char *message = copy_text(fail_message());

	fprintf(stderr, "nearcache: %s\n", message);
	free(message);
}

/* Whether the output could not be written, which is an error. */
static bool output_lost(void)
{
	/* What failed earlier has left no errno. */
	bool earlier = ferror(stdout);

	if (fflush(stdout))
		fail_errno(errno, "cannot write the output");
	else if (earlier)
		fail(CODE_DEVICE, "cannot write the output");
	else
		return false;
	return true;
}

/**
 * print_flush() - end output that did not come from here, such as help
 *
 * Return: the exit code of the run.
 */
int print_flush(void)
{
	if (output_lost())
		print_error();
	return fail_code();
}

static void write_document(void)
{
	const int pretty = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	const int flags = JSON_C_TO_STRING_NOSLASHESCAPE |
			  (one_line ? 0 : pretty);

	puts(json_object_to_json_string_ext(top_scope()->json, flags));
}

static void end_document(void)
{
	while (depth)
		print_end();
	flush_scope(top_scope(), 0);
}

/**
 * print_next() - write what was collected, and begin the next document
 *
 * Return: 0 or the exit code.
 */
int print_next(void)
{
	end_document();
	if (as_json)
		write_document();
	json_object_put(top_scope()->json);
	start_document();
	output_lost();
	return fail_code();
}

/**
 * print_finish() - write what was collected, and the recorded error if any
 *
 * JSON errors go to stdout with whatever was collected before, so that there
 * is exactly one document; text errors go to stderr, as do all if stdout takes
 * nothing.
 *
 * Return: the exit code of the run.
 */
int print_finish(void)
{
	int error = fail_code();

	end_document();
	if (as_json && error)
		add_error(top_scope()->json);
	if (as_json && (error || !one_line))
		write_document();
	json_object_put(top_scope()->json);
	if (output_lost() || (error && !as_json))
		print_error();
	return fail_code();
}

static void add_cell(const char *label, const char *text, const char *unit,
		     const char *help, bool number)
{
	struct scope *scope = top_scope();
	struct cell *cell;

	if (!label || as_json)
		return;
	if (scope->kind == ROW)
		scope = &stack[depth - 1];
	scope->cell = need_memory(reallocarray(scope->cell, scope->cells + 1,
					       sizeof(*scope->cell)));
	cell = &scope->cell[scope->cells++];
	cell->label = copy_text(label);
	cell->text = copy_text(text);
	cell->unit = copy_text(unit);
	cell->help = copy_text(help);
	cell->number = number;
	cell->row = scope->rows;
}

/**
 * print_string() - a text
 * @key: JSON key
 * @label: label in text
 * @value: the text; NULL: unknown or none
 */
void print_string(const char *key, const char *label, const char *value)
{
	add_json(key, value ? json_text(value) : NULL);
	add_cell(label, value && *value ? value : "-", NULL, NULL, false);
}

/**
 * print_number() - a number without a unit
 * @key: JSON key
 * @label: label in text
 * @value: the number
 */
void print_number(const char *key, const char *label, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_json(key, json_object_new_uint64(value));
	add_cell(label, text, NULL, NULL, true);
}

/**
 * print_real() - a number that need not be a whole one
 * @key: JSON key
 * @label: label in text
 * @value: the number, finite
 */
void print_real(const char *key, const char *label, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	add_json(key, json_object_new_double_s(value, text));
	add_cell(label, text, NULL, NULL, true);
}

/**
 * print_bytes() - a size: raw in JSON, with a unit in text
 * @key: JSON key
 * @label: label in text
 * @value: bytes
 */
void print_bytes(const char *key, const char *label, uint64_t value)
{
	char text[SIZE_TEXT];

	add_json(key, json_object_new_uint64(value));
	add_cell(label, size_print(value, text), NULL, NULL, true);
}

static void add_time(const char *key, const char *label, uint64_t value,
		     const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu %s", (unsigned long long)value,
		 unit);
	add_json(key, json_object_new_uint64(value));
	add_cell(label, text, NULL, NULL, true);
}

/**
 * print_milliseconds() - a time span
 * @key: JSON key
 * @label: label in text
 * @value: milliseconds
 */
void print_milliseconds(const char *key, const char *label, uint64_t value)
{
	add_time(key, label, value, "ms");
}

/* print_milliseconds() of seconds. */
void print_seconds(const char *key, const char *label, uint64_t value)
{
	add_time(key, label, value, "s");
}

/**
 * print_flag() - a truth value
 * @key: JSON key
 * @label: label in text
 * @value: shown as yes or no in text
 */
void print_flag(const char *key, const char *label, bool value)
{
	add_json(key, json_object_new_boolean(value));
	add_cell(label, value ? "yes" : "no", NULL, NULL, false);
}

/**
 * print_ratio() - a part of a whole: 0 to 1 in JSON, per cent in text
 * @key: JSON key
 * @label: label in text
 * @part: same unit as @whole
 * @whole: 0: there is no ratio, null in JSON
 */
void print_ratio(const char *key, const char *label, uint64_t part,
		 uint64_t whole)
{
	double ratio = whole ? (double)part / (double)whole : 0;
	char text[32];

	snprintf(text, sizeof(text), "%.6g", ratio);
	add_json(key, whole ? json_object_new_double_s(ratio, text) : NULL);
	snprintf(text, sizeof(text), "%.1f %%", 100 * ratio);
	add_cell(label, whole ? text : "-", NULL, NULL, true);
}

/**
 * print_quantity() - a number with its unit and explanation
 * @key: JSON key and label
 * @value: in base units
 * @unit: text only
 * @help: text only
 */
void print_quantity(const char *key, uint64_t value, const char *unit,
		    const char *help)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_json(key, json_object_new_uint64(value));
	add_cell(key, text, unit, help, true);
}

/**
 * print_word() - a word among numbers with unit and explanation
 * @key: JSON key and label
 * @word: the value
 * @help: text only
 */
void print_word(const char *key, const char *word, const char *help)
{
	add_json(key, json_text(word));
	add_cell(key, word, "", help, true);
}
