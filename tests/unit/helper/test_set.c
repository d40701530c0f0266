// SPDX-License-Identifier: GPL-2.0-only
/* 'set' and 'resize' (cmd/) on a fake device: the live table, messages, and witness records. */
#include <signal.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "open/activate.h"
#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "fake_dm.h"
#include "fake_remembered.h"
#include "block/kmsg.h"
#include "open/origin_users.h"
#include "lib/print.h"
#include "block/dm_remove.h"
#include "ondisk/superblock.h"
#include "said.h"
#include "open/stage_device.h"
#include "open/witness.h"

#define WRITING		"writethrough 8:0 8:16"
#define WRITING_32M	WRITING " 2 fill_memory 33554432"
#define READING		"read-only 8:0 8:16"

/* Size of the origin; number of waiting reads; the flags that the verb printed. */
static uint64_t origin_bytes, waiting;
static bool started, changed, resized;

/* Superblock, properties of the witness and faults; then calls: claims, device freed or moved. */
static struct nearcache_super medium;
static bool has_record, has_moved, witness_near, cache_dead;
static unsigned int claims;
static dev_t freed, moved;
static uint64_t witness_state;

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	memset(dev, 0, sizeof(*dev));
	dev->fd = -1;
	dev->number = number;
	dev->role = role;
	dev->size = origin_bytes;
	strcpy(dev->path, "/dev/sda");
	return 0;
}

void device_close(struct device *dev)
{
	(void)dev;
}

const char *device_path_of(dev_t number, char *path)
{
	sprintf(path, "%u:%u", major(number), minor(number));
	return path;
}

/* No stage. */
int stage_below(const struct dm_device *cache, struct dm_device *dev, bool *found)
{
	(void)cache;
	(void)dev;
	*found = false;
	return 0;
}

int stage_grow(const struct dm_device *dev, uint64_t bytes)
{
	(void)dev;
	(void)bytes;
	return 0;
}

int stage_set(const struct dm_device *dev, const char *option, uint64_t value)
{
	fail_msg("'%s %llu' for '%s', which is no stage", option, (unsigned long long)value,
		 dev->name);
	return fail_code();
}

int reconnect_explain(const struct dm_device *dev)
{
	(void)dev;
	return fail_code();
}

int super_read(struct super *super, const struct device *dev)
{
	assert_int_equal(dev->number, makedev(8, 16));
	memset(super, 0, sizeof(*super));
	medium.uuid[3] = 0x33;
	super->best = &medium;
	return cache_dead ? (fail)(CODE_DEVICE, "cannot read") : 0;
}

int witness_open_number(struct witness *witness, dev_t number)
{
	witness->dev.number = number;
	return 0;
}

/* The digit in "/dev/w3" is the minor number: 254:3. */
int witness_open(struct witness *witness, const char *path)
{
	strcpy(witness->path, path);
	return witness_open_number(witness, makedev(254, path[6] - '0'));
}

void witness_close(struct witness *witness)
{
	witness->dev.fd = -1;
}

int witness_check_place(const struct witness *witness,
			const struct device *cache, const struct device *origin)
{
	(void)witness;
	assert_int_equal(cache->number, makedev(8, 16));
	assert_int_equal(origin->number, makedev(8, 0));
	return witness_near ? (fail)(CODE_DEVICE, "same drive") : 0;
}

int witness_look(const struct witness *witness, const u8 *uuid,
		 struct nearcache_witness *record, bool *found)
{
	(void)witness;
	memset(record, 0, sizeof(*record));
	if (has_moved)
		record->state = cpu_to_le32(NEARCACHE_WITNESS_MOVED);
	assert_int_equal(uuid[3], 0x33);
	*found = has_record;
	return 0;
}

int witness_prepare(const struct witness *witness,
		    const struct witness_claim *claim)
{
	(void)witness;
	assert_int_equal(claim->uuid[3], 0x33);
	return 0;
}

int witness_claim(struct witness *witness, const struct witness_claim *claim)
{
	assert_true(claim->ahead);
	assert_int_equal(fake.loads, 0);
	claims++;
	return witness_prepare(witness, claim);
}

