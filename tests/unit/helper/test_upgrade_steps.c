// SPDX-License-Identifier: GPL-2.0-only
/* upgrade/steps.c: the order of the steps, and a failure of each of them, against a fake kernel. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "said.h"
#include "block/dm.h"
#include "upgrade/upgrade.h"

#define DEVICES	2

/*
 * The fake kernel. @calls: number of calls so far; the calls @fails and @fails_too fail, from 1; 0:
 * none. @module: the srcversion that is loaded, "": none. @broken: the new module refuses tables.
 */
static unsigned int calls, fails, fails_too;
static char module[16];
/* @written: a write passed by device 1, so that it must not get its cache. */
static bool waits, written, broken, attached, recorded, signals_held;
/* Of device i: has the pass-through table, is frozen, has a gap, has its ranges. */
static bool passes[DEVICES], frozen[DEVICES], gap[DEVICES], carried[DEVICES];
/* A pass-through table is loaded and not started; the cache missed a write; so does upgrade_back(). */
static bool inactive[DEVICES], stale[DEVICES], late;
/* The cache with old data cannot be dropped. */
static bool stubborn;
/* The file system of device 1 cannot be frozen again; the new table of device 1 is without a cache; a module file was kept. */
static bool busy, cold, kept;
/* The lists of device i were read after the freeze. */
static bool listed[DEVICES];
static struct upgrade_device device[DEVICES];
static struct upgrade u;

/* Count a call, and fail it if that is wanted. */
static bool call_fails(const char *what)
{
	calls++;
	if (calls != fails && calls != fails_too)
		return false;
	(fail)(CODE_DEVICE, "%s failed", what);
	return true;
}

static int at(const struct upgrade_device *dev)
{
	return (int)(dev - device);
}

void signals_hold(sigset_t *before)
{
	sigprocmask(SIG_BLOCK, NULL, before);
	signals_held = true;
}

void dm_wait_for_udev(bool wait)
{
	waits = wait;
}

void signals_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
	signals_held = false;
}

int __wrap_mlockall(int flags)
{
	(void)flags;
	return 0;
}

int upgrade_record_save(const struct upgrade *all)
{
	(void)all;
	if (call_fails("record"))
		return fail_code();
	recorded = true;
	return 0;
}

int upgrade_record_verified(const struct upgrade_device *dev)
{
	assert_true(dev->verified);
	return call_fails("record") ? (int)fail_code() : 0;
}

int upgrade_record_remove(void)
{
	recorded = false;
	return 0;
}

int upgrade_gap_begin(const struct upgrade_device *dev)
{
	if (call_fails("gap"))
		return fail_code();
	gap[at(dev)] = true;
	return 0;
}

int upgrade_gap_end(const struct upgrade_device *dev)
{
	/* From here on nothing can write without the cache. */
	assert_false(passes[at(dev)] || stale[at(dev)]);
	if (call_fails("end of the gap"))
		return fail_code();
	gap[at(dev)] = false;
	return 0;
}

int upgrade_programs_detach(void)
{
	if (call_fails("detach"))
		return fail_code();
	attached = false;
	return 0;
}

int upgrade_programs_attach(void)
{
	if (call_fails("attach"))
		return fail_code();
	assert_true(*module);
	attached = true;
	return 0;
}

int upgrade_prepare_freeze(struct upgrade_device *dev)
{
	assert_false(frozen[0] || frozen[1]);
	if (call_fails("write back"))
		return fail_code();
	dev->freezes = dev->writes;
	return 0;
}

int upgrade_freeze_again(struct upgrade_device *dev)
{
	if (!dev->writes || frozen[at(dev)])
		return 0;
	if (busy) {
		dev->lost = true;
		return (fail)(CODE_BUSY, "not frozen");
	}
	frozen[at(dev)] = dev->frozen = true;
	return 0;
}

int upgrade_check_works(const struct upgrade_device *dev)
{
	assert_false(passes[at(dev)]);
	return cold && at(dev) == 1 ? (fail)(CODE_DEVICE, "does not work") : 0;
}

void upgrade_module_keep(const struct upgrade_module *wanted)
{
	assert_string_equal(module, wanted->source);
	kept = true;
}

int upgrade_freeze(struct upgrade_device *dev)
{
	assert_true(dev->freezes == dev->writes);

	if (call_fails("freeze"))
		return fail_code();
	frozen[at(dev)] = dev->frozen = dev->writes;
	dev->counted = true;
	dev->verified = false;
	return 0;
}

