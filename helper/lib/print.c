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
 * RECORD: an object; in text each value is a line. LIST: an array of records. TABLE: an array of
 * objects; in text each ROW is a line.
 */
enum kind { RECORD, LIST, TABLE, ROW };

/*
 * A value in text: up to four columns. @name: its label or else its key. @label: it has a label, and
 * is shown by default. @key: it has a key, and is in JSON. @number: aligned to the right. @row: number
 * of its ROW.
 */
struct cell {
	char *name;
	bool label;
	bool key;
	char *text;
	char *unit;
	char *help;
	bool number;
	unsigned int row;
};

/*
 * A record, list, table or row that is not closed yet. @json is freed with the @json of the
 * enclosing scope; this file frees the outermost one. In text, only the outermost one has a @json.
 * @cell collects text until the scope ends: only then is the width of the columns known.
 * @main: print_choose() is about this table.
 */
struct scope {
	enum kind kind;
	bool main;
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
static bool details;
static struct column_choice choice;

static void *need_memory(void *memory)
{
	if (!memory) {
		fputs("nearcache: out of memory\n", stderr);
		exit(CODE_MEMORY);
	}
	return memory;
}

/* Returns a copy of @text without control characters. The caller frees the copy. */
static char *copy_text(const char *text)
{
	return text ? text_clean(need_memory(strdup(text))) : NULL;
}

/* Returns @text as a JSON string, which may be a name: see text_escape(). */
static struct json_object *json_text(const char *text)
{
	char *escaped = need_memory(text_escape(text));
	struct json_object *json = need_memory(json_object_new_string(escaped));

