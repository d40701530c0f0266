// SPDX-License-Identifier: GPL-2.0-only
/* The devices of the tests of 'set' and 'resize', and calls of both verbs; see set_unit.h. */
#include <stdio.h>

#include "set_unit.h"

#include "block/dm_remove.h"
#include "block/kmsg.h"
#include "lib/print.h"
#include "ondisk/print_superblock.h"
#include "open/activate.h"
#include "open/origin_users.h"
#include "open/stage_device.h"
#include "open/witness.h"

uint64_t origin_bytes, waiting;
bool started, changed, resized;

struct nearcache_super medium;
bool has_record, has_moved, witness_near, cache_dead;
unsigned int claims;
dev_t freed, moved;
uint64_t witness_state;

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

int call_verb(int (*verb)(const struct arguments *args), const char *setting,
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

int set(const char *setting, unsigned int options)
{
	return call_verb(set_verb.run, setting, options);
}

int resize(unsigned int options)
{
	return call_verb(resize_verb.run, NULL, options);
}

void assert_live(const char *params, bool suspended)
{
	assert_string_equal(fake.live.params, params);
	assert_int_equal(fake.suspended, suspended);
}

void fail_cache(void)
{
	fake.no_writing = true;
}
