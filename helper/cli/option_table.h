/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of all verbs. Two options may have the same name if no verb has both. The verb tells them
 * apart. It may stand behind the option, see verb_word().
 */
#ifndef HELPER_CLI_OPTION_TABLE_H
#define HELPER_CLI_OPTION_TABLE_H

#include "cli/option_value.h"
#include "cli/options.h"

/**
 * struct option_row - an option
 * @bit: its bit in arguments.given
 * @letter: its short form, 0: none
 * @name: its long form, without "--"
 * @value: the type of its value
 * @operand: name of the value in the help; NULL: the option has no value
 * @offset: place of the value in struct arguments
 * @help: text of the option in the help; NULL: an earlier name of an option, which the help does not list
 */
struct option_row {
	option_set bit;
	char letter;
	const char *name;
	enum option_value value;
	const char *operand;
	size_t offset;
	const char *help;
};

/*
 * In the order of the help. The present name of an option comes before earlier ones. Ends with a row
 * whose @bit is 0.
 */
extern const struct option_row option_table[];

/* All options that a verb takes. */
static inline option_set options_of(const struct verb *verb)
{
	return verb->required | verb->optional | OPTIONS_GLOBAL;
}

#endif /* HELPER_CLI_OPTION_TABLE_H */
