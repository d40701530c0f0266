// SPDX-License-Identifier: GPL-2.0-only
/* 'attach' (cmd/attach.c) on a fake device: which cache devices it accepts, and the live table. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "open/activate.h"
#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "fake_dm.h"
#include "fake_gaps.h"
#include "open/format.h"
#include "block/device_sysfs.h"
#include "block/kmsg.h"
#include "open/origin_match.h"
#include "lib/print.h"
#include "open/reconnect_origin.h"
#include "pins/restore.h"
#include "unit.h"
#include "open/witness.h"

#define OLD	"read-only 8:0 8:16 4 fill_memory 33554432 cache_timeout 0"
#define NEW	"read-only 8:0 8:32 4 fill_memory 33554432 cache_timeout 0"
#define WRITING	"writethrough 8:0 8:16"

/* Device health before and after the load.  Properties of cache and origin.  Calls made. */
static uint64_t state_before, state_after;
static bool other_cache, old_gone, busy, wrong_origin, used, active;
static bool areas_written, super_written, recorded, held;
static bool origin_gone, reconnected;
static struct nearcache_super medium;
/* Witness: faults to simulate, properties of its record, and calls made. */
static bool witness_gone, witness_near, witness_full, was_writing, proven;
static bool has_record, has_moved, asked, claimed;
/* @claimed_session: session in witness_claim().  @superseded: a witness knows a later session. */
static uint64_t claimed_session;
static bool superseded, emptied;
static const char *named = "";
static const char *path_recorded;

bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	(void)number;
	(void)name;
	(void)size;
	return !old_gone;
}

int witness_open_number(struct witness *witness, dev_t number)
{
	assert_int_equal(number, makedev(254, 3));
	strcpy(witness->path, "/dev/mapper/w");
	return witness_gone ? (fail)(CODE_DEVICE, "no witness") : 0;
}

void witness_close(struct witness *witness)
{
	witness->dev.fd = -1;
}

int witness_check_place(const struct witness *witness,
			const struct device *cache, const struct device *origin)
{
	(void)witness;
	assert_int_equal(origin->number, makedev(8, 0));
	assert_int_not_equal(cache->number, 0);
	return witness_near ? (fail)(CODE_DEVICE, "same drive") : 0;
}

int witness_look(const struct witness *witness, const u8 *uuid,
		 struct nearcache_witness *record, bool *found)
{
	(void)witness;
	memset(record, 0, sizeof(*record));
	assert_memory_equal(uuid, medium.uuid, 16);
	*found = has_record;
	if (has_moved)
		record->state = cpu_to_le32(NEARCACHE_WITNESS_MOVED);
	return 0;
}

int witness_prepare(const struct witness *witness,
		    const struct witness_claim *claim)
{
	(void)witness;
	(void)claim;
	return witness_full ? (fail)(CODE_BUSY, "all 64") : 0;
}

int witness_claim(struct witness *witness, const struct witness_claim *claim)
{
	(void)witness;
	claimed_session = le64_to_cpu(claim->session);
	assert_memory_equal(claim->uuid, medium.uuid, 16);
	assert_null(claim->replaced);
	/* The superblock is written before this call only if the cache comes back (@has_moved). */
	assert_true(recorded == has_moved && !fake.loads);
	claimed = true;
	return 0;
}

bool match_read_recorded(struct origin_match *match)
{
	match->older |= superseded;
	return superseded;
}

void match_come_back(struct origin_match *match, const struct nearcache_witness *record)
{
	(void)record;
	match->session = 12;
}

void match_read_witness(struct origin_match *match, const struct nearcache_witness *record,
	       bool is_named)
{
	(void)record;
	assert_int_equal(is_named, *named != '\0');
	match->older = has_moved && superseded;
	asked = true;
}

bool match_was_writing(const struct origin_match *match)
{
	(void)match;
	return was_writing;
}

bool identity_attribute(dev_t number, const char *attribute, char *value,
			size_t size)
{
	(void)number;
	(void)attribute;
	(void)value;
	(void)size;
	return false;
}

