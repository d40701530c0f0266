// SPDX-License-Identifier: GPL-2.0-only
/* 'attach' on a fake device: cache devices that it refuses, and failures of the load. */
#include "attach_unit.h"

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
		fake_attach.state_before = other[i].state;
		assert_int_equal(attach("/dev/sdc", 0), CODE_BUSY);
		assert_said(other[i].said);
		assert_int_equal(fake.loads, 0);
	}
}

static void refused(void **state)
{
	static bool *const wrong[] = { &fake_attach.busy, &fake_attach.wrong_origin };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		reset(OLD);
		*wrong[i] = fake_attach.other_cache = true;
		assert_int_not_equal(attach("/dev/sdc", OPTION_FORCE), 0);
		assert_said("continues without its cache");
		assert_int_equal(fake.loads, 0);
	}
	reset(OLD);
	fake_attach.old_gone = true;
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
	fake_attach.used = true;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("may lack writes of 'nc'");
	assert_int_equal(attach("/dev/sdc", OPTION_FORCE), CODE_DEVICE);
	assert_int_equal(fake.loads, 0);
	reset(WRITING);
	fake_attach.used = fake_attach.active = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	reset(WRITING);
	assert_int_equal(attach("/dev/sdc", 0), 0);
	reset(OLD);
	fake_attach.used = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
}

static void witness_refuses(void **state)
{
	static bool *const wrong[] = {
		&fake_attach.witness_gone, &fake_attach.witness_near, &fake_attach.witness_full,
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		reset(WRITING WITNESS);
		*wrong[i] = true;
		assert_int_not_equal(attach("/dev/sdc", OPTION_FORCE), 0);
		assert_false(fake_attach.claimed);
		assert_int_equal(fake.loads, 0);
		assert_said("continues without its cache");
		if (!fake_attach.witness_full)
			assert_said("'nearcache set nc witness=none'");
	}
}

/* Another cache is refused although the witness proves it warm: it may lack writes of "nc". */
static void witness_proves(void **state)
{
	(void)state;
	reset(WRITING WITNESS);
	fake_attach.used = fake_attach.was_writing = true;
	assert_int_equal(attach("/dev/sdc", 0), 0);
	reset(WRITING WITNESS);
	fake_attach.used = fake_attach.was_writing = fake_attach.has_record = true;
	fake_attach.proven = fake_attach.other_cache = true;
	assert_int_equal(attach("/dev/sdc", 0), CODE_DEVICE);
	assert_said("may lack writes of 'nc'");
	assert_false(fake_attach.claimed);
	/* The former cache of "nc" is accepted: the kernel invalidated blocks written since. */
	reset(WRITING WITNESS);
	fake_attach.used = fake_attach.was_writing = true;
	fake_attach.has_record = fake_attach.proven = true;
	assert_int_equal(attach(NULL, 0), 0);
}

static void given_up_again(void **state)
{
	(void)state;
	reset(OLD);
	fake_attach.state_after = NEARCACHE_BYPASS;
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
		cmocka_unit_test(not_given_up),
		cmocka_unit_test(refused),
		cmocka_unit_test(old_content),
		cmocka_unit_test(witness_refuses),
		cmocka_unit_test(witness_proves),
		cmocka_unit_test(given_up_again),
	};

	return RUN(tests);
}
