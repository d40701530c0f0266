// SPDX-License-Identifier: GPL-2.0-only
/* The order of the steps, and the way back after a failure. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "block/dm.h"
#include "block/signals.h"
#include "lib/error.h"
#include "upgrade/upgrade.h"

/* The first error of a run, set aside while other steps clean up. */
struct first_error {
	enum exit_code code;
	char message[2048];
};

/* Set the recorded error aside, or append it to the one that is. */
static void set_aside(struct first_error *error)
{
	size_t used = strlen(error->message);

	if (!fail_code())
		return;
	if (!error->code)
		error->code = fail_code();
	snprintf(error->message + used, sizeof(error->message) - used, "%s%s", used ? "; " : "",
		 fail_message());
	fail_reset();
}

static int record_again(const struct first_error *error)
{
	return error->code ? fail(error->code, "%s", error->message) : 0;
}

/* Is the device one of those to change next, which use their caches? */
static bool is_next(const struct upgrade_device *dev, bool writes)
{
	return dev->writes == writes && !dev->passes && !dev->gone;
}

/* Give devices the pass-through table: those in a writing mode, or the others. */
static int pass_some(struct upgrade *u, bool writes)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (is_next(&u->device[i], writes) && upgrade_prepare_freeze(&u->device[i]))
			return fail_code();
	/* After a kill, the next run thaws the file systems that the record names. */
	if (writes && upgrade_record_save(u))
		return fail_code();
	/*
	 * Read ranges, plan and jobs again: they may have changed since the check. A device to which
	 * this run gave a new table has none yet.
	 */
	for (i = 0; i < u->count; i++)
		if (is_next(&u->device[i], writes) &&
		    (upgrade_freeze(&u->device[i]) ||
		     (!u->device[i].fresh && upgrade_carried_read(&u->device[i]))))
			return fail_code();
	/* The record has all that before the first table changes. */
	if (upgrade_record_save(u))
		return fail_code();
	for (i = 0; i < u->count; i++)
		if (is_next(&u->device[i], writes) && upgrade_pass(&u->device[i]))
			return fail_code();
	return 0;
}

/* Writers wait from the freeze to the thaw, so their devices come last. */
static int pass_all(struct upgrade *u)
{
	return pass_some(u, false) || pass_some(u, true) ? fail_code() : 0;
}

/* Does a device use its cache, which may have missed a write? */
static bool is_unverified(const struct upgrade_device *dev)
{
	return dev->counted && !dev->verified && !dev->passes && !dev->gone;
}

/* Give a device its cache again, and let its writers go on. */
static int device_back(struct upgrade_device *dev)
{
	if (dev->passes && !dev->lost && (upgrade_freeze_again(dev) || upgrade_back(dev)))
		return fail_code();
	if (is_unverified(dev)) {
		if (upgrade_verify(dev))
			return fail_code();
		/* If this fails and the command is killed, the next run drops the cached data. */
		if (upgrade_record_verified(dev))
			fail_reset();
	}
	return upgrade_thaw(dev);
}

/*
 * Give devices their caches again, those of writers first. Stops at the first failure, unless the
 * cache must not come back with any module.
 */
static int back_all(struct upgrade *u, struct first_error *error)
{
	size_t i;

	for (i = u->count; i-- > 0;) {
		if (!device_back(&u->device[i]))
			continue;
		if (!u->device[i].lost)
			return fail_code();
		set_aside(error);
	}
	return 0;
}

static int begin_gaps(const struct upgrade *u)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (u->device[i].writes && upgrade_gap_begin(&u->device[i]))
			return fail_code();
	return 0;
}

/* Do steps 3 to 6 and unload the old module. After a failure the old module is still loaded. */
static int take_away(struct upgrade *u)
{
	return begin_gaps(u) || upgrade_programs_detach() || pass_all(u) ||
	       upgrade_module_unload() ? fail_code() : 0;
}

static int load_old(const struct upgrade *u)
{
	return *u->before.file ? upgrade_module_load(&u->before) :
	       fail(CODE_DEVICE,
		    "the old module (srcversion %s) cannot be loaded again: its file was not found before the upgrade",
		    u->before.source);
}

/* Load the old module again; finish_all() then gives the devices their caches. */
static void load_before(struct upgrade *u, struct first_error *error)
{
	char source[UPGRADE_SOURCE];

	if (pass_all(u) || (upgrade_module_loaded(source) && upgrade_module_unload())) {
		set_aside(error);
		return;
	}
	u->returned = !load_old(u);
	set_aside(error);
}

