// SPDX-License-Identifier: GPL-2.0-only
/* 'set witness=' (cmd/set.c) on a fake device: the live table, and the records of witnesses. */
#include "set_unit.h"

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
		cmocka_unit_test(witness_recorded),
		cmocka_unit_test(witness_set),
		cmocka_unit_test(witness_not_set),
	};

	return RUN(tests);
}
