/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tables of the command say, for manual page and completion. */
#ifndef HELPER_MAN_TABLES_H
#define HELPER_MAN_TABLES_H

#include <stdbool.h>

#include "cli/options.h"

#define CHOICES_MAX	24
#define CHOICE_SIZE	32
#define OPERANDS_MAX	4

/**
 * struct choices - words of which one may be given
 * @word: each
 * @count: how many; 0: anything may be given
 */
struct choices {
	char word[CHOICES_MAX][CHOICE_SIZE];
	unsigned int count;
};

/**
 * enum operand_kind - what can stand for an operand
 * @OPERAND_OTHER: something that nobody can guess, like the name of a new device
 * @OPERAND_DEVICE: the name of a device that is open
 * @OPERAND_TABLE: a name in /etc/nearcache/nearcachetab
 * @OPERAND_PATH: a file, directory or device node
 * @OPERAND_SETTING: the name of a setting
 * @OPERAND_CHANGE: the name of a setting, '=' and a value
 * @OPERAND_JOB: the number of a job of the device that is named before
 */
enum operand_kind {
	OPERAND_OTHER,
	OPERAND_DEVICE,
	OPERAND_TABLE,
	OPERAND_PATH,
	OPERAND_SETTING,
	OPERAND_CHANGE,
	OPERAND_JOB,
};

/**
 * struct operand - an operand of a verb
 * @word: what the help calls it
 * @kind: what can stand for it
 * @optional: it may be left out
 * @repeated: there may be several
 */
struct operand {
	char word[CHOICE_SIZE];
	enum operand_kind kind;
	bool optional;
	bool repeated;
};

uint64_t tables_options(const struct verb *verb);
void tables_settings(struct choices *settings);
void tables_setting_values(const char *name, struct choices *values);
void tables_option_values(const struct verb *verb,
			  const struct option_help *option,
			  struct choices *values);
bool tables_is_label(const struct option_help *option);
bool tables_is_path(const char *word);
unsigned int tables_operands(const struct verb *verb, struct operand *operands);

#endif /* HELPER_MAN_TABLES_H */