int activate_check_devices(const struct activation *act)
{
	assert_int_equal(act->origin->number, makedev(8, 0));
	return 0;
}

int super_read(struct super *super, const struct device *dev)
{
	(void)dev;
	memset(&medium, 0, sizeof(medium));
	strcpy((char *)medium.witness, named);
	medium.uuid[15] = other_cache;
	medium.sequence = cpu_to_le64(used ? 2 : 1);
	super->best = &medium;
	return 0;
}

bool match_is_cold(const struct origin_match *match)
{
	(void)match;
	return was_writing ? !(asked && proven) : active;
}

int match_check_free(const struct device *cache, const char *self)
{
	/* 8:16, the cache device of "nc", may be in use by "nc" itself, but not for --format. */
	if (busy || (!self && cache->number == makedev(8, 16)))
		return (fail)(CODE_BUSY, "in use");
	return 0;
}

int match_check_origin(struct origin_match *match)
{
	assert_int_equal(match->size, FAKE_BYTES);
	if (!wrong_origin)
		return 0;
	match->drop = match->on_change == ON_CHANGE_DROP;
	return match->drop ? 0 : (fail)(CODE_DEVICE, "another origin");
}

int match_record(struct origin_match *match, bool is_held)
{
	assert_true(match->drop || match->witness);
	path_recorded = match->witness;
	emptied = match->drop;
	recorded = true;
	held = is_held;
	return 0;
}

const char *match_changed(const struct origin_match *match, char *text)
{
	(void)match;
	return strcpy(text, "content");
}

const char *match_before(const struct origin_match *match, char *text)
{
	return strcpy(text, match->drop ? "before" : "");
}

static bool gap;

int match_ask_gaps(struct origin_match *match)
{
	match->gap = gap;
	return 0;
}

int match_check_gaps(struct origin_match *match)
{
	assert_true(fake_gaps.locked);
	match->drop |= gap;
	return 0;
}

void formatting_end_gaps(const struct formatting *new)
{
	(void)new;
	fake_gaps.ended = true;
}

/* uuid of the cache for which 'attach' restored the pins; NULL: it did not restore any. */
static const char *pinned_for;

void restore(const char *name, const char *other, struct restored *restored)
{
	static char text[SUPER_UUID_TEXT];

	assert_string_equal(name, FAKE_NAME);
	pinned_for = other ? strcpy(text, other) : NULL;
	memset(restored, 0, sizeof(*restored));
}

bool reconnect_needed(const struct dm_device *dev)
{
	(void)dev;
	return origin_gone;
}

int reconnect(const struct dm_device *dev, const struct arguments *args)
{
	(void)dev;
	(void)args;
	reconnected = true;
	return 0;
}

int formatting_check_words(const struct arguments *args)
{
	(void)args;
	return 0;
}

int formatting_claim(const struct formatting *new)
{
	assert_string_equal(new->label, FAKE_NAME);
	return 0;
}

int formatting_prepare(struct formatting *new)
{
	new->sb = calloc(1, sizeof(*new->sb));
	return 0;
}

int formatting_write_areas(const struct formatting *new)
{
	assert_non_null(new->sb);
	areas_written = true;
	return 0;
}

int formatting_claim_record(const struct formatting *new)
{
	assert_true(areas_written && !super_written);
	claimed = *new->witness->path;
	return 0;
}

int formatting_write_super(const struct formatting *new)
{
	assert_true(areas_written);
	device_close(new->cache);
	super_written = true;
	return 0;
}

int describe_status(const struct dm_device *dev, struct status *status)
{
	bool is_new = fake.loads && !strcmp(dev->table, fake.live.params);

	memset(status, 0, sizeof(*status));
	status->field[NEARCACHE_FIELD_STATE] = is_new ? state_after :
							state_before;
	status->field[NEARCACHE_FIELD_REASON] = NEARCACHE_REASON_WRITE_SUPER;
	return 0;
}

