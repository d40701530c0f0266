// SPDX-License-Identifier: GPL-2.0-only
/* nearcache: runs a verb, by a function in this program or by executing a separate program. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "block/lock.h"
#include "cli/exec_program.h"
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/print.h"
#include "pins/restore.h"

/* @typed: a copy of argv for a separate program, made before arguments_parse() reordered argv. */
static void run_verb(const struct verb *verb, const struct arguments *args, char **typed)
{
	if (verb->changes && args->operands)
		lock_name(name_of_operand(args->operand[0]));
	if (verb->run)
		verb->run(args);
	else
		program_exec(verb, typed, args->operand[-1]);
}

int main(int argc, char **argv)
{
	char **typed = calloc((size_t)argc + 1, sizeof(*typed));
	struct column_choice columns;
	const struct verb *verb;
	struct arguments args;
	int error;

	/* Each open() and mkdir() decides who may read: not the umask of the shell. */
	umask(022);
	if (typed)
		memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	error = arguments_parse(&args, argc, argv, verbs, &verb);
	if (!error && program_tell(&args, verbs, verb))
		return print_flush();
	print_start(option_given(&args, OPTION_JSON));
	columns = arguments_columns(&args);
	print_choose(&columns);
	if (!error && !typed)
		error = fail_memory();
	args.typed = typed;
	restore_keep_part = homes_keep_live;
	if (!error)
		run_verb(verb, &args, typed);
	free(typed);
	return print_finish();
}
