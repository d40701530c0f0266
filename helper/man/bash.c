// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of the completion for bash.  What can be given is a word for the functions of the
 * template: 'a|b' one of these, '<path>' and the like what they look up, '<>' anything.
 */
#include <stdio.h>
#include <string.h>

#include "man/tables.h"
#include "man/writers.h"

static void put_choices(const struct choices *choices)
{
	unsigned int i;

	for (i = 0; i < choices->count; i++)
		printf("%s%s", i ? "|" : "", choices->word[i]);
}

static const char *value_kind(const struct option_help *option)
{
	if (tables_is_label(option))
		return "<label>";
	return tables_is_path(option->operand) ? "<path>" : "<>";
}

/* Behind an option: "=" and what its value can be, if it has one. */
static void put_value(const struct verb *verb, const struct option_help *option)
{
	struct choices choices;

	if (!option->operand)
		return;
	putchar('=');
	tables_option_values(verb, option, &choices);
	if (choices.count)
		put_choices(&choices);
	else
		fputs(value_kind(option), stdout);
}

static void put_options(const struct verb *verb, uint64_t bits)
{
	struct option_help option;
	unsigned int i;

	for (i = 0; arguments_option(bits, i, &option); i++) {
		printf(" --%s", option.name);
		put_value(verb, &option);
		if (!option.letter)
			continue;
		printf(" -%c", option.letter);
		put_value(verb, &option);
	}
}

static const char *kind_word(enum operand_kind kind)
{
	static const char *const words[] = {
		[OPERAND_OTHER] = "<>",
		[OPERAND_DEVICE] = "<device>",
		[OPERAND_TABLE] = "<table>",
		[OPERAND_PATH] = "<path>",
		[OPERAND_SETTING] = "<setting>",
		[OPERAND_CHANGE] = "<change>",
		[OPERAND_JOB] = "<job>",
	};

	return words[kind];
}

void bash_verbs(void)
{
	struct operand operands[OPERANDS_MAX];
	const struct verb *verb;
	unsigned int i, count;

	for (verb = verbs; verb->name; verb++) {
		printf("\t%s)\n\t\toptions='", verb->name);
		put_options(verb, tables_options(verb));
		fputs("'\n\t\toperands='", stdout);
		count = tables_operands(verb, operands);
		for (i = 0; i < count; i++)
			printf("%s%s%s", i ? " " : "", kind_word(operands[i].kind),
			       operands[i].repeated ? "..." : "");
		fputs("'\n\t\t;;\n", stdout);
	}
}

void bash_names(void)
{
	const struct verb *verb;

	fputs("_nearcache_verbs='", stdout);
	for (verb = verbs; verb->name; verb++)
		printf("%s%s", verb == verbs ? "" : " ", verb->name);
	fputs("'\n_nearcache_globals='", stdout);
	put_options(NULL, OPTIONS_GLOBAL);
	puts("'");
}

void bash_settings(void)
{
	struct choices settings, values;
	unsigned int i;

	tables_settings(&settings);
	fputs("_nearcache_settings='", stdout);
	for (i = 0; i < settings.count; i++) {
		printf("%s%s=", i ? " " : "", settings.word[i]);
		tables_setting_values(settings.word[i], &values);
		put_choices(&values);
	}
	puts("'");
}