/* All programs have been frozen before the lists are read for the last time. */
int upgrade_carried_read(struct upgrade_device *dev)
{
	assert_true(!dev->writes || frozen[at(dev)]);
	assert_true(carried[at(dev)] && !passes[at(dev)]);
	listed[at(dev)] = true;
	return call_fails("lists") ? (int)fail_code() : 0;
}

int upgrade_thaw(struct upgrade_device *dev)
{
	/* No writer goes on while a cache may have old data, unless that cannot be helped. */
	assert_true(stubborn || !stale[at(dev)] || fails || fails_too);
	frozen[at(dev)] = dev->frozen = false;
	return 0;
}

int upgrade_pass(struct upgrade_device *dev)
{
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	assert_true(sigismember(&blocked, SIGTSTP) && sigismember(&blocked, SIGQUIT) && !waits);
	assert_true(signals_held && recorded && listed[at(dev)]);
	assert_true(!dev->writes || (frozen[at(dev)] && gap[at(dev)]));
	if (call_fails("pass"))
		return fail_code();
	passes[at(dev)] = dev->passes = true;
	carried[at(dev)] = false;
	return 0;
}

int upgrade_back(struct upgrade_device *dev)
{
	/* Nothing is written before the table of the cache is back. */
	assert_true(!dev->writes || frozen[at(dev)]);
	if (written && at(dev) == 1) {
		dev->lost = true;
		return (fail)(CODE_DEVICE, "written to");
	}
	if (!*module || (broken && !strcmp(module, "new")))
		return (fail)(CODE_DEVICE, "no target");
	if (call_fails("back"))
		return fail_code();
	passes[at(dev)] = dev->passes = false;
	stale[at(dev)] |= late && dev->writes;
	dev->fresh = true;
	return 0;
}

int upgrade_verify(struct upgrade_device *dev)
{
	assert_false(passes[at(dev)]);
	if (stubborn || call_fails("verify")) {
		dev->lost = true;
		passes[at(dev)] = dev->passes = !stubborn;
		return (fail)(CODE_DEVICE, "verify failed");
	}
	stale[at(dev)] = false;
	dev->verified = true;
	return 0;
}

int upgrade_settle(struct upgrade_device *dev)
{
	inactive[at(dev)] = false;
	return 0;
}

bool upgrade_module_loaded(char *source)
{
	strcpy(source, module);
	return *module;
}

int upgrade_module_unload(void)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		assert_true(passes[i]);
	assert_false(attached);
	if (call_fails("unload"))
		return fail_code();
	*module = '\0';
	return 0;
}

int upgrade_module_load(const struct upgrade_module *wanted)
{
	/* A module of another program goes first. */
	assert_true(!*module || !strcmp(module, "other"));
	if (call_fails("load"))
		return fail_code();
	strcpy(module, wanted->source);
	return 0;
}

int upgrade_carried_restore(const struct upgrade_device *dev)
{
	assert_false(passes[at(dev)]);
	assert_false(frozen[at(dev)]);
	if (call_fails("restore"))
		return fail_code();
	carried[at(dev)] = true;
	return 0;
}

static int reset(void **state)
{
	int i;

	(void)state;
	fail_reset();
	calls = fails = fails_too = 0;
	strcpy(module, "old");
	written = broken = recorded = late = stubborn = busy = cold = kept = false;
	attached = true;
	memset(device, 0, sizeof(device));
	for (i = 0; i < DEVICES; i++) {
		passes[i] = frozen[i] = gap[i] = inactive[i] = stale[i] = listed[i] = false;
		device[i].name[0] = (char)('0' + i);
		carried[i] = true;
		device[i].mounted = -1;
	}
	/* Device 1 has a writing mode. */
	device[1].writes = true;
	u = (struct upgrade){ .device = device, .count = DEVICES };
	strcpy(u.before.file, "/old.ko");
	strcpy(u.before.source, "old");
	strcpy(u.now.file, "/new.ko");
	strcpy(u.now.source, "new");
	return 0;
}

/* True if all devices use their caches, with this module, and nothing is left of the upgrade. */
static bool all_is_well(const char *source)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		if (passes[i] || frozen[i] || gap[i] || !carried[i] || inactive[i] || stale[i])
			return false;
	return !strcmp(module, source) && attached && !recorded && !signals_held &&
	       kept == !strcmp(source, "new") && u.changed == kept;
}

static void changes(void **state)
{
	(void)state;
	assert_int_equal(upgrade_run(&u), 0);
	assert_true(all_is_well("new"));
}

