// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "block/table_params.h"
#include "cli/option_table.h"
#include "cli/option_value.h"
#include "lib/error.h"
#include "lib/likely_word.h"
#include "lib/name.h"
#include "lib/sanitize.h"

/* Finds an option by name. Of several, prefers an option of @verb (NULL: unknown verb). */
static const struct option_row *find_option(const char *word, size_t length,
					    const struct verb *verb)
{
	const struct option_row *row, *found = NULL;

	for (row = option_table; row->bit; row++) {
		if (strlen(row->name) != length ||
		    strncmp(row->name, word, length))
			continue;
		if (!found || (verb && row->bit & options_of(verb)))
			found = row;
	}
	return found;
}

/* Finds an option by letter, as find_option() by name. */
static const struct option_row *find_letter(char letter, const struct verb *verb)
{
	const struct option_row *row, *found = NULL;

	for (row = option_table; row->bit; row++)
		if (row->letter && row->letter == letter &&
		    (!found || (verb && row->bit & options_of(verb))))
			found = row;
	return found;
}

/* Finds a verb by name. */
const struct verb *verb_find(const struct verb *const *verbs, const char *name)
{
	for (; *verbs; verbs++)
		if (!strcmp((*verbs)->name, name))
			return *verbs;
	return NULL;
}

/* Fails with CODE_USAGE, and names the verb that @name resembles. */
int verb_unknown(const struct verb *const *verbs, const char *name)
{
	struct likely_word likely = likely_start(name, strlen(name));
	int error = fail(CODE_USAGE, "'%s' is not a verb", name);

	for (; verbs && *verbs; verbs++)
		likely_try(&likely, (*verbs)->name);
	if (likely.best)
		return fail_add("did you mean 'nearcache %s'?", likely.best);
	fail_add("'nearcache help' lists all");
	return error;
}

/* Fails, and names the option of @verb (NULL: of any verb) that the word resembles. */
static void option_unknown(const char *name, size_t length, const struct verb *verb)
{
	struct likely_word likely = likely_start(name, length);
	const struct option_row *row;

	fail(CODE_USAGE, "'--%.*s' is not an option", (int)length, name);
	for (row = option_table; row->bit; row++)
		if (row->help && (!verb || row->bit & options_of(verb)))
			likely_try(&likely, row->name);
	if (likely.best)
		fail_add("did you mean '--%s'?", likely.best);
	else
		fail_add("try 'nearcache help%s%s'", verb ? " " : "", verb ? verb->name : "");
}

static int option_foreign(const char *name, size_t length, const struct verb *verb)
{
	return fail(CODE_USAGE, "'--%.*s' is not an option of '%s': try 'nearcache help %s'",
		    (int)length, name, verb->name, verb->name);
}

static void take_value(struct arguments *args, const struct option_row *row,
		       const char *value)
{
	const char *why;

	/* A write-back is a stage below a cache that sends its writes there. */
	if (row->bit == OPTION_MODE && !strcmp(value, "writeback")) {
		args->given |= OPTION_WRITEBACK;
		args->mode = NEARCACHE_WRITEAROUND;
		return;
	}
	why = option_value_take((char *)args + row->offset, row->value, value);
	if (why)
		fail(CODE_USAGE, "--%s '%s': %s", row->name, value, why);
}

/* Takes the value of each --cache after the first. Returns the number of words used. */
static int take_member(struct arguments *args, const char *value,
		       const char *next)
{
	if (!value && !next)
		fail(CODE_USAGE, "--cache needs a value: --cache DEV");
	else if (args->members == NEARCACHE_MEMBERS_MAX - 1)
		fail(CODE_USAGE, "--cache '%s': a cache has at most %u devices",
		     value ? value : next, NEARCACHE_MEMBERS_MAX);
	else
		args->member[args->members++] = value ? value : next;
	return value || !next ? 1 : 2;
}

