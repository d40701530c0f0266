// SPDX-License-Identifier: GPL-2.0-only
/* Starts the separate program that some verbs have, and is the main() of such a program. */
#include "cli/exec_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/print.h"

const struct verb top_verb = {
	.name = "top",
	.group = VERBS_OBSERVE,
	.operands = "[NAME...]",
	.operands_max = -1,
	.optional = OPTION_INTERVAL | OPTION_BATCH | OPTION_COUNT | OPTION_ENDED,
	.summary = "watch devices, labels, streams and prefetch jobs live",
	.details =
"Without NAME, all devices are shown, including those that are opened later. Rates,\n"
"latencies and the first hit ratio are those of the last interval. Latencies are upper\n"
"bounds of 50 % and 99 % of the reads, by path. Devices that are not in the state normal\n"
"come first. top changes and loads nothing: it shows streams while 'nearcache classifier'\n"
"is loaded, latencies while 'nearcache latency' is, and running jobs. Processes of one\n"
"parent and name, such as the workers of a data loader, share a row: PROCS is their number,\n"
"PID that of the parent. Streams of processes that have ended are shown with --all. Without\n"
"root privileges, top shows devices and jobs.\n"
"\n"
"CACHE/s are bytes read from the cache device, ORIGIN/s from the origin (fills, prefetch,\n"
"bypasses), FILL/s bytes written to the cache device. '... N more' stands for lines that do\n"
"not fit.\n"
"\n"
"  h          show the keys\n"
"  q          quit\n"
"  s          sort streams by rate, bytes, accesses, process\n"
"  e          show or hide streams of ended processes\n"
"  p          show each process, or the workers of a parent process in one row\n"
"  Tab        select the next section, which gets the most lines\n"
"  arrows     scroll the section, as do Page Up, Page Down, Home and End\n"
"  ^L         redraw\n"
"\n"
"--batch prints lines of any length, for files and other programs; the first frame comes\n"
"after one interval. In JSON each frame is an object on one line.\n",
	.program = "nearcache-top",
};

const struct verb daemon_verb = {
	.name = "daemon",
	.group = VERBS_AUTOMATIC,
	.operands = "",
	.optional = OPTION_CONFIG | OPTION_OBSERVE,
	.summary = "adapt read-ahead and prefetch to how devices are read",
	.details =
"The daemon runs until it is stopped. It loads 'classifier' and 'latency' if they are not\n"
"loaded and it is allowed to, and leaves them loaded. Within the bounds of\n"
"/etc/nearcache/nearcache.conf, see nearcache.conf(5), it sets\n"
"  read-ahead   of a device: large while sequential streams read it, small while it is\n"
"               read in pieces; applies to files opened from then on\n"
"  window       bytes that are loaded into the cache ahead of sequential streams\n"
"  checkpoint   whether sequential writes are cached (writethrough)\n"
"The daemon changes a setting when several observations in a row agree. Later it compares\n"
"the bytes read from the origin and the latency of reads before and after, and reverts a\n"
"change that did harm. It reports each action on stderr with its evidence (with priorities,\n"
"if that is the journal); 'nearcache actions' lists them.\n"
"\n"
"Every five seconds the daemon also runs 'nearcache cluster join' again for each cluster\n"
"device: it connects nodes that were absent, and applies changes of cluster.conf. It\n"
"reports what changed.\n"
"\n"
"Changes stay when the daemon stops. With --observe it changes nothing, and a classifier\n"
"that it loads prefetches nothing.\n",
	.program = "nearcached",
};

/*
 * Print help or the version if the command line asks for one. Returns true if it asks for one.
 * @verbs: for help without a verb; may be NULL if @verb is not NULL.
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

/* The main() of a program that has one verb. @argv does not contain the verb. */
int program_main(int argc, char **argv, const struct verb *verb,
		 int (*run)(const struct arguments *args))
{
	struct arguments args;
	int error = arguments_parse_verb(&args, argc, argv, verb);

	/* As in main() of nearcache. */
	umask(022);
	if (!error && program_tell(&args, NULL, verb))
		return print_flush();
	print_start(option_given(&args, OPTION_JSON));
	if (!error)
		run(&args);
	return print_finish();
}

/*
 * Replace this process by the program of a verb. Pass it @argv without @word, which names the verb.
 * Look for the program only in the directory of the running one: PATH is not to be trusted, as root
 * may run this. Returns only after a failure, with an exit code.
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
