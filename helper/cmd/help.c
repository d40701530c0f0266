// SPDX-License-Identifier: GPL-2.0-only
/* nearcache help: list the verbs, or explain one. */
#include "cmd/commands.h"
#include "lib/error.h"

static int cmd_help(const struct arguments *args)
{
	const struct verb *verb = NULL;

	if (option_given(args, OPTION_JSON))
		return fail(CODE_USAGE, "help has no JSON form: leave out --json");
	if (args->operands) {
		verb = verb_find(verbs, args->operand[0]);
		if (!verb)
			return verb_unknown(verbs, args->operand[0]);
	}
	arguments_help(verbs, verb);
	return 0;
}

const struct verb help_verb = {
	.name = "help",
	.group = VERBS_MAINTAIN,
	.operands = "[VERB]",
	.operands_max = 1,
	.summary = "list the verbs, or explain one",
	.details =
"'nearcache help VERB' prints the same as 'nearcache VERB --help'.\n",
	.run = cmd_help,
};