/* Returns the number of words used. @value: from the option's word, NULL: use the word @next. */
static int take_row(struct arguments *args, const struct option_row *row,
		    const char *value, const char *next)
{
	if (row->value == FLAG && value)
		fail(CODE_USAGE, "--%s takes no value, '%s' was given",
		     row->name, value);
	else if (row->bit == OPTION_CACHE && args->given & row->bit)
		return take_member(args, value, next);
	else if (row->value != FLAG && args->given & row->bit)
		fail(CODE_USAGE, "--%s is given twice", row->name);
	args->given |= row->bit;
	if (row->value == FLAG)
		return 1;
	if (!value && !next)
		fail(CODE_USAGE, "--%s needs a value: --%s %s", row->name,
		     row->name, row->operand);
	else
		take_value(args, row, value ? value : next);
	return value || !next ? 1 : 2;
}

/* Parses "--name", "--name=value" or "--name value". Returns the number of words used. */
static int take_option(struct arguments *args, const char *word,
		       const char *next, const struct verb *verb)
{
	const char *name = word + 2;
	size_t length = strcspn(name, "=");
	const struct option_row *row = find_option(name, length, verb);
	const char *value = name[length] ? name + length + 1 : NULL;

	if (!row) {
		option_unknown(name, length, verb);
		return 1;
	}
	/* Its value would be judged by the rules of another verb. */
	if (verb && !(row->bit & options_of(verb))) {
		option_foreign(name, length, verb);
		return 1;
	}
	return take_row(args, row, value, next);
}

/* Parses "-j", "-o value", "-ovalue" or "-jo value". Returns the number of words used. */
static int take_letters(struct arguments *args, const char *word, const char *next,
			const struct verb *verb)
{
	const char *letter;

	for (letter = word + 1; *letter; letter++) {
		const struct option_row *row = find_letter(*letter, verb);

		if (!row)
			fail(CODE_USAGE,
			     "'-%c' is not an option: try 'nearcache help'",
			     *letter);
		else if (row->value == FLAG)
			args->given |= row->bit;
		else
			return take_row(args, row, letter[1] ? letter + 1 : NULL, next);
	}
	return 1;
}

/* Decodes an operand that begins with a backslash: JSON output escapes some names like this. */
static void decode_operand(char *word)
{
	if (*word == '\\' && !text_unescape(word))
		fail(CODE_USAGE,
		     "'%s' has an invalid escape behind its first backslash (valid: \\xHH and \\\\); for a file of this name write './%s'",
		     word, word);
}

/*
 * Returns how many words an option before the verb takes, with its value. If two options have the name
 * and one of them has no value, that one counts if @next names its verb, else the first one in the table.
 */
static int count_words(const char *word, const char *next, const struct verb *const *verbs)
{
	const struct option_row *row;
	const char *letter;

	if (word[1] == '-') {
		row = find_option(word + 2, strcspn(word + 2, "="), next ? verb_find(verbs, next) : NULL);
		return row && row->value != FLAG && !strchr(word, '=') ? 2 : 1;
	}
	for (letter = word + 1; *letter; letter++) {
		row = find_letter(*letter, NULL);
		if (row && row->value != FLAG)
			return letter[1] ? 1 : 2;
	}
	return 1;
}

/* Returns the word that names the verb, or NULL: the first that is no option and no value of one. */
static const char *verb_word(int argc, char **argv, const struct verb *const *verbs)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"))
		i += count_words(argv[i], i + 1 < argc ? argv[i + 1] : NULL, verbs);
	if (i < argc && !strcmp(argv[i], "--"))
		i++;
	return i < argc ? argv[i] : NULL;
}

/* Separates options and operands; operands move to the front of @argv. @verb: NULL if it is unknown. */
static void split_words(struct arguments *args, int argc, char **argv, const struct verb *verb)
{
	bool only_operands = false;
	int i = 1;

	args->operand = argv;
	while (i < argc) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		char *word = argv[i];

		if (only_operands || word[0] != '-' || !word[1]) {
			decode_operand(word);
			args->operand[args->operands++] = word;
			i++;
		} else if (!strcmp(word, "--")) {
			only_operands = true;
			i++;
		} else if (word[1] == '-') {
			i += take_option(args, word, next, verb);
		} else {
			i += take_letters(args, word, next, verb);
		}
	}
}