const char *describe_state(const struct dm_device *dev,
			   const struct status *status)
{
	(void)dev;
	return status_word(NEARCACHE_FIELD_STATE,
			   status->field[NEARCACHE_FIELD_STATE]);
}

void kmsg_explain(struct kmsg *log, const char *word)
{
	(void)log;
	(void)word;
	fail_add("the kernel log says: so");
}

/* Begin a test: all devices are valid, and the device bypasses its cache. */
static void reset(const char *params)
{
	fake_reset(params);
	state_before = NEARCACHE_BYPASS;
	state_after = NEARCACHE_NORMAL;
	old_gone = busy = wrong_origin = used = active = false;
	areas_written = super_written = recorded = held = false;
	other_cache = origin_gone = reconnected = false;
	witness_gone = witness_near = witness_full = was_writing = false;
	proven = has_record = has_moved = asked = claimed = superseded = emptied = false;
	claimed_session = 0;
	named = "";
	path_recorded = NULL;
	memset(&fake_gaps, 0, sizeof(fake_gaps));
	gap = false;
	fake.uuid = DM_UUID_PREFIX "00000000-0000-0000-0000-000000000000";
}

static enum on_change on_change;

static int attach(const char *cache, unsigned int options)
{
	char *operand[] = { FAKE_NAME };
	struct arguments args = {
		.given = options | (cache ? OPTION_CACHE : 0),
		.cache = cache,
		.on_change = on_change,
		.operand = operand,
		.operands = 1,
	};

	fail_reset();
	return cmd_attach(&args);
}

static void assert_said(const char *text)
{
	if (!strstr(fail_message(), text))
		fail_msg("no '%s' in: %s", text, fail_message());
}

/* In the dm table only the cache device changes; options and size stay. */
static void attached(void **state)
{
	(void)state;
	reset(OLD);
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_int_equal(fake.loads, 0);
	assert_int_equal(attach(NULL, 0), 0);
	assert_int_equal(fake.loads, 1);
	assert_string_equal(fake.live.params, OLD);
	reset(OLD);
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_string_equal(fake.live.params, NEW);
	assert_int_equal(fake.live.bytes, FAKE_BYTES);
}

/* 'attach' restores the pins for the cache, but not when it reconnects the origin. */
static void pinned(void **state)
{
	(void)state;
	reset(OLD);
	pinned_for = NULL;
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_null(pinned_for);
	assert_int_equal(attach(NULL, 0), 0);
	assert_string_equal(pinned_for, "");
	reset(OLD);
	other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_string_equal(pinned_for, "00000000-0000-0000-0000-000000000001");
	reset(OLD);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_string_equal(pinned_for, "00000000-0000-0000-0000-000000000000");
	reset(OLD);
	pinned_for = "?";
	origin_gone = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_null(pinned_for);
}

/* After a gap 'attach' empties the stale cache.  With --format the cache is new: end the gap. */
static void after_gap(void **state)
{
	(void)state;
	reset(OLD);
	assert_int_equal(attach(NULL, 0), 0);
	assert_false(emptied || fake_gaps.ended);
	reset(OLD);
	gap = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(emptied);
	reset(OLD);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_true(fake_gaps.ended);
}

static void not_given_up(void **state)
{
	static const struct {
		uint64_t state;
		const char *said;
	} other[] = {
		{ NEARCACHE_NORMAL, "already works with cache device '/dev/sdb'" },
		{ NEARCACHE_DEGRADED, "recovers by itself" },
		{ NEARCACHE_NOT_LOADED, "not-loaded" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		reset(OLD);
		state_before = other[i].state;
		assert_int_equal(attach("/dev/sdc", 0), CODE_BUSY);
		assert_said(other[i].said);
		assert_int_equal(fake.loads, 0);
	}
}

static void refused(void **state)
{
	static bool *const wrong[] = { &busy, &wrong_origin };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		reset(OLD);
		*wrong[i] = other_cache = true;
		assert_int_not_equal(attach("/dev/sdc", OPTION_FORCE), 0);
		assert_said("continues without its cache");
		assert_int_equal(fake.loads, 0);
	}
	reset(OLD);
	old_gone = true;
	assert_int_equal(attach(NULL, 0), CODE_DEVICE);
	assert_said("(8:16) is gone: name one with --cache DEV");
	reset(OLD);
	fake.suspended = true;
	assert_int_equal(attach(NULL, 0), CODE_BUSY);
	assert_int_equal(attach(NULL, OPTION_FORCE), 0);
	assert_false(fake.suspended);
	assert_int_equal(attach(NULL, OPTION_FORMAT), CODE_USAGE);
	assert_int_equal(attach(NULL, OPTION_BLOCK_SIZE), CODE_USAGE);
}