/* Whichever call fails: no device is left frozen, and none without its cache if one was possible. */
static void each_failure(void **state)
{
	unsigned int last, i, j;

	reset(state);
	upgrade_run(&u);
	last = calls;
	assert_true(last > 15);
	for (i = 1; i <= last; i++) {
		reset(state);
		fails = i;
		if (!upgrade_run(&u)) {
			/* The record of a verified device may be missing: that serves another run. */
			assert_true(all_is_well("new"));
			continue;
		}
		assert_said("failed");
		assert_false(frozen[0] || frozen[1] || signals_held);
		assert_true(*module);
		assert_true(attached || strstr(fail_message(), "attach"));
		for (j = 0; j < DEVICES; j++)
			assert_true(!passes[j] || (gap[j] && strstr(fail_message(), "verify")));
		/* What is missing is named: a gap that stays empties the cache. */
		assert_true(!gap[1] || passes[1] || strstr(fail_message(), "end of the gap"));
		assert_true((carried[0] && carried[1]) || passes[0] || passes[1] ||
			    strstr(fail_message(), "restore"));
		assert_false(recorded);
	}
}

/* Two failures may leave a device without its cache; then the record and the gap stay. */
static void each_two_failures(void **state)
{
	unsigned int i, j, k;

	for (i = 1; i < 30; i++)
		for (j = i + 1; j < 40; j++) {
			reset(state);
			fails = i;
			fails_too = j;
			upgrade_run(&u);
			assert_false(frozen[0] || frozen[1] || signals_held);
			for (k = 0; k < DEVICES; k++) {
				assert_true(!passes[k] || recorded || device[k].lost);
				assert_true(!passes[k] || fail_code());
				assert_true(!passes[k] || gap[k] || (!k && !device[k].lost) ||
					    (!k && strstr(fail_message(), "gap failed")));
			}
			if (!recorded || device[0].lost || device[1].lost)
				continue;
			/* The next run finishes. A thawed device was not written to here. */
			fails = fails_too = 0;
			fail_reset();
			upgrade_finish(&u);
			assert_true(!passes[0] && !passes[1] && !recorded);
		}
}

static void goes_back(void **state)
{
	(void)state;
	broken = true;
	assert_int_not_equal(upgrade_run(&u), 0);
	assert_said("no target");
	assert_true(u.returned);
	assert_true(all_is_well("old"));
}

/* Without the file of the old module the devices go on without their caches. */
static void no_way_back(void **state)
{
	(void)state;
	*u.before.file = '\0';
	broken = true;
	assert_int_not_equal(upgrade_run(&u), 0);
	assert_said("cannot be loaded again");
	assert_false(u.returned);
	assert_true(passes[0] && passes[1] && gap[1] && recorded);
	assert_false(frozen[1]);
}

/* The command was killed before call @i: a new run does what is left, from the record. */
static void finishes(void **state)
{
	unsigned int done;

	/* 0: before the tables; 1: the module is gone; 2: one device has its cache again. */
	for (done = 0; done < 3; done++) {
		reset(state);
		recorded = true;
		attached = false;
		gap[1] = frozen[1] = device[1].frozen = true;
		passes[0] = device[0].passes = done;
		passes[1] = device[1].passes = done == 1;
		carried[0] = carried[1] = !done;
		device[0].counted = device[1].counted = done;
		strcpy(module, done == 0 ? "old" : done == 1 ? "" : "new");
		assert_int_equal(upgrade_finish(&u), 0);
		assert_true(all_is_well(done ? "new" : "old"));
	}
}

/* A cache that must not come back stays away with either module; the gap will empty it. */
static void write_passed(void **state)
{
	(void)state;
	written = true;
	assert_int_not_equal(upgrade_run(&u), 0);
	assert_said("written to");
	assert_true(passes[1] && gap[1] && !frozen[1]);
	assert_true(!passes[0] && carried[0] && attached && !recorded);
	/* No reason to freeze all writers again and to load the old module. */
	assert_string_equal(module, "new");
	assert_false(u.returned);
}

/* A write passes between the comparison and the table of the cache. */
static void write_passed_late(void **state)
{
	(void)state;
	late = true;
	assert_int_equal(upgrade_run(&u), 0);
	assert_true(all_is_well("new"));
}

/* Killed before the cache was verified: the next run does it, before it ends the gap. */
static void killed_unverified(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		reset(state);
		recorded = gap[1] = frozen[1] = device[1].frozen = true;
		attached = false;
		device[0].counted = device[0].verified = device[1].counted = stale[1] = true;
		strcpy(module, "new");
		stubborn = i;
		assert_int_equal(!upgrade_finish(&u), !i);
		assert_true(i ? gap[1] && recorded && !frozen[1] : all_is_well("new"));
	}
}

