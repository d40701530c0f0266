// SPDX-License-Identifier: GPL-2.0-only
/* nearcache open: open a cache that was created before. */
#include "cmd/commands.h"
#include "cmd/shared_help.h"
#include "cmd/upgrade_left.h"
#include "lib/error.h"
#include "lib/print.h"
#include "open/activate.h"
#include "open/open_at_boot.h"
#include "open/open_devices.h"
#include "open/passthrough.h"
#include "open/stage_device.h"

/* The cache is lost, and its stage is not: open the stage, and NAME as a pass-through device above it. */
static int open_without_cache(const struct arguments *args)
{
	struct stage stage = STAGE_CLOSED;
	struct passthrough pass = {
		.name = args->operand[0],
		.mode = args->mode,
		.why = "--stage is given without --cache",
	};

	if (option_given(args, OPTION_FORGET))
		return fail(CODE_USAGE, "--forget drops the settings of a cache, and --stage without --cache opens none: leave out --forget");
	if (arguments_check_name(pass.name) || activate_check_name(pass.name))
		return fail_code();
	if (!stage_pass_through(&stage, NULL, &pass, args))
		stage_print(&stage);
	stage_close(&stage);
	return fail_code();
}

static int cmd_open(const struct arguments *args)
{
	bool done = false;

	print_details(option_given(args, OPTION_VERBOSE));
	if (arguments_check_operand(args) ||
	    (args->operands && !option_given(args, OPTION_DRY_RUN) &&
	     (upgrade_left(args->operand[0], &done) || done)))
		return fail_code();
	if (option_given(args, OPTION_STAGE | OPTION_ABANDON_STAGE | OPTION_DROP_UNREADABLE) &&
	    option_given(args, OPTION_ALL))
		return fail(CODE_USAGE, "--all takes no --stage, --abandon-stage and --drop-unreadable: name one device");
	if (option_given(args, OPTION_STAGE) && option_given(args, OPTION_ABANDON_STAGE) &&
	    !option_given(args, OPTION_CACHE))
		return fail(CODE_USAGE, "--abandon-stage needs --cache DEV, or a line of NAME in nearcachetab; 'nearcache destroy --stage DEV --abandon-stage' gives up a log alone");
	if (option_given(args, OPTION_NO_RESERVE) && option_given(args, OPTION_RESERVE | OPTION_PREEMPT))
		return fail(CODE_USAGE, "--no-reserve: leave out --reserve and --preempt");
	if (option_given(args, OPTION_ABANDON_STAGE) &&
	    option_given(args, OPTION_RESERVE | OPTION_NO_RESERVE | OPTION_PREEMPT))
		return fail(CODE_USAGE,
			    "--abandon-stage opens the origin without a stage: leave out --reserve, --no-reserve and --preempt");
	if (option_given(args, OPTION_STAGE) && !option_given(args, OPTION_CACHE | OPTION_TAB))
		return open_without_cache(args);
	if (!option_given(args, OPTION_CACHE))
		return option_given(args, OPTION_ALL) ? opentab_all(args) : opentab(args);
	if (option_given(args, OPTION_ALL | OPTION_TAB | OPTION_WAIT_DEVICES))
		return fail(CODE_USAGE,
			    "--cache '%s': --all, --tab and --wait need the table, which names the cache device itself",
			    args->cache);
	return open_devices(args);
}

const struct verb open_verb = {
	.name = "open",
	.group = VERBS_DEVICES,
	.operands = "[NAME]",
	.operands_max = 1,
	.optional = OPTIONS_OPEN,
	.changes = true,
	.summary = "open a cache that was created before; its data is warm",
	.details =
"With --cache, open finds the origin by the device id that create recorded (wwid, serial\n"
"or uuid); --origin names the origin where the record has none. NAME need not be the name\n"
"that create used. Of several cache devices name the first one, and open finds the\n"
"others, or name all of them in their order. While a copy of one of them is plugged in,\n"
"name all of them.\n"
"\n"
"Without --cache, open reads the line of NAME in /etc/nearcache/nearcachetab (NAME ORIGIN\n"
"CACHE OPTIONS), with --all every line without noauto. --wait waits for missing devices\n"
"as long as the line says. If the cache device is missing or broken, NAME becomes a plain\n"
"dm-linear device on the origin. In a writing mode this device accepts writes if\n"
"/var/lib/nearcache can record them; the cache is emptied when it is back.\n"
"\n"
"--on-change says what to do if the size, device id or content of the origin (as far as\n"
"its fingerprint and cached data tell) or the --dataset-version is not as recorded:\n"
"  drop     empty the cache, record the origin as it is, and open\n"
"  refuse   open nothing and report the differences; this is the default, except that\n"
"           a --dataset-version other than the recorded one acts as drop for size and\n"
"           content\n"
"  trust    keep the cached data up to the end of the origin, and record the origin\n"
"           as it is: you assert that the data is the same\n"
"\n"
"--grow accepts an origin that grew and keeps the cached data. Writes through this device\n"
"do not count as a change.\n"
"\n"
"open compares some cached data with the origin: metadata of file systems, the latest\n"
"fills, and random blocks, 64 MiB or as much as can be read in a second.\n"
"--compare-at-open SIZE compares SIZE without a time limit, 0 nothing.\n"
"\n"
SETTINGS_HELP
"Options of the command override the line in nearcachetab, and the line overrides remembered\n"
"settings. Options of the line are not remembered. open prints the remembered settings that\n"
"it uses. --forget drops all of them, and drops the witness as --witness none does.\n"
"\n"
"Without --witness, open uses the recorded witness; --witness none forgets it. If the\n"
"witness is missing, the cache opens without it and reports a warning. --force accepts a\n"
"witness that carries something else.\n"
"\n"
"A cache that was created with --stage is opened above its stage, which open makes first;\n"
"it finds the log by the uuid that the cache names, and the origin by the id in the log.\n"
"Without the log, the cache is refused, as the origin may have an older state.\n"
"--abandon-stage opens it without the log, and empties it: writes that were not on the\n"
"origin are lost, and the log is wiped if it is there, otherwise refused when it is back.\n"
"--force accepts a volume whose device id has changed since the log was made. --stage\n"
"without --cache opens the stage alone, if the cache device is lost: NAME then passes\n"
"through to the stage. --drop-unreadable opens a log of which a block cannot be read:\n"
"the writes from there on are lost; open says which, and empties the cache. --reserve\n"
"makes the stage reserve its origin from now on, and --no-reserve ends this. --preempt\n"
"takes an origin that is to be reserved from another node. --exclusive asserts that only\n"
"this device writes to the origin, so that data retained in the log is read there; see\n"
"nearcache-stage(8).\n"
"\n" WITNESS_HELP
"\n" MODES_HELP,
	.run = cmd_open,
};
