// SPDX-License-Identifier: GPL-2.0-only
/* Parts of nearcache.8, in the macros of man(7). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "block/status_line.h"
#include "man/tables.h"
#include "man/writers.h"

/* Indentation of lists in the help. */
#define INDENT		2

/* As it stands there: what roff would make something else of is escaped. */
static void put(const char *text, size_t length)
{
	static const struct {
		char byte;
		const char *escape;
	} row[] = {
		{ '\\', "\\e" }, { '-', "\\-" }, { '\'', "\\(aq" },
		{ '`', "\\(ga" }, { '^', "\\(ha" }, { '~', "\\(ti" },
	};
	size_t i, j;

	if (length && *text == '.')
		fputs("\\&", stdout);
	for (i = 0; i < length; i++) {
		for (j = 0; j < sizeof(row) / sizeof(row[0]); j++)
			if (row[j].byte == text[i])
				break;
		if (j < sizeof(row) / sizeof(row[0]))
			fputs(row[j].escape, stdout);
		else
			putchar(text[i]);
	}
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

static void put_font(char font, const char *text)
{
	printf("\\f%c", font);
	put_text(text);
	fputs("\\fR", stdout);
}

/* A sentence: capital, full stop. */
static void put_sentence(const char *text)
{
	putchar(toupper((unsigned char)*text));
	put_text(text + 1);
	puts(".");
}

/* Bold, and what can be given instead of it in italics. */
static void put_option(const struct option_help *option)
{
	printf("\\fB\\-\\-");
	put_text(option->name);
	fputs("\\fR", stdout);
	if (!option->operand)
		return;
	fputs("\\ ", stdout);
	put_font('I', option->operand);
}

static void put_options(uint64_t bits)
{
	struct option_help option;
	unsigned int i;

	for (i = 0; arguments_option(bits, i, &option); i++) {
		puts(".TP");
		if (option.letter)
			printf("\\fB\\-%c\\fR, ", option.letter);
		put_option(&option);
		putchar('\n');
		put_text(option.help);
		putchar('\n');
	}
}

/* No line is broken within an option. */
static void put_synopsis(const struct verb *verb)
{
	struct option_help option;
	unsigned int i;

	fputs("\\fBnearcache ", stdout);
	put_text(verb->name);
	fputs("\\fR ", stdout);
	put_font('I', verb->operands);
	for (i = 0; arguments_option(tables_options(verb), i, &option); i++) {
		bool required = option.bit & verb->required;

		fputs(required ? "\n" : "\n[", stdout);
		put_option(&option);
		fputs(required ? "" : "]", stdout);
	}
	putchar('\n');
}

/*
 * A line of the help: "  WORD   text" begins an item of a list, deeper ones go on with it.
 * @in_list: of the line before. Return: of this one.
 */
static bool put_line(const char *line, size_t length, bool in_list)
{
	size_t indent = strspn(line, " ");
	const char *word = line + indent;
	const char *end = word;

	if (indent < INDENT || (indent > INDENT && in_list)) {
		if (!indent && in_list)
			puts(".PP");
		put(word, length - indent);
		putchar('\n');
		return in_list && indent;
	}
	/* Words with one blank between them are one. */
	while (end < line + length && strncmp(end, "  ", 2))
		end++;
	printf(".TP\n\\fB");
	put(word, end - word);
	puts("\\fR");
	end += strspn(end, " ");
	put(end, line + length - end);
	putchar('\n');
	return true;
}

static void put_details(const char *details)
{
	bool in_list = false, after_blank = true;

	while (*details) {
		size_t length = strcspn(details, "\n");

		if (length) {
			if (after_blank && *details != ' ')
				puts(".PP");
			in_list = put_line(details, length,
					   in_list && !after_blank);
		}
		after_blank = !length;
		details += length + 1;
	}
}

static void put_verb(const struct verb *verb)
{
	fputs(".SS ", stdout);
	put_text(verb->name);
	putchar('\n');
	put_synopsis(verb);
	puts(".PP");
	put_sentence(verb->summary);
	if (verb->details)
		put_details(verb->details);
	put_options(tables_options(verb));
}

/* The version, quoted as a word of a macro. */
void page_version(void)
{
	puts(".TH NEARCACHE 8 2026-11-22 \"nearcache " HELPER_VERSION
	     "\" \"System Administration\"");
}

void page_verbs(void)
{
	const struct verb *verb;

	for (verb = verbs; verb->name; verb++)
		put_verb(verb);
}

void page_options(void)
{
	put_options(OPTIONS_GLOBAL);
}

void page_codes(void)
{
	int code;

	for (code = 0; code < CODE_COUNT; code++) {
		printf(".TP\n.B %d\n", code);
		put_text(fail_code_word(code));
		putchar('\n');
	}
}

/* "name (unit)", and what it is. */
static void put_row(const struct status_row *row)
{
	puts(".TP");
	put_font('B', row->name);
	if (*row->unit) {
		fputs(" (", stdout);
		put_text(row->unit);
		putchar(')');
	}
	putchar('\n');
	put_text(row->help);
	putchar('\n');
}

static void put_words(enum nearcache_status_field field)
{
	const char *word;
	uint64_t value;

	fputs(".br\nWords:", stdout);
	for (value = 0;; value++) {
		word = status_word(field, value);
		if (!strcmp(word, "unknown"))
			break;
		fputs(value ? ",\n" : "\n", stdout);
		put_font('B', word);
	}
	putchar('\n');
}

void page_fields(void)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++) {
		put_row(&status_field_row[i]);
		if (status_word(i, 0))
			put_words(i);
	}
}

void page_counters(void)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		put_row(&status_counter_row[i]);
}