static int check_known(const struct arguments *args, const struct verb *verb)
{
	option_set known = options_of(verb);
	const struct option_row *row;

	for (row = option_table; row->bit; row++)
		if (args->given & row->bit & ~known)
			return option_foreign(row->name, strlen(row->name), verb);
	if (option_given(args, OPTION_WRITEBACK) && !(known & OPTION_STAGE))
		return fail(CODE_USAGE, "--mode 'writeback': give " MODE_WORDS);
	return 0;
}

static bool has_column(const struct arguments *args, const struct verb_column *column)
{
	return (!column->with || option_given(args, column->with)) &&
	       !option_given(args, column->without);
}

static void fail_column(const struct arguments *args, const struct verb *verb, const char *name,
			size_t length)
{
	const struct verb_column *column;
	char known[1024] = "";
	size_t used = 0, i;

	for (column = verb->columns; column->name && used < sizeof(known); column++)
		used += !has_column(args, column) ? 0 :
			(size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 used ? ", " : "", column->name);
	for (i = 0; known[i]; i++)
		known[i] = (char)toupper((unsigned char)known[i]);
	fail(CODE_USAGE, "--columns '%.*s': it is not a column of '%s'; its columns are %s",
	     (int)length, name, verb->name, known);
}

/* Checks the options of the table, and the name of each column. */
static int check_columns(const struct arguments *args, const struct verb *verb)
{
	const char *list = args->columns, *name;
	const struct verb_column *column;
	size_t length;

	if (option_given(args, OPTION_JSON) && option_given(args, OPTIONS_TABLE))
		return fail(CODE_USAGE,
			    "--json has all columns, and no heading: leave out --columns, --noheadings and --raw");
	while (!fail_code() && column_next(&list, &length, &name)) {
		for (column = verb->columns; column->name; column++)
			if (has_column(args, column) && column_is(column->name, name, length))
				break;
		if (!column->name)
			fail_column(args, verb, name, length);
	}
	return fail_code();
}

static int check_needed(const struct arguments *args, const struct verb *verb)
{
	const struct option_row *row;

	for (row = option_table; row->bit; row++)
		if (verb->required & row->bit & ~args->given)
			return fail(CODE_USAGE, "'%s' needs --%s %s",
				    verb->name, row->name, row->operand);
	return 0;
}

static int check_operands(const struct arguments *args, const struct verb *verb)
{
	if (args->operands < verb->operands_min)
		return fail(CODE_USAGE, "'%s' needs %s: try 'nearcache help %s'",
			    verb->name, verb->operands, verb->name);
	if (verb->operands_max >= 0 && args->operands > verb->operands_max)
		return fail(CODE_USAGE,
			    "'%s' does not take '%s': try 'nearcache help %s'",
			    verb->name, args->operand[verb->operands_max],
			    verb->name);
	return 0;
}

/* Checks values, and options that contradict each other. */
static int check_values(const struct arguments *args)
{
	if (option_given(args, OPTION_READ_ONLY) && mode_writes(args->mode))
		return fail(CODE_USAGE,
			    "--read-only contradicts --mode %s: give one of them",
			    mode_word(args->mode));
	/* An empty word is probably an unset shell variable. */
	if (option_given(args, OPTION_WITNESS) && !*args->witness)
		return fail(CODE_USAGE,
			    "--witness '': it is empty; give a device, or none");
	if (args->fill_memory && !params_fill_memory_ok(args->fill_memory))
		return fail(CODE_USAGE,
			    "--fill-memory '%llu': give " PARAMS_FILL_MEMORY_RANGE,
			    (unsigned long long)args->fill_memory);
	if (args->sample > SAMPLE_MAX)
		return fail(CODE_USAGE,
			    "--compare-at-open '%llu': give 0 to 64G",
			    (unsigned long long)args->sample);
	return 0;
}

