// SPDX-License-Identifier: GPL-2.0-only
/* The options that choose the form of a table. */
#include "cli/options.h"
#include "lib/error.h"

/* Fails if the command line chooses columns: this use of the verb prints no table. @where: uses that do. */
int arguments_no_table(const struct arguments *args, const char *where)
{
	if (!option_given(args, OPTIONS_TABLE))
		return 0;
	return fail(CODE_USAGE, "--columns, --noheadings and --raw go with %s", where);
}

struct column_choice arguments_columns(const struct arguments *args)
{
	return (struct column_choice){
		.active = option_given(args, OPTIONS_TABLE),
		.list = args->columns,
		.no_headings = option_given(args, OPTION_NO_HEADINGS),
		.raw = option_given(args, OPTION_RAW),
	};
}
