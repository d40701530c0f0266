// SPDX-License-Identifier: GPL-2.0-only
/* open/origin_match.c: changes of the content: file system, sample, gap, new fingerprint. */
#include "match_unit.h"

/* If the ends are equal, the file systems are compared, unless the recorded type is unknown. */
static void file_system(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	fake_match.sb.file_system_type = NEARCACHE_FP_XFS;
	fake_match.fs_type = NEARCACHE_FP_XFS;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match.blind);
	/* A former version recorded it, without NEARCACHE_FP_MORE. */
	assert_true(match_can_refresh(&match));
	fake_match.sb.file_system_type += NEARCACHE_FP_MORE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match_can_refresh(&match));
	fake_match.fs_content = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("its file system was written to");
	assert_true(match.file_system);
	fail_reset();
	fake_match.fs_content = 0;
	fake_match.fs_type = NEARCACHE_FP_NONE;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	fake_match.content = 1;
	fail_reset();
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("first or last 64 KiB differ");
	assert_false(match.file_system);
	fail_reset();
	fake_match.content = 0;
	fake_match.sb.file_system_type = 77;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.blind);
	fake_match.sb.file_system_type = NEARCACHE_FP_MORE + 77;
	assert_int_equal(match_check_origin(&match), 0);
	/* Nothing was recognised, and now there is a file system. */
	fake_match.sb.file_system_type = NEARCACHE_FP_MORE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match.blind);
	fake_match.fs_type = NEARCACHE_FP_BTRFS;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	fail_reset();
	fake_match.sb.file_system_type = NEARCACHE_FP_XFS;
	fake_match.sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_check_origin(&match), 0);
}

/*
 * An older version recorded the file system on the whole origin and did not look into partitions:
 * this fingerprint is compared as it was taken, then replaced by one that covers more.
 */
static void outgrown(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	fake_match.sb.file_system_type = fake_match.fs_plain_type = NEARCACHE_FP_EXT4;
	fake_match.fs_type = NEARCACHE_FP_VOLUMES;
	fake_match.fs_content = 5;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.outgrown);
	match_refresh(&match);
	assert_int_equal(fake_match.records, 1);
	assert_false(fake_match.recorded.drop);
	fake_match.fs_plain = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_false(match.outgrown);
	fail_reset();
	fake_match.sb.file_system_type = NEARCACHE_FP_VOLUMES;
	memset(fake_match.sb.file_system_fingerprint, 5,
	       sizeof(fake_match.sb.file_system_fingerprint));
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.outgrown);
	assert_false(match.blind);
	fake_match.sb.file_system_type = NEARCACHE_FP_VOLUMES + NEARCACHE_FP_MORE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match.outgrown);
	fake_match.fs_type = NEARCACHE_FP_EXT4;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
}

/*
 * Another host writes between match_check_origin() and the record: --on-change decides. Without
 * such a write the compared fingerprints are recorded, not those of a later time.
 */
static void written_meanwhile(void **state)
{
	unsigned int part, what;

	(void)state;
	for (part = 0; part < 2; part++)
		for (what = ON_CHANGE_DEFAULT; what <= ON_CHANGE_TRUST; what++) {
			struct origin_match match = fitting();

			match.on_change = what;
			match.sample = 1;
			fake_match.fs_type = NEARCACHE_FP_EXT4;
			assert_int_equal(match_check_origin(&match), 0);
			assert_int_equal(match_check_gaps(&match), 0);
			*(part ? &fake_match.content : &fake_match.fs_content) = 1;
			if (what == ON_CHANGE_DEFAULT || what == ON_CHANGE_REFUSE) {
				assert_int_equal(match_check_gaps(&match), CODE_DEVICE);
				assert_said(part ? "first or last 64 KiB differ" :
					    "its file system was written to");
			} else {
				assert_int_equal(match_check_gaps(&match), 0);
				assert_int_equal(match.drop, what == ON_CHANGE_DROP);
				assert_int_equal(match.trust, what == ON_CHANGE_TRUST);
				assert_int_equal(match_record(&match, false), 0);
				assert_false(fake_match.recorded.known);
			}
			assert_int_equal(match.differs, MATCH_CONTENT);
		}
	struct origin_match match = fitting();

	match.sample = 1;
	fake_match.fs_type = NEARCACHE_FP_EXT4;
	assert_int_equal(match_check_origin(&match), 0);
	fake_match.content = fake_match.fs_content = 1;
	match_refresh(&match);
	assert_int_equal(fake_match.records, 1);
	assert_true(fake_match.recorded.known && !fake_match.recorded.content->digest[0]);
	/* Nothing of a cold cache was compared, and none of its data is used. */
	match = fitting();
	fake_match.sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_record(&match, false), 0);
	assert_false(fake_match.recorded.known);
}