/*
 * If @verbs is set, the first operand is the verb, and @verb receives it. Otherwise the caller has set
 * @verb, and no operand is the verb.
 */
static int parse_words(struct arguments *args, int argc, char **argv,
		       const struct verb *const *verbs, const struct verb **verb)
{
	const char *word = verbs ? verb_word(argc, argv, verbs) : NULL;

	memset(args, 0, sizeof(*args));
	if (word)
		*verb = verb_find(verbs, word);
	split_words(args, argc, argv, *verb);
	if (fail_code())
		return fail_code();
	/* An option before the verb has a value with another verb, but none with this one. */
	if (*verb && word && args->operand[0] != word)
		return fail(CODE_USAGE, "'%s' stands before the verb: give '%s' first, then its options and operands",
			    args->operand[0], word);
	if (verbs && !args->operands)
		return args->given & (OPTION_HELP | OPTION_VERSION) ? 0 :
			fail(CODE_USAGE, "no verb given: 'nearcache help' lists all");
	if (!*verb)
		return verb_unknown(verbs, args->operand[0]);
	if (verbs) {
		args->operand++;
		args->operands--;
	}
	if (args->given & (OPTION_HELP | OPTION_VERSION))
		return 0;
	return check_known(args, *verb) || check_columns(args, *verb) ? (int)fail_code() :
	       check_values(args);
}

/*
 * Parses the words after a verb. Missing operands and required options are no error. @argv[0] is
 * ignored.
 */
int arguments_parse_options(struct arguments *args, int argc, char **argv,
			    const struct verb *verb)
{
	return parse_words(args, argc, argv, NULL, &verb);
}

static int check_complete(const struct arguments *args, const struct verb *verb)
{
	if (!verb || args->given & (OPTION_HELP | OPTION_VERSION))
		return 0;
	return check_needed(args, verb) || check_operands(args, verb) ? fail_code() : 0;
}

/* Like arguments_parse_options(), but missing operands and required options are an error. */
int arguments_parse_verb(struct arguments *args, int argc, char **argv,
			 const struct verb *verb)
{
	return arguments_parse_options(args, argc, argv, verb) ?: check_complete(args, verb);
}

/*
 * Parses the command line. @verbs ends with NULL. @verb is NULL for --help and --version without a
 * verb. args->operand[-1] is the word that names the verb.
 */
int arguments_parse(struct arguments *args, int argc, char **argv,
		    const struct verb *const *verbs, const struct verb **verb)
{
	*verb = NULL;
	return parse_words(args, argc, argv, verbs, verb) ?: check_complete(args, *verb);
}

/* Replaces the operands of @args, and each option that @by has, by those of @by. */
void arguments_override(struct arguments *args, const struct arguments *by)
{
	const struct option_row *row;

	/* Either of the two options in @by replaces both in @args, because both set the mode. */
	if (option_given(by, OPTION_MODE | OPTION_READ_ONLY)) {
		args->given &= ~(OPTION_MODE | OPTION_READ_ONLY | OPTION_WRITEBACK);
		args->mode = by->mode;
	}
	if (option_given(by, OPTION_CACHE)) {
		memcpy(args->member, by->member, sizeof(args->member));
		args->members = by->members;
	}
	for (row = option_table; row->bit; row++)
		if (option_given(by, row->bit))
			memcpy((char *)args + row->offset,
			       (const char *)by + row->offset,
			       option_value_size(row->value));
	args->given |= by->given;
	args->operand = by->operand;
	args->operands = by->operands;
}

/* Fails unless there are either operands or --all. */
int arguments_check_operand(const struct arguments *args)
{
	if (!args->operands == !!option_given(args, OPTION_ALL))
		return 0;
	return fail(CODE_USAGE, "give NAME or --all%s",
		    args->operands ? ", not both" : "");
}

int arguments_check_name(const char *name)
{
	const char *why;

	if (name_check(name, &why))
		return 0;
	return fail(CODE_USAGE, "'%s' is not a valid device name: %s", name, why);
}
