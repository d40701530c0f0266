/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs with a separate program, in the folder of nearcache. The libraries of these programs take
 * longer to load than most commands take to run. Functions that return int return an exit code.
 */
#ifndef HELPER_CLI_EXEC_PROGRAM_H
#define HELPER_CLI_EXEC_PROGRAM_H

#include "cli/options.h"

extern const struct verb top_verb;
extern const struct verb daemon_verb;

bool program_tell(const struct arguments *args, const struct verb *const *verbs,
		  const struct verb *verb);
int program_main(int argc, char **argv, const struct verb *verb,
		 int (*run)(const struct arguments *args));
int program_exec(const struct verb *verb, char **argv, const char *word);

#endif /* HELPER_CLI_EXEC_PROGRAM_H */
