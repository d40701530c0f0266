// SPDX-License-Identifier: GPL-2.0-only
/* open/witness_proof.c: old copies and interrupted write sessions. */
#include "match_unit.h"
#include "open/witness_proof.h"

/* Return a match after a crash in session 5 of a writing mode, with two regions being written. */
static struct origin_match cut_off(struct nearcache_witness *record)
{
	struct origin_match match = fitting();
	u32 i;

	fake_match.sb.state = NEARCACHE_STATE_WRITING;
	fake_match.sb.session = 5;
	match.super.geo.intent_offset = 4096;
	match.super.geo.intent_region = 1 << 20;
	match.super.geo.origin_size = BYTES;
	for (i = 0; i < NC_RECOVER_INTENT; i++)
		nc_intent_sector_init(&fake_match.intent[i], fake_match.sb.uuid, 5, i);
	fake_match.intent[0].bits[1] = 0x11;
	/* Bits of regions behind the end of the origin do not count. */
	fake_match.intent[0].bits[8] = 0xff;
	fake_match.intent[9].bits[0] = 0xff;
	for (i = 0; i < NC_RECOVER_INTENT; i++)
		nc_intent_sector_seal(&fake_match.intent[i]);
	fake_match.unreadable = -1;
	nc_witness_init(record, fake_match.sb.uuid);
	record->session = 5;
	record->state = NEARCACHE_WITNESS_STAYED;
	nc_witness_seal(record);
	return match;
}

/* A proven cache is warm.  The origin's ends are compared, the file system (changed) is not. */
static void witness_proves(void **state)
{
	struct nearcache_witness record;
	struct origin_match match = cut_off(&record);

	(void)state;
	assert_true(match_was_writing(&match));
	assert_true(match_is_cold(&match));
	match_read_witness(&match, &record, true);
	assert_true(match.proven);
	assert_false(match_is_cold(&match));
	assert_int_equal(match.regions, 2);
	fake_match.sb.file_system_type = NEARCACHE_FP_EXT4;
	fake_match.fs_content = 1;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(fake_match.looks, 1);
	assert_int_equal(match.differs, 0);
	fake_match.content = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_int_equal(match.differs, MATCH_CONTENT);
	assert_false(match.file_system);
	/* After a crash in a writing mode no fingerprint of the file system is recorded. */
	fake_match.sb.file_system_type = NEARCACHE_FP_NONE;
	assert_false(match_can_refresh(&match));
	/* An unreadable page of the bitmap counts as marked, but not beyond the origin's end. */
	match = cut_off(&(struct nearcache_witness){ 0 });
	fake_match.unreadable = 1;
	match_read_witness(&match, &record, true);
	assert_true(match.proven);
	assert_int_equal(fail_code(), 0);
	assert_int_equal(match.regions, 2);
	/* The witness shows that session 6 was about to begin after 5: this proves session 5. */
	record.session = 6;
	record.previous = 5;
	nc_witness_seal(&record);
	match = cut_off(&(struct nearcache_witness){ 0 });
	match_read_witness(&match, &record, true);
	assert_true(match.proven);
}

/* Check that @record proves nothing: a cold start, for which nothing is compared or refused. */
static void assert_unproven(struct origin_match *match,
			    const struct nearcache_witness *record)
{
	fake_match.content = 1;
	match_read_witness(match, record, true);
	assert_int_equal(fail_code(), 0);
	assert_true(match_is_cold(match) && !match->proven);
	assert_int_equal(match_check_origin(match), 0);
	assert_int_equal(fake_match.looks, 0);
	assert_int_equal(match->differs, 0);
}

static void witness_does_not(void **state)
{
	struct nearcache_witness record;
	struct origin_match match = cut_off(&record);

	(void)state;
	assert_unproven(&match, NULL);
	match = cut_off(&record);
	record.state = NEARCACHE_WITNESS_LEFT;
	nc_witness_seal(&record);
	assert_unproven(&match, &record);
	match = cut_off(&record);
	record.state = NEARCACHE_WITNESS_NEW;
	nc_witness_seal(&record);
	assert_unproven(&match, &record);
	match = cut_off(&record);
	record.session = 4;
	nc_witness_seal(&record);
	assert_unproven(&match, &record);
	match = cut_off(&record);
	fake_match.intent[0].flags = NEARCACHE_INTENT_ENDS;
	nc_intent_sector_seal(&fake_match.intent[0]);
	assert_unproven(&match, &record);
	match = cut_off(&record);
	fake_match.intent[0].bits[0] ^= 1;
	assert_unproven(&match, &record);
	match = cut_off(&record);
	fake_match.unreadable = 0;
	assert_unproven(&match, &record);
	/* State ACTIVE is cold and LIVE is warm, whatever the witness says. */
	match = cut_off(&record);
	fake_match.sb.state = NEARCACHE_STATE_ACTIVE;
	assert_unproven(&match, &record);
	match = cut_off(&record);
	fake_match.sb.state = NEARCACHE_STATE_LIVE;
	match_read_witness(&match, NULL, true);
	assert_false(match_is_cold(&match));
}

