// SPDX-License-Identifier: GPL-2.0-only
/* cli/setting.c: words like mode=writethrough change table parameters, or are refused. */
#include "lib/error.h"
#include "cli/setting.h"
#include "unit.h"

static void good(void **state)
{
	char *words[] = { "mode=writethrough", "fill_memory=32M" };
	struct params params = { .other_words = 2, .others = " later 7" };

	(void)state;
	fail_reset();
	assert_int_equal(setting_apply(words, 2, &params), 0);
	assert_int_equal(params.mode, NEARCACHE_WRITETHROUGH);
	assert_int_equal(params.fill_memory, 32 << 20);
	assert_string_equal(params.others, " later 7");
	assert_false(params.cache_timeout_given);
	assert_int_equal(setting_apply((char *[]){ "cache_timeout=0" }, 1,
				       &params), 0);
	assert_true(params.cache_timeout_given);
	assert_int_equal(params.cache_timeout, 0);
	assert_int_equal(setting_apply((char *[]){ "origin_timeout=60" }, 1,
				       &params), 0);
	assert_true(params.origin_timeout_given);
	assert_int_equal(params.origin_timeout, 60);
	/* @params keeps the settings of earlier calls. */
	assert_int_equal(setting_apply((char *[]){ "mode=read-only" }, 1,
				       &params), 0);
	assert_int_equal(params.mode, NEARCACHE_READ_ONLY);
	assert_int_equal(params.fill_memory, 32 << 20);
}

/* read-ahead is no table parameter: setting_read_ahead() returns it. */
static void read_ahead(void **state)
{
	char *words[] = { "fill-memory=32M", "read-ahead=4M" };
	struct params params = { 0 };
	uint64_t bytes = 1;

	(void)state;
	fail_reset();
	assert_int_equal(setting_apply(words, 2, &params), 0);
	assert_int_equal(params.fill_memory, 32 << 20);
	assert_false(setting_read_ahead(words, 1, &bytes));
	assert_int_equal(bytes, 1);
	assert_true(setting_read_ahead(words, 2, &bytes));
	assert_int_equal(bytes, 4 << 20);
	assert_true(setting_read_ahead((char *[]){ "read_ahead=0" }, 1, &bytes));
	assert_int_equal(bytes, 0);
	assert_true(setting_is("read_ahead", "read-ahead=", 10));
	assert_false(setting_is("read_ahead", "read-ahead", 9));
	assert_false(setting_is("mode", "mode=", 5));
}

static void bad(void **state)
{
	/* @word is refused, with a message that must contain @quoted. */
	static const struct {
		char *word[2];
		const char *quoted;
	} row[] = {
		{ { "mode", "mode=read-only" }, "'mode'" },
		{ { "", "mode=read-only" }, "''" },
		{ { "=x", "mode=read-only" }, "'' is not a setting" },
		{ { "mod=read-only", "x" }, "'mod' is not a setting" },
		{ { "modes=read-only", "x" }, "'modes' is not a setting" },
		{ { "fillmemory=1G", "x" }, "mode, fill_memory, cache_timeout, origin_timeout, verify, witness or read_ahead" },
		{ { "read-ahead=", "x" }, "read_ahead ''" },
		{ { "read-ahead=1000", "x" }, "read_ahead '1000': give 0 (none) to 1G" },
		{ { "read_ahead=2G", "x" }, "'2G'" },
		{ { "read_ahead=4M", "read-ahead=4M" }, "twice" },
		{ { "witness=", "x" }, "witness '': give a device, or none" },
		{ { "witness=none", "witness=/dev/x" }, "twice" },
		{ { "mode=writeback", "x" }, "mode 'writeback'" },
		{ { "mode=", "x" }, "mode ''" },
		{ { "mode=read-only=x", "x" }, "'read-only=x'" },
		{ { "fill_memory=1K", "x" }, "fill_memory '1K': give auto, or 1M" },
		{ { "fill_memory=1Q", "x" }, "'1Q'" },
		{ { "cache_timeout=99", "x" }, "cache_timeout '99': give 0" },
		{ { "cache_timeout=1s", "x" }, "cache_timeout '1s': give 0" },
		{ { "origin_timeout=1d", "x" }, "origin_timeout '1d': give 0" },
		{ { "origin_timeout=86401", "x" }, "to 86400 seconds" },
		{ { "verify=4294967296", "x" }, "verify '4294967296': give 0" },
		{ { "verify=-1", "x" }, "verify '-1': give 0" },
		{ { "mode=read-only", "mode=read-only" }, "twice" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct params params = { 0 };

		fail_reset();
		assert_int_equal(setting_apply((char **)row[i].word, 2,
					       &params), CODE_USAGE);
		if (!strstr(fail_message(), row[i].quoted))
			fail_msg("'%s': %s", row[i].word[0], fail_message());
	}
}

/* setting_witness() only returns the path.  The verb will open it and set params.witness. */
static void witness(void **state)
{
	char *words[] = { "mode=writethrough", "witness=/dev/x=y" };
	struct params params = { .witness = 7 };

	(void)state;
	fail_reset();
	assert_null(setting_witness(words, 1));
	assert_string_equal(setting_witness(words, 2), "/dev/x=y");
	assert_int_equal(setting_apply(words, 2, &params), 0);
	assert_int_equal(params.witness, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(read_ahead),
		cmocka_unit_test(bad),
		cmocka_unit_test(witness),
	};

	return RUN(tests);
}
