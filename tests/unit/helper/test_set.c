// SPDX-License-Identifier: GPL-2.0-only
/* 'set' and 'resize' (cmd/) on a fake device: the live table and messages. */
#include <signal.h>

#include "set_unit.h"

#include "open/activate.h"

static void applied(void **state)
{
	(void)state;
	fake_reset(WRITING);
	origin_bytes = FAKE_BYTES;
	assert_int_equal(set("fill_memory=32M", 0), 0);
	assert_live(WRITING_32M, false);
	assert_true(changed && !started);
	assert_int_equal(set("fill_memory=32M", OPTION_FORCE), 0);
	assert_int_equal(resize(OPTION_FORCE), 0);
	assert_true(!changed && !started && !resized);
	/* Nothing had to change, so no table was loaded. */
	assert_int_equal(fake.loads, 1);
	origin_bytes = 2 * FAKE_BYTES;
	assert_int_equal(resize(OPTION_DRY_RUN), 0);
	assert_int_equal(fake.loads, 1);
	assert_int_equal(resize(0), 0);
	assert_true(resized && !started);
	assert_int_equal(fake.live.bytes, origin_bytes);
}

/* A suspended device is refused.  With --force it is resumed, even if nothing else changes. */
static void suspended(void **state)
{
	int verb;

	(void)state;
	origin_bytes = FAKE_BYTES;
	for (verb = 0; verb < 2; verb++) {
		const char *word = verb ? "mode=writethrough" : NULL;
		int (*run_verb)(const struct arguments *args) =
			verb ? set_verb.run : resize_verb.run;

		fake_reset(WRITING);
		fake.suspended = true;
		assert_int_equal(call_verb(run_verb, word, 0), CODE_BUSY);
		assert_said("--force");
		assert_int_equal(call_verb(run_verb, word, OPTION_FORCE | OPTION_DRY_RUN), 0);
		assert_true(!started);
		assert_live(WRITING, true);
		assert_int_equal(fake.loads, 0);
		assert_int_equal(call_verb(run_verb, word, OPTION_FORCE), 0);
		assert_true(started && !changed && !resized);
		assert_live(WRITING, false);
		assert_int_equal(fake.live.bytes, FAKE_BYTES);
	}
}

static void others_set(void)
{
	strcpy(fake.live.params, WRITING_32M);
}

static void others_make_anew(void)
{
	fake.uuid = DM_UUID_PREFIX "2";
}

static void others_suspend(void)
{
	fake.suspended = true;
}

static void others_grow(void)
{
	fake.live.bytes *= 2;
}

/* Another process changes the device between look-up and load: 'set' fails, their change stays. */
static void changed_before(void **state)
{
	static void (*const others[])(void) = {
		others_set, others_make_anew, others_suspend, others_grow,
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct fake_table theirs;

		fake_reset(WRITING);
		fake.on_load = others[i];
		assert_int_equal(set("mode=read-only", 0), CODE_BUSY);
		assert_said("changed by another program");
		assert_said("nothing was changed");
		assert_string_equal(fake.loaded.params, "");
		theirs = fake.live;
		assert_string_not_equal(theirs.params, READING);
		/* A second attempt succeeds unless it needs --force. */
		fake.on_load = NULL;
		assert_int_equal(set("mode=read-only", 0),
				 fake.suspended ? CODE_BUSY : 0);
	}
	fake_reset(WRITING);
	fake.on_load = others_set;
	fake.cannot_clear = true;
	assert_int_equal(set("mode=read-only", 0), CODE_BUSY);
	assert_said("'dmsetup clear nc'");
}

/* A kernel of another version prints unknown options first. */
static void other_order(void)
{
	strcpy(fake.live.params, READING " 4 later 7 fill_memory 33554432");
}

static void changed_after(void **state)
{
	(void)state;
	fake_reset(READING " 4 fill_memory 8388608 later 7");
	fake.on_start = other_order;
	assert_int_equal(set("fill_memory=32M", 0), 0);
	assert_int_equal(set("fill_memory=16M", 0), CODE_BUSY);
	assert_said("changed by another program");
	fake_reset(WRITING);
	fake.on_start = others_set;
	assert_int_equal(set("mode=read-only", 0), CODE_BUSY);
	assert_said("its table is now '" WRITING_32M "'");
}