/* Killed between the load of a table and the resume. */
static void killed_inactive(void **state)
{
	(void)state;
	recorded = gap[1] = frozen[1] = device[1].frozen = true;
	device[0].counted = device[1].counted = inactive[0] = inactive[1] = true;
	attached = false;
	assert_int_equal(upgrade_finish(&u), 0);
	assert_true(all_is_well("old"));
}

/* Another program loaded the installed module, which is neither the old nor the new one. */
static void finishes_with_other(void **state)
{
	(void)state;
	recorded = true;
	attached = false;
	strcpy(module, "other");
	passes[0] = device[0].passes = passes[1] = device[1].passes = true;
	device[0].counted = device[1].counted = true;
	frozen[1] = device[1].frozen = gap[1] = true;
	assert_int_equal(upgrade_finish(&u), 0);
	assert_true(all_is_well("new"));
}

/* No module can be loaded: the file systems are thawed, and the BPF programs wait. */
static void finishes_without(void **state)
{
	(void)state;
	recorded = true;
	attached = false;
	*module = '\0';
	passes[0] = device[0].passes = passes[1] = device[1].passes = true;
	device[0].counted = device[1].counted = true;
	frozen[1] = device[1].frozen = gap[1] = true;
	fails = 1;
	fails_too = 2;
	assert_int_not_equal(upgrade_finish(&u), 0);
	assert_true(!frozen[1] && gap[1] && recorded && !attached);
	/* Without devices, too, the programs are attached by the next run. */
	reset(state);
	u.count = 0;
	recorded = true;
	attached = false;
	*module = '\0';
	fails = 1;
	fails_too = 2;
	assert_int_not_equal(upgrade_finish(&u), 0);
	assert_true(recorded);
}

/* None is loaded, and the new one cannot be: take the old one. */
static void finishes_with_old(void **state)
{
	(void)state;
	recorded = true;
	*module = '\0';
	passes[0] = device[0].passes = passes[1] = device[1].passes = true;
	frozen[1] = device[1].frozen = gap[1] = true;
	attached = false;
	device[0].counted = device[1].counted = true;
	fails = 1;
	assert_int_not_equal(upgrade_finish(&u), 0);
	assert_said("load failed");
	assert_true(all_is_well("old"));
}

/* After a kill the file system was thawed: it is frozen again, or the cache must not come back. */
static void thawed_meanwhile(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		reset(state);
		recorded = gap[1] = passes[1] = device[1].passes = true;
		carried[1] = attached = false;
		device[0].counted = device[0].verified = device[1].counted = true;
		strcpy(module, "new");
		busy = i;
		assert_int_equal(!upgrade_finish(&u), !i);
		assert_true(i ? passes[1] && gap[1] && !recorded && device[1].lost : all_is_well("new"));
	}
}

/* After a kill the new module refuses the tables: the old one comes back, if its file is known. */
static void finishes_with_broken(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		reset(state);
		recorded = gap[1] = frozen[1] = device[1].frozen = broken = true;
		passes[0] = device[0].passes = passes[1] = device[1].passes = true;
		carried[0] = carried[1] = attached = false;
		device[0].counted = device[1].counted = true;
		strcpy(module, "new");
		if (i)
			*u.before.file = '\0';
		assert_int_not_equal(upgrade_finish(&u), 0);
		assert_true(i ? passes[0] && passes[1] && gap[1] && recorded && !frozen[1] :
				all_is_well("old"));
	}
}

/* The cache does not work with the new module, which is loaded all the same. */
static void works_not(void **state)
{
	(void)state;
	cold = true;
	assert_int_not_equal(upgrade_run(&u), 0);
	assert_said("does not work");
	assert_true(all_is_well("new"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(changes, reset),
		cmocka_unit_test_setup(each_failure, reset),
		cmocka_unit_test_setup(each_two_failures, reset),
		cmocka_unit_test_setup(goes_back, reset),
		cmocka_unit_test_setup(no_way_back, reset),
		cmocka_unit_test_setup(write_passed, reset),
		cmocka_unit_test_setup(write_passed_late, reset),
		cmocka_unit_test_setup(killed_unverified, reset),
		cmocka_unit_test_setup(killed_inactive, reset),
		cmocka_unit_test_setup(thawed_meanwhile, reset),
		cmocka_unit_test_setup(finishes_with_broken, reset),
		cmocka_unit_test_setup(works_not, reset),
		cmocka_unit_test_setup(finishes, reset),
		cmocka_unit_test_setup(finishes_with_old, reset),
		cmocka_unit_test_setup(finishes_with_other, reset),
		cmocka_unit_test_setup(finishes_without, reset),
	};

	return RUN(tests);
}
