// SPDX-License-Identifier: GPL-2.0-only
/* nearcache: from a command line to what one of the verbs makes of it. */
#include <stdio.h>

#include "cli/options.h"
#include "meta/format.h"
#include "block/lock.h"
#include "lib/name.h"
#include "lib/print.h"

int main(int argc, char **argv)
{
	const struct verb *verb;
	struct arguments args;
	int error;

	error = arguments_parse(&args, argc, argv, &verb);
	if (!error && given(&args, OPTION_HELP)) {
		arguments_help(verb);
		return print_flush();
	}
	if (!error && given(&args, OPTION_VERSION)) {
		printf("nearcache %s (on-disk format %d)\n", HELPER_VERSION,
		       NEARCACHE_VERSION);
		return print_flush();
	}
	print_start(given(&args, OPTION_JSON));
	if (!error && verb->changes && args.operands)
		lock_name(name_of_operand(args.operand[0]));
	if (!error)
		verb->run(&args);
	return print_finish();
}
