// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values that can be chosen are in no table of their own: whoever gives a wrong one is told
 * which there are.  So is this.  What it is told is tried, and kept if it is taken.
 */
#include "man/tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "cli/setting.h"

/* What nothing can be called. */
#define WRONG	"?"

/* Return: bytes of the word at @text, 0 when it is none. */
static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " ,");
	size_t i;

	if (!islower((unsigned char)*text) || length >= CHOICE_SIZE)
		return 0;
	for (i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_", text[i]))
			return 0;
	return length;
}

/* "a, b or c". Phrases of several words are no choice. */
static void split(const char *text, struct choices *choices)
{
	choices->count = 0;
	while (*text && choices->count < CHOICES_MAX) {
		size_t length = word_length(text);
		const char *next = text + length;

		if (length && (!*next || *next == ',' ||
			       !strncmp(next, " or ", 4)))
			snprintf(choices->word[choices->count++], CHOICE_SIZE,
				 "%.*s", (int)length, text);
		text += strcspn(text, ", ");
		text += strspn(text, ", ");
		if (!strncmp(text, "or ", 3))
			text += 3;
	}
}

/* What the recorded error says that is to be given; the error is forgotten. */
static void read_error(struct choices *choices)
{
	const char *words = strstr(fail_message(), ": give ");

	choices->count = 0;
	if (words)
		split(words + strlen(": give "), choices);
	fail_reset();
}

/* Keep those that @taken takes. */
static void keep(struct choices *choices,
		 bool (*taken)(const void *context, const char *value),
		 const void *context)
{
	unsigned int i, kept = 0;

	for (i = 0; i < choices->count; i++)
		if (taken(context, choices->word[i]))
			memmove(choices->word[kept++], choices->word[i],
				CHOICE_SIZE);
	choices->count = kept;
	fail_reset();
}

static bool setting_takes(const void *name, const char *value)
{
	struct params params = { 0 };
	char text[2 * CHOICE_SIZE + 2];
	char *word = text;

	fail_reset();
	snprintf(text, sizeof(text), "%s=%s", (const char *)name, value);
	return !setting_apply(&word, 1, &params);
}

/* An option of a verb. */
struct of_verb {
	const struct verb *verb;
	const struct option_help *option;
};

static bool option_takes(const void *context, const char *value)
{
	const struct of_verb *of = context;
	char name[] = "nearcache", verb_name[CHOICE_SIZE], text[128];
	char *argv[] = { name, verb_name, text, NULL };
	struct arguments args;
	const struct verb *verb;

	fail_reset();
	snprintf(verb_name, sizeof(verb_name), "%s", of->verb->name);
	snprintf(text, sizeof(text), "--%s=%s", of->option->name, value);
	return !arguments_parse_options(&args, 3, argv, &verb);
}

/**
 * tables_options() - options of a verb, but for those of all verbs
 * @verb: the verb
 *
 * Return: OPTION_*
 */
uint64_t tables_options(const struct verb *verb)
{
	return (verb->required | verb->optional) & ~(uint64_t)OPTIONS_GLOBAL;
}

/**
 * tables_settings() - the names of all settings
 * @settings: filled in
 */
void tables_settings(struct choices *settings)
{
	split(SETTING_NAMES, settings);
}

/**
 * tables_setting_values() - what a setting can be
 * @name: of the setting
 * @values: filled in; none when it takes any number, size or device
 */
void tables_setting_values(const char *name, struct choices *values)
{
	setting_takes(name, WRONG);
	read_error(values);
	keep(values, setting_takes, name);
}

/**
 * tables_option_values() - what the value of an option can be
 * @verb: a verb that has it
 * @option: the option
 * @values: filled in; none when it takes any number, size, text or path, or no value
 */
void tables_option_values(const struct verb *verb,
			  const struct option_help *option,
			  struct choices *values)
{
	struct of_verb of = { .verb = verb, .option = option };

	values->count = 0;
	if (!option->operand)
		return;
	option_takes(&of, WRONG);
	read_error(values);
	keep(values, option_takes, &of);
}

/**
 * tables_is_path() - whether what the help calls so is in the file system
 * @word: of an operand or of an option's value
 */
bool tables_is_path(const char *word)
{
	return !strcmp(word, "DEV") || !strcmp(word, "FILE") ||
	       !strcmp(word, "DEV|FILE") || !strcmp(word, "TARGET");
}

/* Whether its value is whose something of a device is: those that there are can be given. */
bool tables_is_label(const struct option_help *option)
{
	return option->bit == OPTION_LABEL;
}

static enum operand_kind kind_of(const struct verb *verb, const char *word)
{
	if (tables_is_path(word))
		return OPERAND_PATH;
	if (!strcmp(word, "JOB"))
		return OPERAND_JOB;
	if (!strcmp(word, "SETTING"))
		return OPERAND_SETTING;
	if (!strcmp(word, "SETTING=VALUE"))
		return OPERAND_CHANGE;
	/* Who names both devices makes a new name; who may name a table opens what is in it. */
	if (strcmp(word, "NAME") || verb->required & OPTION_ORIGIN)
		return OPERAND_OTHER;
	return verb->optional & OPTION_TAB ? OPERAND_TABLE : OPERAND_DEVICE;
}

/**
 * tables_operands() - operands of a verb
 * @verb: the verb
 * @operands: room for OPERANDS_MAX
 *
 * Return: how many.
 */
unsigned int tables_operands(const struct verb *verb, struct operand *operands)
{
	char text[128];
	char *word, *rest;
	unsigned int count = 0;

	snprintf(text, sizeof(text), "%s", verb->operands);
	for (word = strtok_r(text, " ", &rest); word && count < OPERANDS_MAX;
	     word = strtok_r(NULL, " ", &rest)) {
		struct operand *operand = &operands[count++];
		char *dots = strstr(word, "...");

		operand->optional = *word == '[';
		operand->repeated = dots;
		if (dots)
			*dots = '\0';
		word += operand->optional;
		word[strcspn(word, "]")] = '\0';
		snprintf(operand->word, sizeof(operand->word), "%s", word);
		operand->kind = kind_of(verb, operand->word);
	}
	return count;
}
