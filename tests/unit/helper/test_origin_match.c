// SPDX-License-Identifier: GPL-2.0-only
/* open/origin_match.c: differences of an origin from the superblock, and their answers. */
#include "match_unit.h"

static void fits(void **state)
{
	enum on_change what;
	struct origin_match match;

	(void)state;
	for (what = ON_CHANGE_DEFAULT; what <= ON_CHANGE_TRUST; what++) {
		match = fitting();
		match.version = "v1";
		match.on_change = what;
		assert_int_equal(match_check_origin(&match), 0);
		assert_int_equal(match.differs, 0);
		assert_false(match.drop || match.trust);
		assert_int_equal(fake_match.looks, 1);
	}
}

/* Each combination of differences with each value of --on-change. */
static void answers(void **state)
{
	unsigned int bits, expected;

	(void)state;
	for (bits = 1; bits < 16; bits++) {
		struct origin_match match = differing(bits);

		/* If the origin is too short, its content is not compared. */
		expected = bits & MATCH_SIZE ? bits & ~MATCH_CONTENT : bits;
		match.on_change = ON_CHANGE_REFUSE;
		assert_int_equal(match_check_origin(&match), CODE_DEVICE);
		assert_int_equal(match.differs, expected);
		assert_said("; ADVICE");
		match = differing(bits);
		match.on_change = ON_CHANGE_DROP;
		assert_int_equal(match_check_origin(&match), 0);
		assert_true(match.drop && !match.trust);
		assert_int_equal(match.differs, expected);
		match = differing(bits);
		match.on_change = ON_CHANGE_TRUST;
		assert_int_equal(match_check_origin(&match), 0);
		assert_true(!match.drop && match.trust);
		/* By default a new version empties the cache, unless the volume is another one. */
		match = differing(bits);
		if (bits & MATCH_VERSION && !(bits & MATCH_ID)) {
			assert_int_equal(match_check_origin(&match), 0);
			assert_true(match.drop && !fake_match.looks);
		} else {
			assert_int_equal(match_check_origin(&match), CODE_DEVICE);
		}
	}
}

static void words(void **state)
{
	struct origin_match match = differing(MATCH_ID | MATCH_VERSION | MATCH_CONTENT);
	char text[MATCH_TEXT];

	(void)state;
	match.on_change = ON_CHANGE_REFUSE;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("'/dev/o' is 'wwid:a', the cache was created for 'wwid:b'");
	assert_said("'v2': the cached data is of version 'v1'");
	assert_said("first or last 64 KiB differ");
	assert_string_equal(match_changed(&match, text), "identity, version, content");
	assert_string_equal(match_before(&match, text),
			    "the identity was 'wwid:b', the dataset version was 'v1', the origin's content was changed");
	match = differing(MATCH_SIZE);
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("has 67108864 bytes, the cache was created for one of 134217728");
	assert_string_equal(match_before(&match, text),
			    "the size was 134217728 bytes");
	match = fitting();
	assert_null(match_changed(&match, text));
	assert_string_equal(match_before(&match, text), "");
	match.differs = MATCH_ID | MATCH_VERSION;
	memset(fake_match.sb.origin_id, 'x', sizeof(fake_match.sb.origin_id) - 1);
	memset(fake_match.sb.dataset_version, 'y', sizeof(fake_match.sb.dataset_version) - 1);
	assert_true(strlen(match_before(&match, text)) < MATCH_TEXT - 1);
}

static void grown(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	match.origin.size = match.size = 2 * BYTES;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("open it with --grow");
	fail_reset();
	match.may_grow = true;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match.drop || match.trust);
	fake_match.content = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	fail_reset();
	match.on_change = ON_CHANGE_TRUST;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(match_record(&match, true), 0);
	assert_true(!fake_match.recorded.drop && fake_match.recorded.held);
	assert_int_equal(fake_match.recorded.size, 2 * BYTES);
}

/* A cold start does not compare the content.  Another logical block size is always refused. */
static void special(void **state)
{
	struct origin_match match = differing(MATCH_CONTENT);

	(void)state;
	fake_match.sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(fake_match.looks, 0);
	match = fitting();
	fake_match.sb.origin_id[0] = '\0';
	assert_int_equal(match_check_origin(&match), 0);
	fake_match.sb.origin_lbs = 4096;
	match.on_change = ON_CHANGE_DROP;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("logical blocks of 512 bytes, at creation they had 4096");
}

static void find(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	fake_match.found = 0;
	assert_int_equal(match_find_origin(&match), CODE_DEVICE);
	assert_said("no device here is the origin 'wwid:a'");
	fake_match.found = 2;
	match = fitting();
	assert_int_equal(match_find_origin(&match), CODE_DEVICE);
	assert_said("2 devices are the origin");
	fake_match.found = 1;
	match = fitting();
	assert_int_equal(match_find_origin(&match), 0);
	assert_int_equal(match.origin.number, 7);
	fake_match.sb.origin_id[0] = '\0';
	assert_int_equal(match_find_origin(&match), CODE_DEVICE);
	assert_said("no device id");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fits),
		cmocka_unit_test(answers),
		cmocka_unit_test(words),
		cmocka_unit_test(grown),
		cmocka_unit_test(special),
		cmocka_unit_test(find),
	};

	return RUN(tests);
}
