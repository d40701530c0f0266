// SPDX-License-Identifier: GPL-2.0-only
#include "cli/programs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/print.h"

const struct verb top_verb = {
	.name = "top",
	.operands = "[NAME...]",
	.operands_max = -1,
	.optional = OPTION_INTERVAL | OPTION_BATCH | OPTION_COUNT,
	.summary = "watch devices, labels, streams and prefetch jobs live",
	.details =
"Without NAME: all devices, also those that come later. Rates and the first percentage\n"
"of hits are those of the last interval, and so are latencies: what 50 % and 99 % of the\n"
"reads took at most, by the way they went. What is not normal comes first. Nothing is\n"
"changed or loaded: streams are shown while 'nearcache classifier' is loaded, latencies\n"
"while 'nearcache latency' is. Jobs are those that run.\n"
"\n"
"CACHE/s is read from the cache device, ORIGIN/s from the origin (fills, prefetch, and what\n"
"is not cached), FILL/s written to the cache device. Too few lines: '... N more'.\n"
"\n"
"  q          quit\n"
"  s          streams by rate, bytes, accesses, process\n"
"  Tab        next section: it gets the most room, and\n"
"  arrows     scroll it, as do Page Up, Page Down, Home and End\n"
"  ^L         draw all of it anew\n"
"\n"
"--batch prints lines, all of them and of any length, for files and other programs; the\n"
"first frame comes after an interval. In JSON each frame is an object on a line.\n",
	.program = "nearcache-top",
};

const struct verb daemon_verb = {
	.name = "daemon",
	.operands = "",
	.optional = OPTION_CONFIG | OPTION_OBSERVE,
	.summary = "adapt readahead and prefetch to how devices are read",
	.details =
"Runs until it is told to stop. Loads 'classifier' and 'latency', as far as it may and\n"
"they are not loaded, and leaves them loaded. Within the bounds of\n"
"/etc/nearcache/nearcache.conf, see nearcache.conf(5), it sets\n"
"  read-ahead   of a device: large while sequential streams read it, small while it\n"
"               is read in pieces; for files that are opened from then on\n"
"  window       what is brought into the cache ahead of sequential streams\n"
"  checkpoint   whether what is written one after another is cached (writethrough)\n"
"A setting is changed when several looks in a row say the same. After a while it looks\n"
"at what the change did to bytes from the origin and to the time that reads take, and\n"
"takes it back if it did harm. Each action is told on stderr with its evidence (with\n"
"levels, where that is the journal), and listed by 'nearcache actions'.\n"
"\n"
"What it changed stays when it stops. With --observe it changes nothing: a classifier that it\n"
"loads brings nothing into the cache then.\n",
	.program = "nearcached",
};

/**
 * program_tell() - print help or version, if the command line asks for it
 * @args: command line
 * @verbs: all verbs; needed if @verb is NULL
 * @verb: the verb, or NULL
 *
 * Return: whether something was printed.
 */
bool program_tell(const struct arguments *args, const struct verb *const *verbs,
		  const struct verb *verb)
{
	if (option_given(args, OPTION_HELP))
		arguments_help(verbs, verb);
	else if (option_given(args, OPTION_VERSION))
		printf("nearcache %s (on-disk format %d)\n", HELPER_VERSION, NEARCACHE_VERSION);
	return option_given(args, OPTION_HELP | OPTION_VERSION);
}

/**
 * program_main() - main() of a program of one verb
 * @argc: as main() got it
 * @argv: as main() got it
 * @verb: the verb, which is not among @argv
 * @run: does it
 *
 * Return: the exit code.
 */
int program_main(int argc, char **argv, const struct verb *verb,
		 int (*run)(const struct arguments *args))
{
	struct arguments args;
	int error = arguments_parse_verb(&args, argc, argv, verb);

	if (!error && program_tell(&args, NULL, verb))
		return print_flush();
	print_start(option_given(&args, OPTION_JSON));
	if (!error)
		run(&args);
	return print_finish();
}

/**
 * program_exec() - become the program that does a verb
 * @verb: the verb
 * @argv: as main() got it; changed
 * @word: the one of @argv that names the verb
 *
 * Only the folder of the running program is searched: root may run this, with any PATH.
 *
 * Return: the exit code, if there is no such program.
 */
int program_exec(const struct verb *verb, char **argv, const char *word)
{
	char path[PATH_MAX], *slash;
	char **from, **to = argv;

	if (!realpath("/proc/self/exe", path))
		return fail_errno(errno, "cannot find '%s': /proc/self/exe", verb->program);
	slash = strrchr(path, '/');
	if ((size_t)(slash - path) + strlen(verb->program) + 2 > sizeof(path))
		return fail(CODE_USAGE, "the path of this program is too long");
	strcpy(slash + 1, verb->program);
	for (from = argv; *from; from++)
		if (*from != word)
			*to++ = *from;
	*to = NULL;
	argv[0] = path;
	execv(path, argv);
	return fail_errno(errno, "cannot run '%s'", path);
}