int witness_free(struct witness *witness, const u8 *uuid)
{
	assert_int_equal(uuid[3], 0x33);
	freed = witness->dev.number;
	return 0;
}

int witness_move(struct witness *witness, const u8 *uuid, u64 session)
{
	assert_int_equal(session, le64_to_cpu(medium.session));
	assert_int_equal(uuid[3], 0x33);
	moved = witness->dev.number;
	return 0;
}

int describe_status(const struct dm_device *dev, struct status *status)
{
	(void)dev;
	memset(status, 0, sizeof(*status));
	status->field[NEARCACHE_FIELD_FILL_MEMORY_MAX] = 64 << 20;
	status->field[NEARCACHE_FIELD_READS_WAITING] = waiting;
	status->field[NEARCACHE_FIELD_WITNESS] =
		fake.loads ? NEARCACHE_WITNESS_WARM : witness_state;
	return 0;
}

int describe_bypass(const char *name)
{
	(void)name;
	return fail_code();
}

int stop_check_writers(const struct dm_device *dev)
{
	/* The parentheses avoid cmocka's macro fail(). */
	return dev->open_count ? (fail)(CODE_BUSY, "a writer") : 0;
}

int activate_check_mode(const struct device *origin, enum nearcache_mode mode)
{
	(void)origin;
	(void)mode;
	return 0;
}

int activate_check_holders(const struct device *origin, dev_t self)
{
	(void)origin;
	(void)self;
	return 0;
}

int neighbour_check(const struct device *origin, enum nearcache_mode mode,
		    const char *self)
{
	(void)self;
	return activate_check_mode(origin, mode);
}

void print_flag(const char *key, const char *label, bool value)
{
	(void)label;
	if (!strcmp(key, "started"))
		started = value;
	else if (!strcmp(key, "changed"))
		changed = value;
	else if (!strcmp(key, "resized"))
		resized = value;
}

static int run(int (*verb)(const struct arguments *args), const char *setting,
	       unsigned int options)
{
	char *operand[] = { FAKE_NAME, (char *)setting };
	struct arguments args = {
		.given = options,
		.operand = operand,
		.operands = setting ? 2 : 1,
	};

	started = changed = resized = false;
	claims = freed = moved = 0;
	*fake_remembered = '\0';
	fail_reset();
	return verb(&args);
}

static int set(const char *setting, unsigned int options)
{
	return run(set_verb.run, setting, options);
}

static int resize(unsigned int options)
{
	return run(resize_verb.run, NULL, options);
}

static void assert_live(const char *params, bool suspended)
{
	assert_string_equal(fake.live.params, params);
	assert_int_equal(fake.suspended, suspended);
}

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
		assert_int_equal(run(run_verb, word, 0), CODE_BUSY);
		assert_said("--force");
		assert_int_equal(run(run_verb, word,
				     OPTION_FORCE | OPTION_DRY_RUN), 0);
		assert_true(!started);
		assert_live(WRITING, true);
		assert_int_equal(fake.loads, 0);
		assert_int_equal(run(run_verb, word, OPTION_FORCE), 0);
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