	free(escaped);
	return json;
}

/* Returns a message as a JSON string, in which a name may have been replaced in part. */
static struct json_object *json_message(const char *text)
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

/* @json: print JSON instead of text. */
void print_start(bool json)
{
	as_json = json;
	one_line = false;
	anything = false;
	start_document();
}

/* @on: print_detail() appears in text as well. */
void print_details(bool on)
{
	details = on;
}

/* If @columns is active, text has only the table that print_main_table() opens, in this form. */
void print_choose(const struct column_choice *columns)
{
	choice = *columns;
}

bool print_is_json(void)
{
	return as_json;
}

/*
 * Makes the output several documents, each ended by print_next(); in JSON each is one line. In
 * JSON, values after the last print_next() are dropped, unless an error is recorded.
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
	int label = WIDEST(scope, name);
	int text = WIDEST(scope, text);
	int unit = WIDEST(scope, unit);
	size_t i;

	for (i = 0; i < scope->cells; i++) {
		struct cell *cell = &scope->cell[i];

		put_spaces(indent);
		printf("%-*s  ", label, cell->name);
		if (!cell->help)
			printf("%s", cell->text);
		else
			printf("%*s  %-*s  %s", cell->number ? text : -text,
			       cell->text, unit, cell->unit, cell->help);
		putchar('\n');
	}
}

/* A column of a table. @cell has one cell for each row. */
struct column {
	char *title;
	bool number;
	int width;
	const struct cell **cell;
};

/* How well a cell shows the value of its column: as in JSON if raw, else as people read it. */
static unsigned int cell_fitness(const struct cell *cell)
{
	return choice.raw ? 2 * cell->key + cell->label : 2 * cell->label + cell->key;
}

/* Finds the cells of a column, and its width. */
static void fill_column(const struct scope *scope, struct column *column)
{
	static const struct cell none = { .text = (char *)"-" };
	size_t i, length = strlen(column->title);

	column->width = choice.no_headings ? 0 : (int)length;
	for (i = 0; i < scope->rows; i++)
		column->cell[i] = &none;
	for (i = 0; i < scope->cells; i++) {
		const struct cell *cell = &scope->cell[i], **place = &column->cell[cell->row];

		if (column_is(cell->name, column->title, length) &&
		    (*place == &none || cell_fitness(cell) > cell_fitness(*place)))
			*place = cell;
	}
	for (i = 0; i < scope->rows; i++) {
		if (column->cell[i]->number)
			column->number = true;
		if ((int)strlen(column->cell[i]->text) > column->width)
			column->width = (int)strlen(column->cell[i]->text);
	}
}

static void add_column(const struct scope *scope, struct column **column, size_t *columns,
		       const char *name, size_t length)
{
	struct column *new;
	char *p;

	*column = need_memory(reallocarray(*column, *columns + 1, sizeof(**column)));
	new = &(*column)[(*columns)++];
	memset(new, 0, sizeof(*new));
	new->title = need_memory(strndup(name, length));
	for (p = new->title; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	new->cell = need_memory(calloc(scope->rows, sizeof(*new->cell)));
	fill_column(scope, new);
}

/* Makes the columns of a table: those of the first row with a label, and those that are chosen. */
static struct column *make_columns(const struct scope *scope, size_t *columns)
{
	const char *list = scope->main ? choice.list : NULL, *word;
	struct column *column = NULL;
	size_t i, length;

	*columns = 0;
	for (i = 0; (!list || *list == '+') && i < scope->cells && !scope->cell[i].row; i++)
		if (scope->cell[i].label)
			add_column(scope, &column, columns, scope->cell[i].name,
				   strlen(scope->cell[i].name));
	while (column_next(&list, &length, &word))
		add_column(scope, &column, columns, word, length);
	return column;
}

static void print_column(const struct column *column, const char *text, bool last)
{
	if (choice.raw)
		printf("%s%c", text, last ? '\n' : ' ');
	else if (column->number)
		printf("%*s%s", column->width, text, last ? "\n" : "  ");
	else if (last)
		printf("%s\n", text);
	else
		printf("%-*s  ", column->width, text);
}

/* Prints a table with the labels as its heading. All rows have the same labels. */
static void flush_table(struct scope *scope)
{
	size_t i, c, columns;
	struct column *column = make_columns(scope, &columns);

	if (anything && !choice.active)
		putchar('\n');
	/* A program that reads several tables needs one heading. */
	for (c = 0; c < columns && !choice.no_headings && !(choice.raw && anything); c++)
		print_column(&column[c], column[c].title, c + 1 == columns);
	for (i = 0; i < scope->rows; i++)
		for (c = 0; c < columns; c++)
			print_column(&column[c], column[c].cell[i]->text, c + 1 == columns);
	for (c = 0; c < columns; c++) {
		free(column[c].title);
		free(column[c].cell);
	}
	free(column);
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
		free(scope->cell[i].name);
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

/*
 * Gives @value to the innermost scope. In a record, a value without @key is dropped. For text
 * output all values are dropped: a list may have millions of records.
 */
static void add_json(const char *key, struct json_object *value)
{
	struct scope *scope = top_scope();

	if (!as_json)
		json_object_put(value);
	else if (scope->kind == LIST || scope->kind == TABLE)
		json_object_array_add(scope->json, value);
	else if (key)
		json_object_object_add(scope->json, key, value);
	else
		json_object_put(value);
}

/*
 * Opens a JSON object. Inside a list or table, @key is NULL. Inside a record, @key NULL opens no
 * object: values go to the enclosing record. @title (or NULL) is printed above the values in text.
 */
void print_record(const char *key, const char *title)
{
	enum kind around = top_scope()->kind;
	struct json_object *json = top_scope()->json;

	if (around == RECORD)
		flush_scope(top_scope(), indent_of(depth));
	if (!as_json && title && !choice.active) {
		char *clean = copy_text(title);

		printf("%s%s\n", anything ? "\n" : "", clean);
		free(clean);
		anything = true;
	}
	if (as_json && (key || around != RECORD)) {
		json = need_memory(json_object_new_object());
		add_json(key, json);
	}
	push_scope(around == TABLE ? ROW : RECORD, json);
}

static void open_array(const char *key, enum kind kind)
{
	struct json_object *json = NULL;

	flush_scope(top_scope(), indent_of(depth));
	if (as_json) {
		json = need_memory(json_object_new_array());
		add_json(key, json);
	}
	push_scope(kind, json);
}

/* Opens an array of objects, each a block of lines in text. */
void print_list(const char *key)
{
	open_array(key, LIST);
}

/* Opens an array of objects, each a line in text. All objects must have the same labels. */
void print_table(const char *key)
{
	open_array(key, TABLE);
}

/* As print_table(), for the table of the verb, whose columns the user may choose. */
void print_main_table(const char *key)
{
	open_array(key, TABLE);
	top_scope()->main = true;
}

/* Closes the innermost record, list or table. */
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
			       json_message(fail_message()));
	json_object_object_add(root, "error", error);
}

static void print_error(void)
{
	char *message = copy_text(fail_message());

	fprintf(stderr, "nearcache: %s\n", message);
	free(message);
}

/* Returns true if stdout failed, and records the error. */
static bool output_lost(void)
{
	/* stdio does not keep the errno of an earlier failure. */
	bool earlier = ferror(stdout);

	if (fflush(stdout))
		fail_errno(errno, "cannot write the output");
	else if (earlier)
		fail(CODE_DEVICE, "cannot write the output");
	else
		return false;
	return true;
}

/* Completes output that did not use this file, such as help. Returns the exit code of the run. */
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

/* Ends a document and begins the next one. */
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

/*
 * Ends the last document and prints the recorded error, if any. In JSON mode the error is part of
 * the document on stdout, so that there is exactly one document. In text mode, or if stdout failed,
 * the error goes to stderr. Returns the exit code of the run.
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

/* Returns whether text has a value of @scope. */
static bool is_shown(const struct scope *scope, const char *key, const char *label)
{
	if (as_json || (!key && !label))
		return false;
	if (!choice.active)
		return label;
	/* A raw table has the value of JSON, which may have no label, in a column with this label. */
	return scope->main && (choice.raw || column_is_chosen(&choice, label ? label : key, label));
}

/* @word: what a raw table has in place of @text; NULL: none. */
static void add_cell(const char *key, const char *label, const char *text, const char *word,
		     const char *unit, const char *help, bool number)
{
	struct scope *scope = top_scope();
	struct cell *cell;

	if (scope->kind == ROW)
		scope = &stack[depth - 1];
	if (!is_shown(scope, key, label))
		return;
	scope->cell = need_memory(reallocarray(scope->cell, scope->cells + 1,
					       sizeof(*scope->cell)));
	cell = &scope->cell[scope->cells++];
	cell->name = copy_text(label ? label : key);
	cell->label = label;
	cell->key = key;
	cell->text = choice.raw ? need_memory(text_escape_word(word ? word : "")) : copy_text(text);
	cell->unit = copy_text(unit);
	cell->help = copy_text(help);
	cell->number = number;
	cell->row = scope->rows;
}

/* Adds a number that text shows with a unit. */
static void add_number(const char *key, const char *label, const char *text, uint64_t value)
{
	char word[32];

	snprintf(word, sizeof(word), "%llu", (unsigned long long)value);
	add_json(key, json_object_new_uint64(value));
	add_cell(key, label, text ? text : word, word, NULL, NULL, true);
}

/*
 * @value NULL means unknown or none: null in JSON, "-" in text. Text replaces control characters
 * and invalid UTF-8 by '?'; JSON has them as text_escape() describes.
 */
void print_string(const char *key, const char *label, const char *value)
{
	add_json(key, value ? json_text(value) : NULL);
	add_cell(key, label, value && *value ? value : "-", value, NULL, NULL, false);
}

/* As print_string(), but text shows it only after print_details(). */
void print_detail(const char *key, const char *label, const char *value)
{
	print_string(key, details ? label : NULL, value);
}

/* Like print_string(), for a text that is not a name: JSON has it like the message of an error. */
void print_reason(const char *key, const char *label, const char *message)
{
	add_json(key, json_message(message));
	add_cell(key, label, message, message, NULL, NULL, false);
}

void print_number(const char *key, const char *label, uint64_t value)
{
	add_number(key, label, NULL, value);
}

/* @value must be finite. */
void print_real(const char *key, const char *label, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	add_json(key, json_object_new_double_s(value, text));
	add_cell(key, label, text, text, NULL, NULL, true);
}

/* Prints a size: in bytes in JSON, as "1.5 GiB" in text. */
void print_bytes(const char *key, const char *label, uint64_t value)
{
	char text[SIZE_TEXT];

	add_number(key, label, size_print(value, text), value);
}

/* Prints a place on a device: in bytes in JSON, exactly as "1536M" in text. */
void print_position(const char *key, const char *label, uint64_t value)
{
	char text[SIZE_TEXT];

	add_number(key, label, size_exact(value, text), value);
}

/* Prints a short time: in nanoseconds in JSON, as "12.3 us" in text. */
void print_nanoseconds(const char *key, const char *label, uint64_t value)
{
	char text[32];

	if (value < 1000)
		snprintf(text, sizeof(text), "%llu ns", (unsigned long long)value);
	else if (value < 1000000)
		snprintf(text, sizeof(text), "%.1f us", (double)value / 1e3);
	else if (value < 1000000000)
		snprintf(text, sizeof(text), "%.1f ms", (double)value / 1e6);
	else
		snprintf(text, sizeof(text), "%.1f s", (double)value / 1e9);
	add_number(key, label, text, value);
}

static void add_time(const char *key, const char *label, uint64_t value,
		     const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu %s", (unsigned long long)value,
		 unit);
	add_number(key, label, text, value);
}