/* If the new dm table does not start, the device goes on with the old dm table and size. */
static void taken_back(void **state)
{
	enum fake_start how;

	(void)state;
	for (how = FAKE_INTERRUPTED; how <= FAKE_REFUSES; how++) {
		fake_reset(READING);
		fake.start[0] = how;
		assert_int_equal(set("mode=writethrough", 0), CODE_DEVICE);
		assert_said("goes on as before");
		assert_live(READING, false);
		assert_string_equal(fake.loaded.params, "");
		fake_reset(WRITING);
		origin_bytes = 2 * FAKE_BYTES;
		fake.start[0] = how;
		assert_int_equal(resize(0), CODE_DEVICE);
		assert_said("goes on as before");
		assert_live(WRITING, false);
		assert_int_equal(fake.live.bytes, FAKE_BYTES);
	}
}

/* The cache device failed, so the old dm table (a writing mode) cannot be loaded again. */
static void not_taken_back(void **state)
{
	(void)state;
	fake_reset(WRITING);
	fake.on_start = fail_cache;
	fake.start[0] = fake.start[1] = FAKE_REFUSES;
	assert_int_equal(set("fill_memory=32M", 0), CODE_DEVICE);
	assert_said("'nearcache set nc mode=read-only --force'");
	assert_live(WRITING_32M, true);
	/* The live dm table is the requested one, but resuming it fails as well. */
	assert_int_equal(set("fill_memory=32M", OPTION_FORCE), CODE_DEVICE);
	assert_said("is suspended now");
	assert_said("'nearcache set nc mode=read-only --force'");
	/* The command that the message advises works. */
	assert_int_equal(set("mode=read-only", OPTION_FORCE), 0);
	assert_live(READING " 2 fill_memory 33554432", false);
}

/* The old dm table cannot be loaded again, but the new one starts at the second attempt. */
static void started_after_all(void **state)
{
	(void)state;
	fake_reset(WRITING);
	fake.on_start = fail_cache;
	fake.start[0] = FAKE_REFUSES;
	assert_int_equal(set("fill_memory=32M", 0), CODE_DEVICE);
	assert_said("runs, but with the table '" WRITING_32M "'");
	assert_live(WRITING_32M, false);
	fake_reset(WRITING);
	fake.on_start = fail_cache;
	fake.start[0] = FAKE_REFUSES;
	origin_bytes = 2 * FAKE_BYTES;
	assert_int_equal(resize(0), CODE_DEVICE);
	assert_said("runs, but with the table '" WRITING "' of 2097152 bytes");
	fake_reset(WRITING);
	fake.on_start = fail_cache;
	fake.start[0] = FAKE_MISFITS;
	assert_int_equal(set("fill_memory=32M", 0), CODE_DEVICE);
	assert_said("goes on as before");
	assert_live(WRITING, false);
}

static void lose(void)
{
	fake.gone = true;
}

static void vanished(void **state)
{
	(void)state;
	fake_reset(WRITING);
	fake.on_load = lose;
	assert_int_equal(set("mode=read-only", 0), CODE_BUSY);
	fake_reset(WRITING);
	fake.on_start = lose;
	fake.start[0] = FAKE_REFUSES;
	assert_int_equal(set("mode=read-only", 0), CODE_DEVICE);
	assert_said("device 'nc' is gone");
}

static void refused(void **state)
{
	(void)state;
	fake_reset(WRITING);
	fake.opens = 1;
	/* The setting is invalid for any device, even a missing one. */
	fake.gone = true;
	assert_int_equal(set("mode=x", 0), CODE_USAGE);
	assert_int_equal(set("mode=read-only", 0), CODE_DEVICE);
	fake.gone = false;
	assert_int_equal(set("mode=read-only", 0), CODE_BUSY);
	assert_said("a writer");
	assert_live(WRITING, false);
	assert_int_equal(set("mode=read-only", OPTION_FORCE), 0);
	origin_bytes = FAKE_BYTES - 512;
	assert_int_equal(resize(OPTION_FORCE), CODE_DEVICE);
	assert_said("can only grow");
	/* Default values are left out of the table. */
	assert_int_equal(set("cache_timeout=700", 0), 0);
	assert_int_equal(set("origin_timeout=0", 0), 0);
	assert_int_equal(set("fill_memory=auto", 0), 0);
	assert_live(READING, false);
	/* The kernel may choose more than this. */
	assert_int_equal(set("fill_memory=64M", 0), 0);
	assert_live(READING " 2 fill_memory 67108864", false);
}