/* The witness has a later session: the cache is an old copy and cold, whatever its state. */
static void witness_knows_more(void **state)
{
	static const u32 super_state[] = {
		NEARCACHE_STATE_CLEAN, NEARCACHE_STATE_LIVE,
		NEARCACHE_STATE_WRITING,
	};
	struct nearcache_witness record;
	struct origin_match match;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(super_state) / sizeof(super_state[0]); i++) {
		match = cut_off(&record);
		fake_match.sb.state = super_state[i];
		record.session = 7;
		nc_witness_seal(&record);
		assert_unproven(&match, &record);
		assert_true(match.older);
		/* match_record() records the session of the witness only with @drop. */
		assert_int_equal(match_record(&match, false), 0);
		assert_int_equal(fake_match.recorded.session, 0);
		match.drop = true;
		assert_int_equal(match_record(&match, false), 0);
		assert_int_equal(fake_match.recorded.session, 7);
		assert_false(match_can_refresh(&match));
	}
	/* The witness says that session 7 was about to begin after 5: the cache is current. */
	match = cut_off(&record);
	fake_match.sb.state = NEARCACHE_STATE_CLEAN;
	record.session = 7;
	record.previous = 5;
	nc_witness_seal(&record);
	match_read_witness(&match, &record, true);
	assert_false(match_is_cold(&match));
}

/* match_read_recorded() reads the witness that the superblock names, before another replaces it. */
static void witness_before(void **state)
{
	struct nearcache_witness record;
	struct origin_match match = cut_off(&record);

	(void)state;
	fake_match.before = &record;
	assert_false(match_read_recorded(&match));
	strcpy((char *)fake_match.sb.witness, "/dev/mapper/w");
	fake_match.sb.state = NEARCACHE_STATE_CLEAN;
	fake_match.before = NULL;
	assert_false(match_read_recorded(&match));
	assert_int_equal(fail_code(), 0);
	fake_match.before = &record;
	assert_false(match_read_recorded(&match));
	assert_false(match.older);
	/* An old copy: the witness has a later session (9), or says that the cache has moved. */
	record.session = 9;
	nc_witness_seal(&record);
	assert_true(match_read_recorded(&match));
	assert_true(match.older);
	assert_int_equal(match.session, 9);
	match = cut_off(&record);
	strcpy((char *)fake_match.sb.witness, "/dev/mapper/w");
	record.session = 5;
	record.state = NEARCACHE_WITNESS_MOVED;
	nc_witness_seal(&record);
	assert_true(match_read_recorded(&match));
	/* The record (session 5) has state MOVED.  The cache is current if the superblock has a
	 * higher session, or session 5 and the name of another witness (argument false).
	 */
	fake_match.sb.session = 6;
	match.older = false;
	assert_false(match_read_recorded(&match));
	assert_false(match.older);
	fake_match.sb.session = 5;
	match_read_witness(&match, &record, false);
	assert_false(match.older);
	fake_match.sb.session = 4;
	match_read_witness(&match, &record, false);
	assert_true(match.older);
	fake_match.sb.session = 5;
	match_read_witness(&match, &record, true);
	assert_true(match.older);
	/* match_record() records the session of match_take_session() only with @drop. */
	match_take_session(&match, 12);
	assert_int_equal(match_record(&match, false), 0);
	assert_int_equal(fake_match.recorded.session, 0);
	match.drop = true;
	assert_int_equal(match_record(&match, false), 0);
	assert_int_equal(fake_match.recorded.session, 12);
	/* The record of another cache is ignored. */
	match = cut_off(&record);
	strcpy((char *)fake_match.sb.witness, "/dev/mapper/w");
	record.uuid[0] ^= 1;
	record.session = 9;
	nc_witness_seal(&record);
	assert_false(match_read_recorded(&match));
}

static void witness_recorded(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	assert_int_equal(match_record(&match, false), 0);
	assert_null(fake_match.recorded.witness);
	match.witness = "/dev/mapper/w";
	assert_int_equal(match_record(&match, false), 0);
	assert_string_equal(fake_match.recorded.witness, "/dev/mapper/w");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(witness_proves),
		cmocka_unit_test(witness_does_not),
		cmocka_unit_test(witness_knows_more),
		cmocka_unit_test(witness_before),
		cmocka_unit_test(witness_recorded),
	};

	return RUN(tests);
}