void print_milliseconds(const char *key, const char *label, uint64_t value)
{
	add_time(key, label, value, "ms");
}

void print_seconds(const char *key, const char *label, uint64_t value)
{
	add_time(key, label, value, "s");
}

void print_flag(const char *key, const char *label, bool value)
{
	add_json(key, json_object_new_boolean(value));
	add_cell(key, label, value ? "yes" : "no", value ? "true" : "false", NULL, NULL, false);
}

/* Prints @part / @whole, in text as percent. If @whole is 0, prints null (JSON) or "-" (text). */
void print_ratio(const char *key, const char *label, uint64_t part,
		 uint64_t whole)
{
	double ratio = whole ? (double)part / (double)whole : 0;
	char word[32], text[32];

	snprintf(word, sizeof(word), "%.6g", ratio);
	add_json(key, whole ? json_object_new_double_s(ratio, word) : NULL);
	snprintf(text, sizeof(text), "%.1f %%", 100 * ratio);
	add_cell(key, label, whole ? text : "-", whole ? word : NULL, NULL, NULL, true);
}

/* Prints a number in base units. @key is also the label in text. @unit and @help are for text. */
void print_quantity(const char *key, uint64_t value, const char *unit,
		    const char *help)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_json(key, json_object_new_uint64(value));
	add_cell(key, key, text, text, unit, help, true);
}

/* Prints a word in the columns of print_quantity(). @help is for text. */
void print_word(const char *key, const char *word, const char *help)
{
	add_json(key, json_text(word));
	add_cell(key, key, word, word, "", help, true);
}