/* Load the new module, or else the old one, unless one of them is loaded. */
static void load_any(const struct upgrade *u, struct first_error *error)
{
	char source[UPGRADE_SOURCE];

	if (upgrade_module_loaded(source) &&
	    (!strcmp(source, u->now.source) || !strcmp(source, u->before.source)))
		return;
	if (upgrade_module_load(&u->now)) {
		set_aside(error);
		load_old(u);
	}
	set_aside(error);
}

/*
 * Do steps 8 to 10 for as many devices as possible, whatever fails. The record stays if a device
 * lacks a cache that it may still get.
 */
static void finish_all(struct upgrade *u, struct first_error *error)
{
	char source[UPGRADE_SOURCE];
	bool left = !upgrade_module_loaded(source);
	size_t i;

	for (i = u->count; i-- > 0;) {
		device_back(&u->device[i]);
		set_aside(error);
	}
	/* Those without their caches, too: the gap records that they can be written to. */
	for (i = 0; i < u->count; i++) {
		upgrade_thaw(&u->device[i]);
		set_aside(error);
	}
	for (i = 0; i < u->count; i++) {
		/* In a writing mode it has its gap already. */
		if (u->device[i].lost && !u->device[i].writes)
			upgrade_gap_begin(&u->device[i]);
		set_aside(error);
		left |= (u->device[i].passes && !u->device[i].lost) || u->device[i].frozen ||
			is_unverified(&u->device[i]);
		if (u->device[i].passes || u->device[i].gone)
			continue;
		/* The gap stays if the cache may have missed a write. */
		if (u->device[i].writes && !is_unverified(&u->device[i]))
			upgrade_gap_end(&u->device[i]);
		set_aside(error);
		if (u->device[i].counted)
			upgrade_carried_restore(&u->device[i]);
		set_aside(error);
		if (u->device[i].fresh)
			upgrade_check_works(&u->device[i]);
		set_aside(error);
	}
	/* Without the module the programs stay detached, for the next run. */
	if (upgrade_module_loaded(source))
		upgrade_programs_attach();
	set_aside(error);
	u->changed = upgrade_module_loaded(source) && !strcmp(source, u->now.source);
	if (u->changed)
		upgrade_module_keep(&u->now);
	if (!left)
		upgrade_record_remove();
	set_aside(error);
}

/*
 * Block signals, also those that stop the program or that ask it for a core file. Lock the memory:
 * the program may be stored on, or swapped to, a device. Do not wait for udev.
 */
static void begin_changes(sigset_t *before)
{
	sigset_t more;

	signals_hold(before);
	sigemptyset(&more);
	sigaddset(&more, SIGTSTP);
	sigaddset(&more, SIGTTIN);
	sigaddset(&more, SIGTTOU);
	sigaddset(&more, SIGQUIT);
	sigprocmask(SIG_BLOCK, &more, NULL);
	dm_wait_for_udev(false);
	mlockall(MCL_CURRENT | MCL_FUTURE);
}

static void end_changes(const sigset_t *before)
{
	munlockall();
	dm_wait_for_udev(true);
	signals_release(before);
}

/* Change the module. After a failure the devices have their caches with the old one, if possible. */
int upgrade_run(struct upgrade *u)
{
	struct first_error error = { 0 };
	sigset_t before;

	if (upgrade_record_save(u))
		return fail_code();
	begin_changes(&before);
	if (!take_away(u) && (upgrade_module_load(&u->now) || back_all(u, &error))) {
		set_aside(&error);
		load_before(u, &error);
	}
	set_aside(&error);
	finish_all(u, &error);
	end_changes(&before);
	return record_again(&error);
}

/* Finish a run that was killed, whatever of it is possible. */
int upgrade_finish(struct upgrade *u)
{
	struct first_error error = { 0 };
	char source[UPGRADE_SOURCE];
	sigset_t before;
	size_t i;

	begin_changes(&before);
	for (i = 0; i < u->count; i++) {
		if (!u->device[i].gone)
			upgrade_settle(&u->device[i]);
		set_aside(&error);
	}
	load_any(u, &error);
	if (back_all(u, &error)) {
		set_aside(&error);
		if (*u->before.file && upgrade_module_loaded(source) &&
		    strcmp(source, u->before.source))
			load_before(u, &error);
	}
	finish_all(u, &error);
	end_changes(&before);
	return record_again(&error);
}