/* The cache below a cluster device keeps its content and its size; its other settings change. */
static void joined(void **state)
{
	(void)state;
	fake_reset(READING);
	fake.joined = true;
	assert_int_equal(set("mode=writethrough", OPTION_FORCE), CODE_BUSY);
	assert_said("below a cluster device");
	origin_bytes = 2 * FAKE_BYTES;
	assert_int_equal(resize(0), CODE_BUSY);
	assert_said("below a cluster device");
	assert_live(READING, false);
	origin_bytes = FAKE_BYTES;
	assert_int_equal(resize(0), 0);
	assert_int_equal(set("fill_memory=32M", 0), 0);
}

/* Waiting reads would block the suspend: dm_resume() hands them over if origin_timeout changes. */
static void handed_over(void **state)
{
	(void)state;
	fake_reset(WRITING " 2 origin_timeout 600");
	waiting = 3;
	assert_int_equal(set("origin_timeout=0", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_HAND_OVER);
	assert_live(WRITING " 2 origin_timeout 0", false);
	/* Dirty data must be written before the device refuses writes, and only then. */
	assert_int_equal(set("mode=read-only", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
	waiting = 0;
	assert_int_equal(set("verify=0", 0), 0);
	assert_false(changed);
	assert_int_equal(set("origin_timeout=5", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_DRAIN);
	assert_live(READING " 2 origin_timeout 5", false);
	assert_int_equal(set("mode=writearound", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_DRAIN);
}

/* In a writing mode the kernel may not start a table for a cache device that fails. */
static void bypassed(void **state)
{
	static const enum nearcache_state trouble[] = { NEARCACHE_BYPASS, NEARCACHE_DEGRADED };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fake_reset(WRITING);
		assert_int_equal(set("verify=5", 0), 0);
		assert_int_equal(fake.suspend, DM_SUSPEND_DRAIN);
		fake_reset(WRITING);
		fake.state = trouble[i];
		assert_int_equal(set("verify=5", 0), 0);
		assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
		/* In read-only mode there is no dirty data. */
		fake_reset(READING);
		fake.state = trouble[i];
		assert_int_equal(set("verify=5", 0), 0);
		assert_int_equal(fake.suspend, DM_SUSPEND_DRAIN);
	}
}

/* Settings are remembered once the device has them, and only then. */
static void remembered(void **state)
{
	sigset_t signals;

	(void)state;
	fake_reset(WRITING);
	origin_bytes = FAKE_BYTES;
	sigemptyset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	assert_int_equal(set("fill-memory=32M", OPTION_DRY_RUN), 0);
	assert_string_equal(fake_remembered, "");
	assert_int_equal(set("fill-memory=32M", 0), 0);
	assert_string_equal(fake_remembered, "1 fill-memory=32M;");
	/* No ^C ends the command between the change and the file. */
	sigprocmask(SIG_BLOCK, NULL, &signals);
	assert_true(sigismember(&signals, SIGINT));
	/* What the user sets is remembered, also if a line of nearcachetab has set it already. */
	assert_int_equal(set("fill-memory=32M", 0), 0);
	assert_string_equal(fake_remembered, "1 fill-memory=32M;");
	fake.start[0] = FAKE_INTERRUPTED;
	assert_int_not_equal(set("fill-memory=64M", 0), 0);
	assert_string_equal(fake_remembered, "");
	/* The fake device has no read-ahead. */
	assert_int_not_equal(set("read-ahead=1M", 0), 0);
	assert_string_equal(fake_remembered, "");
	fake_reset(WRITING);
	has_record = true;
	strcpy((char *)medium.witness, "/dev/w3");
	assert_int_equal(set("witness=/dev/w4", 0), 0);
	assert_string_equal(fake_remembered, "1 witness=/dev/w4;1 witness /dev/w4 after /dev/w3;");
	assert_int_equal(set("witness=none", 0), 0);
	assert_string_equal(fake_remembered, "1 witness=none;1 witness none after /dev/w3;");
	memset(medium.witness, 0, sizeof(medium.witness));
	has_record = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(applied),
		cmocka_unit_test(suspended),
		cmocka_unit_test(changed_before),
		cmocka_unit_test(changed_after),
		cmocka_unit_test(taken_back),
		cmocka_unit_test(not_taken_back),
		cmocka_unit_test(started_after_all),
		cmocka_unit_test(vanished),
		cmocka_unit_test(refused),
		cmocka_unit_test(joined),
		cmocka_unit_test(handed_over),
		cmocka_unit_test(bypassed),
		cmocka_unit_test(remembered),
	};

	return RUN(tests);
}