/* If the fingerprints are equal, a sample is compared; a difference follows --on-change. */
static void sample(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(fake_match.samples, 0);
	match.sample = 1 << 20;
	fake_match.sb.origin_size = BYTES / 2;
	match.may_grow = true;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(fake_match.samples, 1);
	assert_int_equal(fake_match.sampled.size, BYTES / 2);
	assert_int_equal(match.sampled, 1 << 20);
	fake_match.sample_finds = true;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("the cached data near byte 4096 differs from it");
	fail_reset();
	match.on_change = ON_CHANGE_DROP;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.drop);
	/* No sample is needed, or it would tell nothing. */
	fake_match.samples = 0;
	fake_match.content = 1;
	assert_int_equal(match_check_origin(&match), 0);
	fake_match.content = 0;
	fake_match.sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(fake_match.samples, 0);
}

static void refreshed(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match_can_refresh(&match));
	assert_true(match.blind);
	match_refresh(&match);
	assert_int_equal(fake_match.records, 1);
	assert_false(fake_match.recorded.drop || fake_match.recorded.held);
	match.differs = MATCH_CONTENT;
	match_refresh(&match);
	assert_int_equal(fake_match.records, 1);
	match.differs = 0;
	fake_match.sb.state = NEARCACHE_STATE_ACTIVE;
	match_refresh(&match);
	assert_int_equal(fake_match.records, 1);
}

/* After a gap the cache is emptied, which ends the gap.  ON_CHANGE_REFUSE refuses the cache. */
static void gaps(void **state)
{
	enum on_change what;
	struct origin_match match;

	(void)state;
	for (what = ON_CHANGE_DEFAULT; what <= ON_CHANGE_TRUST; what++) {
		match = fitting();
		match.on_change = what;
		fake_match.sb.table_epoch = 7;
		assert_int_equal(match_check_gaps(&match), 0);
		assert_false(match.drop);
		assert_string_equal(fake_gaps.origin, "wwid:a");
		fake_gaps.concern = true;
		match.trust = what == ON_CHANGE_TRUST;
		if (what == ON_CHANGE_REFUSE) {
			assert_int_equal(match_check_gaps(&match), CODE_DEVICE);
			assert_said("without its cache: the cached data is stale; ADVICE");
			continue;
		}
		assert_int_equal(match_check_gaps(&match), 0);
		assert_true(match.drop && !match.trust);
		assert_int_equal(match_record(&match, false), 0);
		assert_true(fake_match.recorded.drop);
		assert_true(fake_gaps.ended);
		assert_int_equal(fake_gaps.epoch, 8);
	}
	/* The same if the origin's content differs, as writes during the gap have changed it. */
	for (what = ON_CHANGE_DEFAULT; what <= ON_CHANGE_TRUST; what++) {
		match = differing(MATCH_CONTENT);
		match.on_change = what;
		fake_gaps.concern = true;
		assert_int_equal(match_ask_gaps(&match), 0);
		assert_int_equal(match_check_origin(&match),
				 what == ON_CHANGE_REFUSE ? CODE_DEVICE : 0);
		assert_int_equal(match.drop, what != ON_CHANGE_REFUSE);
		assert_false(match.trust);
	}
	/* Another volume is refused even after a gap. */
	match = differing(MATCH_ID);
	fake_gaps.concern = true;
	assert_int_equal(match_ask_gaps(&match), 0);
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("the cache was created for 'wwid:b'");
	match = fitting();
	fake_gaps.error = true;
	assert_int_equal(match_check_gaps(&match), CODE_DEVICE);
	assert_said("gaps.json");
	/* A cache without a gap is emptied (@drop): the record of gaps is not changed. */
	match = fitting();
	match.drop = true;
	assert_int_equal(match_record(&match, false), 0);
	assert_false(fake_gaps.ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_system),
		cmocka_unit_test(outgrown),
		cmocka_unit_test(written_meanwhile),
		cmocka_unit_test(sample),
		cmocka_unit_test(refreshed),
		cmocka_unit_test(gaps),
	};

	return RUN(tests);
}
