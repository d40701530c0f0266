// SPDX-License-Identifier: GPL-2.0-only
/* The help on the command and its verbs. */
#include "cli/options.h"

#include <ctype.h>
#include <stdio.h>

#include "cli/option_table.h"
#include "lib/error.h"

static void help_options(option_set bits)
{
	const struct option_row *row;

	for (row = option_table; row->bit; row++) {
		char word[48];

		if (!(row->bit & bits) || !row->help)
			continue;
		snprintf(word, sizeof(word), "%c%c%c --%s%s%s",
			 row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
			 row->letter ? ',' : ' ', row->name,
			 row->operand ? " " : "",
			 row->operand ? row->operand : "");
		printf("  %-28s %s\n", word, row->help);
	}
}

/* Prints the usage, wrapped before column 80. */
static void help_synopsis(const struct verb *verb)
{
	int column = printf("Usage: nearcache %s%s%s", verb->name,
			    *verb->operands ? " " : "", verb->operands);
	const struct option_row *row;

	for (row = option_table; row->bit; row++) {
		bool required = row->bit & verb->required;
		char word[48];
		int length;

		if (!(row->bit & (verb->required | verb->optional)) || !row->help)
			continue;
		length = snprintf(word, sizeof(word), " %s--%s%s%s%s",
				  required ? "" : "[", row->name,
				  row->operand ? " " : "",
				  row->operand ? row->operand : "",
				  required ? "" : "]");
		if (column + length > 79)
			column = printf("\n%16s", "") - 1;
		column += printf("%s", word);
	}
	putchar('\n');
}

static const char *help_group(enum verb_group group)
{
	static const char *const title[] = {
		[VERBS_DEVICES] = "devices",
		[VERBS_DATA] = "data",
		[VERBS_OBSERVE] = "observe",
		[VERBS_MAINTAIN] = "maintain",
		[VERBS_AUTOMATIC] = "automatic",
	};

	return title[group];
}

/* Without empty lines: scripts read the verbs up to the first one. */
static void help_verbs(const struct verb *const *verbs)
{
	const struct verb *const *verb;

	puts("Verbs (more: 'nearcache help VERB'):");
	for (verb = verbs; *verb; verb++) {
		if (verb == verbs || verb[-1]->group != verb[0]->group)
			printf(" %s\n", help_group((*verb)->group));
		printf("  %-10s %s\n", (*verb)->name, (*verb)->summary);
	}
}

static void help_all(const struct verb *const *verbs)
{
	int code;

	puts("nearcache - cache a remote block device on a local one\n");
	puts("Usage: nearcache VERB [NAME...] [OPTION...]\n");
	help_verbs(verbs);
	puts("\nOptions of all verbs, before or behind the verb:");
	help_options(OPTIONS_GLOBAL);
	puts("\nSizes are bytes or take K, M, G, T, P, E (powers of 1024; KB, MB ... of 1000).");
	puts("\nExit codes:");
	for (code = 0; code < CODE_COUNT; code++)
		printf("  %d  %s\n", code, fail_code_word(code));
	puts("\nManual pages: man nearcache, man nearcache-VERB");
}

/* Prints the heading of the columns that are shown under the same conditions. */
static void help_columns_title(const struct verb_column *column)
{
	const struct option_row *row;

	fputs(column->chosen ? "\nMore columns for -o" : "\nColumns", stdout);
	for (row = option_table; row->bit; row++)
		if (row->bit & (column->with | column->without))
			printf(" %s --%s", column->with ? "with" : "without", row->name);
	puts(":");
}

static void help_columns(const struct verb_column *column)
{
	const struct verb_column *last = NULL;

	for (; column && column->name; last = column++) {
		char name[24];
		size_t i;

		if (!last || last->chosen != column->chosen || last->with != column->with)
			help_columns_title(column);
		for (i = 0; column->name[i] && i + 1 < sizeof(name); i++)
			name[i] = (char)toupper((unsigned char)column->name[i]);
		name[i] = '\0';
		printf("  %-21s %s\n", name, column->help);
	}
}

/* Prints help on @verb on stdout. If @verb is NULL, prints help on the command and its @verbs. */
void arguments_help(const struct verb *const *verbs, const struct verb *verb)
{
	if (!verb) {
		help_all(verbs);
		return;
	}
	help_synopsis(verb);
	printf("\n%c%s.\n", toupper((unsigned char)verb->summary[0]),
	       verb->summary + 1);
	if (verb->details)
		printf("\n%s", verb->details);
	puts("\nOptions:");
	help_options(options_of(verb));
	help_columns(verb->columns);
	printf("\nManual page: man nearcache-%s\n", verb->name);
}