/* Another cache with data may lack writes of "nc": a writing mode refuses it unless it is cold. */
static void old_content(void **state)
{
	(void)state;
	reset(WRITING);
	used = true;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("may lack writes of 'nc'");
	assert_int_equal(attach("/dev/sdc", OPTION_FORCE), CODE_DEVICE);
	assert_int_equal(fake.loads, 0);
	reset(WRITING);
	used = active = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	reset(WRITING);
	assert_int_equal(attach("/dev/sdc", 0), 0);
	reset(OLD);
	used = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
}

/*
 * In a writing mode the kernel may not start the table for the new cache device: then the file
 * system must have written its dirty data already.
 */
static void suspends(void **state)
{
	(void)state;
	reset(WRITING);
	fake.state = NEARCACHE_BYPASS;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
	/* Another cache device needs the freeze whatever the state is, the same one in bypass. */
	reset(WRITING);
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
	reset(WRITING);
	fake.state = NEARCACHE_BYPASS;
	assert_int_equal(attach(NULL, 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_FREEZE);
	reset(OLD);
	fake.state = NEARCACHE_BYPASS;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_int_equal(fake.suspend, DM_SUSPEND_DRAIN);
}

/* The origin changed: 'attach' empties the cache of "nc", another cache only with --on-change. */
static void dropped(void **state)
{
	(void)state;
	reset(OLD);
	wrong_origin = true;
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_false(recorded);
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(recorded && held);
	reset(OLD);
	wrong_origin = true;
	on_change = ON_CHANGE_REFUSE;
	assert_int_equal(attach(NULL, 0), CODE_DEVICE);
	reset(OLD);
	wrong_origin = other_cache = true;
	on_change = ON_CHANGE_DROP;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_true(recorded && !held);
	/* A writing mode: the other cache may lack writes, so ON_CHANGE_DROP empties it. */
	reset(WRITING);
	used = other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_true(recorded && !held);
	on_change = ON_CHANGE_TRUST;
	assert_int_equal(attach("/dev/sdc", 0), CODE_USAGE);
	on_change = ON_CHANGE_DEFAULT;
}

/* 'attach' without --cache reconnects the origin if that is missing, or with --origin. */
static void which(void **state)
{
	(void)state;
	reset(OLD);
	assert_int_equal(attach(NULL, OPTION_ORIGIN), 0);
	assert_true(reconnected);
	assert_int_equal(attach("/dev/sdc", OPTION_ORIGIN), CODE_USAGE);
	reset(OLD);
	origin_gone = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(reconnected);
	assert_int_equal(fake.loads, 0);
	reset(OLD);
	origin_gone = true;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("'nearcache attach nc --origin DEV', then repeat this command");
}

static void formatted(void **state)
{
	(void)state;
	reset(WRITING);
	/* --format accepts a cache device whose content would be refused without --format. */
	used = wrong_origin = true;
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT | OPTION_DRY_RUN), 0);
	assert_false(areas_written);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_true(super_written);
	assert_string_equal(fake.live.params, "writethrough 8:0 8:32");
	reset(WRITING);
	busy = true;
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), CODE_BUSY);
	assert_false(areas_written);
	reset(WRITING);
	fake.start[0] = FAKE_REFUSES;
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), CODE_DEVICE);
	assert_said("goes on as before");
	assert_said("formatted already");
	assert_string_equal(fake.live.params, WRITING);
}