static void fail_cache(void)
{
	fake.no_writing = true;
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

/* The record on the old witness (1:3) is neither moved nor freed if the superblock names it. */
static void witness_recorded(void **state)
{
	(void)state;
	origin_bytes = FAKE_BYTES;
	has_record = true;
	fake_reset(WRITING " 2 witness 1:3");
	strcpy((char *)medium.witness, "/dev/null");
	assert_int_equal(set("witness=/dev/w4", 0), 0);
	assert_true(changed && !moved && !freed);
	memset(medium.witness, 0, sizeof(medium.witness));
}

#define W3	" 2 witness 254:3"
#define W4	" 2 witness 254:4"

/* A record on the new witness is claimed before the load; the old record is moved afterwards. */
static void witness_set(void **state)
{
	(void)state;
	origin_bytes = FAKE_BYTES;
	has_record = false;
	fake_reset(WRITING);
	assert_int_equal(set("witness=/dev/w3", OPTION_DRY_RUN), 0);
	assert_true(!claims && !fake.loads);
	assert_int_equal(set("witness=/dev/w3", 0), 0);
	assert_live(WRITING W3, false);
	assert_true(changed && claims == 1 && !freed);
	/* The same witness again: nothing to do. */
	has_record = true;
	assert_int_equal(set("witness=/dev/w3", 0), 0);
	assert_true(!changed && !claims && fake.loads == 1);
	/* The same witness, without a record: a record is claimed, and a load fills it in. */
	has_record = false;
	fake.loads = 0;
	assert_int_equal(set("witness=/dev/w3", 0), 0);
	assert_true(changed && claims == 1 && fake.loads == 1 && !freed);
	fake.loads = 0;
	assert_int_equal(set("witness=/dev/w4", 0), 0);
	assert_live(WRITING W4, false);
	/* The superblock does not name the old witness /dev/w3: the record there becomes MOVED. */
	assert_true(moved == makedev(254, 3) && !freed);
	moved = 0;
	/* A witness where the record of this cache has state MOVED: the record is claimed. */
	has_record = has_moved = true;
	fake.loads = 0;
	assert_int_equal(set("witness=/dev/w3", 0), 0);
	assert_live(WRITING W3, false);
	assert_int_equal(claims, 1);
	has_moved = false;
	moved = 0;
	assert_int_equal(set("witness=/dev/w4", 0), 0);
	assert_true(!claims && moved == makedev(254, 3) && !freed);
	moved = 0;
	/* The same witness in state COLD: a load is needed, as it begins a new session. */
	fake.loads = 0;
	has_record = true;
	witness_state = NEARCACHE_WITNESS_COLD;
	assert_int_equal(set("verify=0", 0), 0);
	assert_int_equal(fake.loads, 0);
	assert_int_equal(set("witness=/dev/w4", 0), 0);
	assert_true(changed && !claims && fake.loads == 1 && !freed);
	witness_state = NEARCACHE_WITNESS_WARM;
	has_record = false;
	/* Other settings do not touch the witness. */
	fake.loads = 0;
	assert_int_equal(set("mode=read-only", 0), 0);
	assert_live(READING W4, false);
	assert_true(!claims && !freed);
	/* witness=none does not free the witness record. */
	assert_int_equal(set("witness=none", 0), 0);
	assert_live(READING, false);
	assert_true(changed && !claims && !freed);
	assert_int_equal(set("witness=none", 0), 0);
	assert_false(changed);
}

static void witness_not_set(void **state)
{
	(void)state;
	origin_bytes = FAKE_BYTES;
	has_record = false;
	fake_reset(WRITING W3);
	witness_near = true;
	assert_int_equal(set("witness=/dev/w4", OPTION_FORCE), CODE_DEVICE);
	assert_said("same drive");
	witness_near = false;
	cache_dead = true;
	assert_int_equal(set("witness=/dev/w4", 0), CODE_DEVICE);
	cache_dead = false;
	assert_true(!claims && !fake.loads);
	/* The kernel rejects the new dm table: the new record is freed. */
	fake.start[0] = FAKE_REFUSES;
	assert_int_equal(set("witness=/dev/w4", 0), CODE_DEVICE);
	assert_live(WRITING W3, false);
	assert_int_equal(claims, 1);
	assert_int_equal(freed, makedev(254, 4));
	/* A record that had state MOVED before 'set' is not freed: it gets state MOVED again. */
	has_record = has_moved = true;
	fake_reset(WRITING W3);
	fake.start[0] = FAKE_REFUSES;
	assert_int_equal(set("witness=/dev/w4", 0), CODE_DEVICE);
	assert_true(!freed && moved == makedev(254, 4));
	has_record = has_moved = false;
	/* 'set' fails, but the new dm table is live and uses the new record: it is not freed. */
	fake_reset(WRITING W3);
	fake.on_start = fail_cache;
	fake.start[0] = FAKE_REFUSES;
	assert_int_equal(set("witness=/dev/w4", 0), CODE_DEVICE);
	assert_live(WRITING W4, false);
	assert_int_equal(claims, 1);
	assert_true(!freed && !moved);
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
		cmocka_unit_test(witness_recorded),
		cmocka_unit_test(witness_set),
		cmocka_unit_test(witness_not_set),
	};

	return RUN(tests);
}
