// SPDX-License-Identifier: GPL-2.0-only
/* nearcache upgrade: replace the kernel module while devices are in use. */
#include <string.h>

#include "block/dm.h"
#include "block/lock.h"
#include "cmd/commands.h"
#include "cmd/upgrade_left.h"
#include "lib/error.h"
#include "lib/print.h"
#include "upgrade/upgrade.h"

/* No device has this name. One run at a time: two would wait for each other's devices. */
#define LOCK	"/upgrade"

static void print_devices(const struct upgrade *u)
{
	size_t i;

	print_table("devices");
	for (i = 0; i < u->count; i++) {
		const struct upgrade_device *dev = &u->device[i];

		if (dev->gone)
			continue;
		print_record(NULL, NULL);
		print_string("name", "name", dev->name);
		print_flag("writes", NULL, dev->writes);
		print_milliseconds("frozen_ms", "writers waited", dev->waited);
		print_number("ranges", "ranges", dev->ranges);
		print_number("jobs", "jobs", dev->jobs);
		print_number("plan_ranges", "ranges of the plan", dev->planned ? dev->plan.count : 0);
		print_end();
	}
	print_end();
}

static void print_upgrade(const struct upgrade *u, const char *state, bool dry_run)
{
	print_string("state", "module", state);
	print_string("module", "file", u->now.file);
	print_string("version", "version", u->now.version);
	print_string("source", "srcversion", u->now.source);
	print_string("version_before", "version before", u->before.version);
	print_string("source_before", "srcversion before", u->before.source);
	print_devices(u);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
}

static int read_carried(struct upgrade *u)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (upgrade_carried_read(&u->device[i]))
			return fail_code();
	return 0;
}

static int change_module(struct upgrade *u, const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);

	if (!*u->before.source)
		return fail(CODE_DEVICE, "the module " DM_MODULE " is not loaded: 'modprobe " DM_MODULE "' loads the installed one");
	if (!args->module && !strcmp(u->before.source, u->now.source)) {
		print_upgrade(u, "up to date", dry_run);
		return 0;
	}
	if (upgrade_find(u, args->operand, args->operands) ||
	    upgrade_check(u, option_given(args, OPTION_FORCE)) || read_carried(u))
		return fail_code();
	if (!dry_run && upgrade_run(u))
		return u->returned ? fail_add("the old module is loaded again") :
		       u->changed ? fail_add("the new module is loaded") : (int)fail_code();
	print_upgrade(u, dry_run ? "would change" : "changed", dry_run);
	return 0;
}

/*
 * Finish a run that was killed. The caller has the lock LOCK, and none of a device: all runs take
 * them in this order. @left: false if another run has finished it before this one had the locks.
 */
static int finish_left(struct upgrade *u, bool *left)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		lock_name(u->device[i].name);
	upgrade_free(u);
	if (upgrade_record_load(u, left) || !*left)
		return fail_code();
	return upgrade_finish(u);
}

/* Print that a run is finished. Returns false if its module is not the one that is loaded. */
static bool print_left(const struct upgrade *u)
{
	char source[UPGRADE_SOURCE];

	if (!upgrade_module_loaded(source) || strcmp(source, u->now.source))
		return false;
	print_upgrade(u, "an interrupted upgrade is finished", false);
	return true;
}

static bool is_left(const struct upgrade *u, const char *name)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (!strcmp(u->device[i].name, name))
			return !u->device[i].gone;
	return false;
}

/*
 * If an upgrade was killed while it changed device @name, finish it. @done: it did. The caller has
 * locked the device, and no other one.
 */
int upgrade_left(const char *name, bool *done)
{
	struct upgrade u = { 0 };
	bool left = false;

	*done = false;
	if (upgrade_record_load(&u, &left)) {
		/* Another device can be opened. This one cannot: it exists. */
		warn("%s", fail_message());
		fail_reset();
	} else if (left && is_left(&u, name)) {
		lock_release();
		lock_name(LOCK);
		*done = !finish_left(&u, &left) && left && is_left(&u, name);
		if (*done && !print_left(&u))
			warn("the interrupted upgrade left the old module loaded, and the devices work: run 'nearcache upgrade' to change the module");
	}
	upgrade_free(&u);
	return fail_code();
}

/* Finish a run that was killed. Its module, or that of --module, must be loaded afterwards. */
static int upgrade_again(struct upgrade *u, const struct arguments *args)
{
	struct upgrade given = { 0 };
	bool left;

	if (finish_left(u, &left) || !left)
		return fail_code() || left ? (int)fail_code() :
		       fail(CODE_BUSY, "another command has finished the interrupted upgrade: run 'nearcache upgrade' again");
	if (args->module && upgrade_module_inspect(&given, args->module))
		return fail_add("the interrupted upgrade is finished without this module");
	if (args->module)
		u->now = given.now;
	return print_left(u) ? 0 :
	       fail(CODE_BUSY,
		    "the interrupted upgrade is finished, but module '%s' is not loaded: run this command again to change to it",
		    u->now.file);
}

static int cmd_upgrade(const struct arguments *args)
{
	struct upgrade u = { 0 };
	bool left;

	lock_name(LOCK);
	if (!upgrade_record_load(&u, &left)) {
		if (left && option_given(args, OPTION_DRY_RUN))
			print_upgrade(&u, "would finish an interrupted upgrade", true);
		else if (left)
			upgrade_again(&u, args);
		else if (!upgrade_module_inspect(&u, args->module))
			change_module(&u, args);
	}
	upgrade_free(&u);
	return fail_code();
}

const struct verb upgrade_verb = {
	.name = "upgrade",
	.group = VERBS_MAINTAIN,
	.operands = "[NAME...]",
	.operands_max = -1,
	.optional = OPTION_MODULE | OPTION_FORCE,
	.summary = "replace the kernel module while devices are in use",
	.details =
"upgrade loads the installed module, or that of --module, in place of the loaded one. File\n"
"systems stay mounted, and cached data stays. All devices take part; with NAMEs, upgrade\n"
"refuses if another device uses the module.\n"
"\n"
"Meanwhile reads are served by the origin. In a writing mode the file system is frozen, so\n"
"writers wait; upgrade refuses users that it cannot freeze: swap, a device on top, a process\n"
"that has the device open for writing, a mount with discard. It also refuses stages, cluster\n"
"devices, caches that do not work, scrubs, a cache or origin in a file on a device that would\n"
"be frozen, other users of the module (nearcache top, trace, perf), and a module that cannot\n"
"read the on-disk format of a cache.\n"
"\n"
"During the upgrade, do not run fstrim. Do not upgrade a node in a writing mode if it exports\n"
"a file on one of its devices over the network, as the origin or cache device of another one.\n"
"\n"
"Settings, read-ahead, ranges, plans, jobs and BPF programs come back. Jobs get new numbers;\n"
"counters begin at 0. If the new module fails, the old one is loaded again: its file must be\n"
"installed, or in /var/lib/nearcache/module, where upgrade keeps a copy of the module that\n"
"it loaded. --force upgrades without that file; all other checks stay.\n"
"\n"
"If this command is killed, run it again, or 'nearcache open NAME': both finish the work.\n"
"kmod/doc/upgrade.md has the steps.\n",
	.run = cmd_upgrade,
};