#define WITNESS	" 2 witness 254:3"

/* 'attach' claims a record on the dm table's witness.  Another cache's superblock gets its path. */
static void witnessed(void **state)
{
	(void)state;
	reset(WRITING WITNESS);
	assert_int_equal(attach(NULL, OPTION_DRY_RUN), 0);
	assert_false(claimed);
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(claimed && !recorded);
	assert_string_equal(fake.live.params, WRITING WITNESS);
	reset(WRITING WITNESS);
	other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_true(claimed && recorded);
	assert_string_equal(path_recorded, "/dev/mapper/w");
	reset(WRITING WITNESS);
	assert_int_equal(attach("/dev/sdc", OPTION_FORMAT), 0);
	assert_true(claimed && super_written);
	/* A dm table without a witness: no record is claimed. */
	reset(WRITING);
	other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	assert_false(claimed || recorded);
	/* The cache had moved to another witness and comes back: it gets a new session number. */
	reset(WRITING WITNESS);
	has_record = has_moved = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(claimed && recorded && !emptied);
	assert_int_equal(claimed_session, 12);
}

/* The superblock's witness knows a later session, so 'attach' empties the cache: an old copy. */
static void witness_superseded(void **state)
{
	static const char *const table[] = { WRITING, WRITING WITNESS };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		reset(table[i]);
		other_cache = superseded = true;
		assert_int_equal(attach("/dev/sdc", 0), 0);
		assert_true(recorded && emptied);
	}
	reset(WRITING WITNESS);
	named = "/dev/mapper/w";
	has_record = has_moved = superseded = true;
	assert_int_equal(attach(NULL, 0), 0);
	assert_true(recorded && emptied && claimed);
}

static void witness_refuses(void **state)
{
	static bool *const wrong[] = { &witness_gone, &witness_near, &witness_full };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		reset(WRITING WITNESS);
		*wrong[i] = true;
		assert_int_not_equal(attach("/dev/sdc", OPTION_FORCE), 0);
		assert_false(claimed);
		assert_int_equal(fake.loads, 0);
		assert_said("continues without its cache");
		if (!witness_full)
			assert_said("'nearcache set nc witness=none'");
	}
}

/* Another cache is refused although the witness proves it warm: it may lack writes of "nc". */
static void witness_proves(void **state)
{
	(void)state;
	reset(WRITING WITNESS);
	used = was_writing = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	reset(WRITING WITNESS);
	used = was_writing = has_record = proven = other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("may lack writes of 'nc'");
	assert_false(claimed);
	/* The former cache of "nc" is accepted: the kernel invalidated blocks written since. */
	reset(WRITING WITNESS);
	used = was_writing = has_record = proven = true;
	assert_int_equal(attach(NULL, 0), 0);
}

static void given_up_again(void **state)
{
	(void)state;
	reset(OLD);
	state_after = NEARCACHE_BYPASS;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("failed again: the superblock cannot be written");
	assert_said("the kernel log says");
	assert_said("continues without its cache");
	/* The kernel rejects the new dm table: the old one stays live. */
	reset(WRITING);
	fake.no_writing = true;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("goes on as before");
	assert_string_equal(fake.live.params, WRITING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached),
		cmocka_unit_test(pinned),
		cmocka_unit_test(after_gap),
		cmocka_unit_test(not_given_up),
		cmocka_unit_test(refused),
		cmocka_unit_test(old_content),
		cmocka_unit_test(dropped),
		cmocka_unit_test(suspends),
		cmocka_unit_test(which),
		cmocka_unit_test(formatted),
		cmocka_unit_test(witnessed),
		cmocka_unit_test(witness_superseded),
		cmocka_unit_test(witness_refuses),
		cmocka_unit_test(witness_proves),
		cmocka_unit_test(given_up_again),
	};

	return RUN(tests);
}
