// SPDX-License-Identifier: GPL-2.0-only
/* Fakes of devices, witness and superblocks for tests of 'attach'. */
#include "attach_unit.h"

#include <stdlib.h>
#include <sys/sysmacros.h>

#include "block/device_sysfs.h"
#include "block/kmsg.h"
#include "cmd/commands.h"
#include "lib/print.h"
#include "ondisk/print_superblock.h"
#include "open/activate.h"
#include "open/format.h"
#include "open/reconnect_origin.h"
#include "open/stage_device.h"
#include "open/witness.h"
#include "open/witness_proof.h"
#include "pins/restore.h"
#include "stage/reconnect.h"

struct fake_attach fake_attach;

bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	(void)number;
	(void)name;
	(void)size;
	return !fake_attach.old_gone;
}

/* No device has a stage. */
int stage_of_name(const char *cache, struct dm_device *dev, bool *found)
{
	(void)cache;
	(void)dev;
	*found = false;
	return 0;
}

bool stage_origin_gone(const struct dm_device *dev)
{
	fail_msg("'%s' is no stage", dev->name);
	return false;
}

int stage_reconnect(const struct dm_device *dev, const char *cache, const struct arguments *args)
{
	(void)cache;
	(void)args;
	fail_msg("'%s' is no stage", dev->name);
	return fail_code();
}

int witness_open_number(struct witness *witness, dev_t number)
{
	assert_int_equal(number, makedev(254, 3));
	strcpy(witness->path, "/dev/mapper/w");
	return fake_attach.witness_gone ? (fail)(CODE_DEVICE, "no witness") : 0;
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
	return fake_attach.witness_near ? (fail)(CODE_DEVICE, "same drive") : 0;
}

int witness_look(const struct witness *witness, const u8 *uuid,
		 struct nearcache_witness *record, bool *found)
{
	(void)witness;
	memset(record, 0, sizeof(*record));
	assert_memory_equal(uuid, fake_attach.medium.uuid, 16);
	*found = fake_attach.has_record;
	if (fake_attach.has_moved)
		record->state = cpu_to_le32(NEARCACHE_WITNESS_MOVED);
	return 0;
}

int witness_prepare(const struct witness *witness,
		    const struct witness_claim *claim)
{
	(void)witness;
	(void)claim;
	return fake_attach.witness_full ? (fail)(CODE_BUSY, "all 64") : 0;
}

int witness_claim(struct witness *witness, const struct witness_claim *claim)
{
	(void)witness;
	fake_attach.claimed_session = le64_to_cpu(claim->session);
	assert_memory_equal(claim->uuid, fake_attach.medium.uuid, 16);
	assert_null(claim->replaced);
	/* The superblock is written before this call only if the cache comes back (@has_moved). */
	assert_true(fake_attach.recorded == fake_attach.has_moved && !fake.loads);
	fake_attach.claimed = true;
	return 0;
}

bool match_read_recorded(struct origin_match *match)
{
	match->older |= fake_attach.superseded;
	return fake_attach.superseded;
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
	assert_int_equal(is_named, *fake_attach.named != '\0');
	match->older = fake_attach.has_moved && fake_attach.superseded;
	fake_attach.asked = true;
}

bool match_was_writing(const struct origin_match *match)
{
	(void)match;
	return fake_attach.was_writing;
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
	memset(&fake_attach.medium, 0, sizeof(fake_attach.medium));
	strcpy((char *)fake_attach.medium.witness, fake_attach.named);
	fake_attach.medium.uuid[15] = fake_attach.other_cache;
	fake_attach.medium.sequence = cpu_to_le64(fake_attach.used ? 2 : 1);
	super->best = &fake_attach.medium;
	return 0;
}

bool match_is_cold(const struct origin_match *match)
{
	(void)match;
	if (fake_attach.was_writing)
		return !(fake_attach.asked && fake_attach.proven);
	return fake_attach.active;
}

int match_check_free(const struct device *cache, const char *self)
{
	/* 8:16, the cache device of "nc", may be in use by "nc" itself, but not for --format-cache. */
	if (fake_attach.busy || (!self && cache->number == makedev(8, 16)))
		return (fail)(CODE_BUSY, "in use");
	return 0;
}

int match_check_origin(struct origin_match *match)
{
	assert_int_equal(match->size, FAKE_BYTES);
	if (!fake_attach.wrong_origin)
		return 0;
	match->drop = match->on_change == ON_CHANGE_DROP;
	return match->drop ? 0 : (fail)(CODE_DEVICE, "another origin");
}

int match_record(struct origin_match *match, bool is_held)
{
	assert_true(match->drop || match->witness);
	fake_attach.path_recorded = match->witness;
	fake_attach.emptied = match->drop;
	fake_attach.recorded = true;
	fake_attach.held = is_held;
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

int match_ask_gaps(struct origin_match *match)
{
	match->gap = fake_attach.gap;
	return 0;
}

int match_check_gaps(struct origin_match *match)
{
	assert_true(fake_gaps.locked);
	match->drop |= fake_attach.gap;
	return 0;
}

void formatting_end_gaps(const struct formatting *new)
{
	(void)new;
	fake_gaps.ended = true;
}

void restore(const char *name, const char *other, struct restored *restored)
{
	static char text[SUPER_UUID_TEXT];

	assert_string_equal(name, FAKE_NAME);
	fake_attach.pinned_for = other ? strcpy(text, other) : NULL;
	memset(restored, 0, sizeof(*restored));
}

bool reconnect_needed(const struct dm_device *dev)
{
	(void)dev;
	return fake_attach.origin_gone;
}

int reconnect(const struct dm_device *dev, const struct arguments *args)
{
	(void)dev;
	(void)args;
	fake_attach.reconnected = true;
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
	fake_attach.areas_written = true;
	return 0;
}

int formatting_claim_record(const struct formatting *new)
{
	assert_true(fake_attach.areas_written && !fake_attach.super_written);
	fake_attach.claimed = *new->witness->path;
	return 0;
}

int formatting_write_super(const struct formatting *new)
{
	assert_true(fake_attach.areas_written);
	device_close(new->cache);
	fake_attach.super_written = true;
	return 0;
}

int describe_status(const struct dm_device *dev, struct status *status)
{
	bool is_new = fake.loads && !strcmp(dev->table, fake.live.params);

	memset(status, 0, sizeof(*status));
	status->field[NEARCACHE_FIELD_STATE] =
		is_new ? fake_attach.state_after : fake_attach.state_before;
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
void reset(const char *params)
{
	fake_reset(params);
	fake_attach = (struct fake_attach) {
		.state_before = NEARCACHE_BYPASS,
		.state_after = NEARCACHE_NORMAL,
		.named = "",
		.on_change = fake_attach.on_change,
	};
	memset(&fake_gaps, 0, sizeof(fake_gaps));
	fake.uuid = DM_UUID_PREFIX "00000000-0000-0000-0000-000000000000";
}

int attach(const char *cache, unsigned int options)
{
	char *operand[] = { FAKE_NAME };
	struct arguments args = {
		.given = options | (cache ? OPTION_CACHE : 0),
		.cache = cache,
		.on_change = fake_attach.on_change,
		.operand = operand,
		.operands = 1,
	};

	fail_reset();
	return attach_verb.run(&args);
}
