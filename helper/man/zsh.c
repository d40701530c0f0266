// SPDX-License-Identifier: GPL-2.0-only
/* Parts of the completion for zsh: what _arguments takes. */
#include <stdio.h>
#include <string.h>

#include "man/tables.h"
#include "man/writers.h"

/* Within quotes; ':', '[' and ']' have a meaning for _arguments. */
static void put(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr(":[]\\", *text))
			putchar('\\');
		putchar(*text);
	}
}

static void put_choices(const struct choices *choices)
{
	unsigned int i;

	for (i = 0; i < choices->count; i++)
		printf("%s%s", i ? " " : "", choices->word[i]);
}

static const char *value_action(const struct option_help *option)
{
	if (tables_is_label(option))
		return "_nearcache_labels";
	return tables_is_path(option->operand) ? "_files" : " ";
}

static void put_value(const struct verb *verb, const struct option_help *option)
{
	struct choices choices;

	putchar(':');
	put(option->operand);
	putchar(':');
	tables_option_values(verb, option, &choices);
	if (choices.count) {
		putchar('(');
		put_choices(&choices);
		putchar(')');
	} else {
		fputs(value_action(option), stdout);
	}
}

static void put_options(const struct verb *verb, uint64_t bits)
{
	struct option_help option;
	unsigned int i;

	for (i = 0; arguments_option(bits, i, &option); i++) {
		fputs("\t\t\t", stdout);
		if (option.letter)
			printf("'(-%c --%s)'{-%c%s,--%s%s}'", option.letter,
			       option.name, option.letter,
			       option.operand ? "+" : "", option.name,
			       option.operand ? "=" : "");
		else
			printf("'--%s%s", option.name, option.operand ? "=" : "");
		putchar('[');
		put(option.help);
		putchar(']');
		if (option.operand)
			put_value(verb, &option);
		puts("'");
	}
}

static const char *action(enum operand_kind kind)
{
	static const char *const actions[] = {
		[OPERAND_OTHER] = " ",
		[OPERAND_DEVICE] = "_nearcache_devices",
		[OPERAND_TABLE] = "_nearcache_table",
		[OPERAND_PATH] = "_files",
		[OPERAND_SETTING] = "_nearcache_setting",
		[OPERAND_CHANGE] = "_nearcache_change",
		[OPERAND_JOB] = "_nearcache_jobs",
	};

	return actions[kind];
}

static void put_operands(const struct verb *verb)
{
	struct operand operands[OPERANDS_MAX];
	unsigned int i, count = tables_operands(verb, operands);

	for (i = 0; i < count; i++) {
		fputs("\t\t\t'", stdout);
		if (operands[i].repeated)
			putchar('*');
		else
			printf("%u%s", i + 1, operands[i].optional ? ":" : "");
		putchar(':');
		put(operands[i].word);
		printf(":%s'\n", action(operands[i].kind));
	}
}

void zsh_verbs(void)
{
	const struct verb *verb;

	for (verb = verbs; verb->name; verb++) {
		printf("\t%s)\n\t\tspecs=(\n", verb->name);
		put_options(verb, tables_options(verb));
		put_operands(verb);
		puts("\t\t)\n\t\t;;");
	}
}

void zsh_names(void)
{
	const struct verb *verb;

	puts("\tverbs=(");
	for (verb = verbs; verb->name; verb++) {
		printf("\t\t'%s:", verb->name);
		put(verb->summary);
		puts("'");
	}
	puts("\t)\n\tglobals=(");
	put_options(NULL, OPTIONS_GLOBAL);
	puts("\t)");
}

void zsh_settings(void)
{
	struct choices settings, values;
	unsigned int i;

	tables_settings(&settings);
	puts("\tsettings=(");
	for (i = 0; i < settings.count; i++) {
		printf("\t\t%s '", settings.word[i]);
		tables_setting_values(settings.word[i], &values);
		put_choices(&values);
		puts("'");
	}
	puts("\t)");
}
