// SPDX-License-Identifier: GPL-2.0-only
/* open/origin_match.c: differences of an origin from the superblock, and what follows from them. */
#include <stdio.h>
#include <stdlib.h>

#include "open/origin_record.h"
#include "block/dm.h"
#include "open/content_sample.h"
#include "fake_gaps.h"
#include "lib/error.h"
#include "ondisk/fingerprint_ends.h"
#include "ondisk/fingerprint_fs.h"
#include "block/device_sysfs.h"
#include "open/origin_match.h"
#include "meta/recover.h"
#include "unit.h"
#include "open/witness.h"

#define BYTES	(64ULL << 20)

static struct nearcache_super sb;
/* @content: fingerprint of the ends, taken @looks times.  @records: calls of dataset_record(). */
static unsigned char content;
static int looks, found, records;
/* Type and fingerprint of the file system on the origin. */
static enum nearcache_fingerprint fs_type;
static unsigned char fs_content;
/* The same of a file system on the whole origin, if the above is of partitions. */
static enum nearcache_fingerprint fs_plain_type;
static unsigned char fs_plain;
/* Calls of sample_compare(), the last one, and whether it finds a difference. */
static int samples;
static struct content_sample sampled;
static bool sample_finds;
static struct dataset_change recorded;
/* The write-intent bitmap, and the number of its unreadable page (-1: none). */
static struct nearcache_intent intent[NC_RECOVER_INTENT];
static int unreadable;

int fingerprint_ends(const struct device *dev, uint64_t size,
		     unsigned char *digest)
{
	(void)dev;
	assert_true(size <= sb.origin_size);
	memset(digest, content, FINGERPRINT_SIZE);
	looks++;
	return 0;
}

int fsprint_take(const struct device *dev, uint64_t size,
		 struct fsprint_result *result)
{
	(void)dev;
	assert_true(size <= sb.origin_size);
	memset(result, 0, sizeof(*result));
	memset(result->digest, fs_content, FSPRINT_SIZE);
	memset(result->former, fs_content, FSPRINT_SIZE);
	result->type = result->plain_type = fs_type;
	if (fs_type == NEARCACHE_FP_VOLUMES)
		result->plain_type = fs_plain_type;
	memset(result->plain, fs_type == NEARCACHE_FP_VOLUMES ? fs_plain : fs_content,
	       FSPRINT_SIZE);
	return 0;
}

int sample_compare(struct content_sample *sample)
{
	samples++;
	sample->compared = sample->limit;
	sample->differs = sample_finds;
	sample->at = 4096;
	sampled = *sample;
	return 0;
}

bool dataset_is_new(const struct nearcache_super *super, const char *version)
{
	return version && strcmp(version, (const char *)super->dataset_version);
}

int dataset_record(struct device *cache, const struct super *super,
		   const struct device *origin,
		   const struct dataset_change *change)
{
	(void)cache;
	(void)super;
	(void)origin;
	recorded = *change;
	records++;
	return 0;
}

int identity_find(const char *id, dev_t except, dev_t *number)
{
	(void)id;
	(void)except;
	*number = 7;
	return found;
}

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	(void)role;
	dev->number = number;
	return 0;
}

/* Record on the witness that the superblock names; NULL: that witness is missing. */
static const struct nearcache_witness *before;

int device_open(struct device *dev, const char *path, const char *role)
{
	(void)role;
	assert_string_equal(path, (char *)sb.witness);
	dev->fd = 9;
	return before ? 0 : (fail)(CODE_DEVICE, "no such device");
}

int witness_look(const struct witness *witness, const u8 *uuid,
		 struct nearcache_witness *record, bool *is_there)
{
	assert_int_equal(witness->dev.fd, 9);
	assert_memory_equal(uuid, sb.uuid, sizeof(sb.uuid));
	*record = *before;
	*is_there = nc_witness_check(before, uuid);
	return 0;
}

void witness_close(struct witness *witness)
{
	witness->dev.fd = -1;
}

int device_test_claim(const struct device *dev, bool *busy)
{
	(void)dev;
	*busy = false;
	return 0;
}

int dm_find_cache(dev_t cache, struct dm_device *dev, bool *found_one)
{
	(void)cache;
	(void)dev;
	*found_one = false;
	return 0;
}

void *device_buffer(size_t bytes)
{
	return calloc(1, bytes);
}

int device_read(const struct device *dev, void *buffer, size_t bytes,
		uint64_t offset)
{
	(void)dev;
	assert_in_range(offset + bytes, 8192, 4096 + sizeof(intent));
	memcpy(buffer, (char *)intent + offset - 4096, bytes);
	return offset == 4096 * (1 + unreadable) ?
	       (fail)(CODE_DEVICE, "cannot read") : 0;
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

/* Return an origin and a cache that match. */
static struct origin_match fitting(void)
{
	struct origin_match match = {
		.origin = { .path = "/dev/o", .size = BYTES, .lbs = 512,
			    .id = "wwid:a" },
		.super.best = &sb,
		.size = BYTES,
		.advice = "ADVICE",
	};

	memset(&sb, 0, sizeof(sb));
	sb.origin_size = BYTES;
	sb.origin_lbs = 512;
	sb.origin_fingerprint_type = NEARCACHE_FP_ENDS;
	strcpy((char *)sb.origin_id, "wwid:a");
	strcpy((char *)sb.dataset_version, "v1");
	content = 0;
	looks = records = 0;
	fs_type = NEARCACHE_FP_NONE;
	fs_content = fs_plain = 0;
	fs_plain_type = NEARCACHE_FP_NONE;
	samples = 0;
	sample_finds = false;
	memset(&fake_gaps, 0, sizeof(fake_gaps));
	fail_reset();
	return match;
}

/* Return an origin and a cache with the differences @bits. */
static struct origin_match differing(unsigned int bits)
{
	struct origin_match match = fitting();

	if (bits & MATCH_SIZE)
		sb.origin_size = 2 * BYTES;
	if (bits & MATCH_ID)
		strcpy((char *)sb.origin_id, "wwid:b");
	if (bits & MATCH_CONTENT)
		content = 1;
	match.version = bits & MATCH_VERSION ? "v2" : NULL;
	return match;
}

static void assert_said(const char *text)
{
	if (!strstr(fail_message(), text))
		fail_msg("no '%s' in: %s", text, fail_message());
}

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
		assert_int_equal(looks, 1);
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
			assert_true(match.drop && !looks);
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
	memset(sb.origin_id, 'x', sizeof(sb.origin_id) - 1);
	memset(sb.dataset_version, 'y', sizeof(sb.dataset_version) - 1);
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
	content = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	fail_reset();
	match.on_change = ON_CHANGE_TRUST;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(match_record(&match, true), 0);
	assert_true(!recorded.drop && recorded.held);
	assert_int_equal(recorded.size, 2 * BYTES);
}

/* A cold start does not compare the content.  Another logical block size is always refused. */
static void special(void **state)
{
	struct origin_match match = differing(MATCH_CONTENT);

	(void)state;
	sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(looks, 0);
	match = fitting();
	sb.origin_id[0] = '\0';
	assert_int_equal(match_check_origin(&match), 0);
	sb.origin_lbs = 4096;
	match.on_change = ON_CHANGE_DROP;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("logical blocks of 512 bytes, at creation they had 4096");
}

/* If the ends are equal, the file systems are compared, unless the recorded type is unknown. */
static void file_system(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	sb.file_system_type = NEARCACHE_FP_XFS;
	fs_type = NEARCACHE_FP_XFS;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match.blind);
	/* A former version recorded it, without NEARCACHE_FP_MORE. */
	assert_true(match_can_refresh(&match));
	sb.file_system_type += NEARCACHE_FP_MORE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match_can_refresh(&match));
	fs_content = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("its file system was written to");
	assert_true(match.file_system);
	fail_reset();
	fs_content = 0;
	fs_type = NEARCACHE_FP_NONE;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	content = 1;
	fail_reset();
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("first or last 64 KiB differ");
	assert_false(match.file_system);
	fail_reset();
	content = 0;
	sb.file_system_type = 77;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.blind);
	sb.file_system_type = NEARCACHE_FP_MORE + 77;
	assert_int_equal(match_check_origin(&match), 0);
	/* Nothing was recognised, and now there is a file system. */
	sb.file_system_type = NEARCACHE_FP_MORE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match.blind);
	fs_type = NEARCACHE_FP_BTRFS;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	fail_reset();
	sb.file_system_type = NEARCACHE_FP_XFS;
	sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_check_origin(&match), 0);
}

static void refreshed(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match_can_refresh(&match));
	assert_true(match.blind);
	match_refresh(&match);
	assert_int_equal(records, 1);
	assert_false(recorded.drop || recorded.held);
	match.differs = MATCH_CONTENT;
	match_refresh(&match);
	assert_int_equal(records, 1);
	match.differs = 0;
	sb.state = NEARCACHE_STATE_ACTIVE;
	match_refresh(&match);
	assert_int_equal(records, 1);
}

/*
 * An older version recorded the file system on the whole origin and did not look into partitions:
 * this fingerprint is compared as it was taken, then replaced by one that covers more.
 */
static void outgrown(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	sb.file_system_type = fs_plain_type = NEARCACHE_FP_EXT4;
	fs_type = NEARCACHE_FP_VOLUMES;
	fs_content = 5;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.outgrown);
	match_refresh(&match);
	assert_int_equal(records, 1);
	assert_false(recorded.drop);
	fs_plain = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_false(match.outgrown);
	fail_reset();
	sb.file_system_type = NEARCACHE_FP_VOLUMES;
	memset(sb.file_system_fingerprint, 5, sizeof(sb.file_system_fingerprint));
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.outgrown);
	assert_false(match.blind);
	sb.file_system_type = NEARCACHE_FP_VOLUMES + NEARCACHE_FP_MORE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_false(match.outgrown);
	fs_type = NEARCACHE_FP_EXT4;
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
			fs_type = NEARCACHE_FP_EXT4;
			assert_int_equal(match_check_origin(&match), 0);
			assert_int_equal(match_check_gaps(&match), 0);
			*(part ? &content : &fs_content) = 1;
			if (what == ON_CHANGE_DEFAULT || what == ON_CHANGE_REFUSE) {
				assert_int_equal(match_check_gaps(&match), CODE_DEVICE);
				assert_said(part ? "first or last 64 KiB differ" :
					    "its file system was written to");
			} else {
				assert_int_equal(match_check_gaps(&match), 0);
				assert_int_equal(match.drop, what == ON_CHANGE_DROP);
				assert_int_equal(match.trust, what == ON_CHANGE_TRUST);
				assert_int_equal(match_record(&match, false), 0);
				assert_false(recorded.known);
			}
			assert_int_equal(match.differs, MATCH_CONTENT);
		}
	struct origin_match match = fitting();

	match.sample = 1;
	fs_type = NEARCACHE_FP_EXT4;
	assert_int_equal(match_check_origin(&match), 0);
	content = fs_content = 1;
	match_refresh(&match);
	assert_int_equal(records, 1);
	assert_true(recorded.known && !recorded.content->digest[0]);
	/* Nothing of a cold cache was compared, and none of its data is used. */
	match = fitting();
	sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_record(&match, false), 0);
	assert_false(recorded.known);
}

/* If the fingerprints are equal, a sample is compared; a difference follows --on-change. */
static void sample(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(samples, 0);
	match.sample = 1 << 20;
	sb.origin_size = BYTES / 2;
	match.may_grow = true;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(samples, 1);
	assert_int_equal(sampled.size, BYTES / 2);
	assert_int_equal(match.sampled, 1 << 20);
	sample_finds = true;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_said("the cached data near byte 4096 differs from it");
	fail_reset();
	match.on_change = ON_CHANGE_DROP;
	assert_int_equal(match_check_origin(&match), 0);
	assert_true(match.drop);
	/* No sample is needed, or it would tell nothing. */
	samples = 0;
	content = 1;
	assert_int_equal(match_check_origin(&match), 0);
	content = 0;
	sb.state = NEARCACHE_STATE_ACTIVE;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(samples, 0);
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
		sb.table_epoch = 7;
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
		assert_true(recorded.drop);
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

/* Return a match after a crash in session 5 of a writing mode, with two regions being written. */
static struct origin_match cut_off(struct nearcache_witness *record)
{
	struct origin_match match = fitting();
	u32 i;

	sb.state = NEARCACHE_STATE_WRITING;
	sb.session = 5;
	match.super.geo.intent_offset = 4096;
	match.super.geo.intent_region = 1 << 20;
	match.super.geo.origin_size = BYTES;
	for (i = 0; i < NC_RECOVER_INTENT; i++)
		nc_intent_sector_init(&intent[i], sb.uuid, 5, i);
	intent[0].bits[1] = 0x11;
	/* Bits of regions behind the end of the origin do not count. */
	intent[0].bits[8] = 0xff;
	intent[9].bits[0] = 0xff;
	for (i = 0; i < NC_RECOVER_INTENT; i++)
		nc_intent_sector_seal(&intent[i]);
	unreadable = -1;
	nc_witness_init(record, sb.uuid);
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
	sb.file_system_type = NEARCACHE_FP_EXT4;
	fs_content = 1;
	assert_int_equal(match_check_origin(&match), 0);
	assert_int_equal(looks, 1);
	assert_int_equal(match.differs, 0);
	content = 1;
	assert_int_equal(match_check_origin(&match), CODE_DEVICE);
	assert_int_equal(match.differs, MATCH_CONTENT);
	assert_false(match.file_system);
	/* After a crash in a writing mode no fingerprint of the file system is recorded. */
	sb.file_system_type = NEARCACHE_FP_NONE;
	assert_false(match_can_refresh(&match));
	/* An unreadable page of the bitmap counts as marked, but not beyond the origin's end. */
	match = cut_off(&(struct nearcache_witness){ 0 });
	unreadable = 1;
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
	content = 1;
	match_read_witness(match, record, true);
	assert_int_equal(fail_code(), 0);
	assert_true(match_is_cold(match) && !match->proven);
	assert_int_equal(match_check_origin(match), 0);
	assert_int_equal(looks, 0);
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
	intent[0].flags = NEARCACHE_INTENT_ENDS;
	nc_intent_sector_seal(&intent[0]);
	assert_unproven(&match, &record);
	match = cut_off(&record);
	intent[0].bits[0] ^= 1;
	assert_unproven(&match, &record);
	match = cut_off(&record);
	unreadable = 0;
	assert_unproven(&match, &record);
	/* State ACTIVE is cold and LIVE is warm, whatever the witness says. */
	match = cut_off(&record);
	sb.state = NEARCACHE_STATE_ACTIVE;
	assert_unproven(&match, &record);
	match = cut_off(&record);
	sb.state = NEARCACHE_STATE_LIVE;
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
		sb.state = super_state[i];
		record.session = 7;
		nc_witness_seal(&record);
		assert_unproven(&match, &record);
		assert_true(match.older);
		/* match_record() records the session of the witness only with @drop. */
		assert_int_equal(match_record(&match, false), 0);
		assert_int_equal(recorded.session, 0);
		match.drop = true;
		assert_int_equal(match_record(&match, false), 0);
		assert_int_equal(recorded.session, 7);
		assert_false(match_can_refresh(&match));
	}
	/* The witness says that session 7 was about to begin after 5: the cache is current. */
	match = cut_off(&record);
	sb.state = NEARCACHE_STATE_CLEAN;
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
	before = &record;
	assert_false(match_read_recorded(&match));
	strcpy((char *)sb.witness, "/dev/mapper/w");
	sb.state = NEARCACHE_STATE_CLEAN;
	before = NULL;
	assert_false(match_read_recorded(&match));
	assert_int_equal(fail_code(), 0);
	before = &record;
	assert_false(match_read_recorded(&match));
	assert_false(match.older);
	/* An old copy: the witness has a later session (9), or says that the cache has moved. */
	record.session = 9;
	nc_witness_seal(&record);
	assert_true(match_read_recorded(&match));
	assert_true(match.older);
	assert_int_equal(match.session, 9);
	match = cut_off(&record);
	strcpy((char *)sb.witness, "/dev/mapper/w");
	record.session = 5;
	record.state = NEARCACHE_WITNESS_MOVED;
	nc_witness_seal(&record);
	assert_true(match_read_recorded(&match));
	/* The record (session 5) has state MOVED.  The cache is current if the superblock has a
	 * higher session, or session 5 and the name of another witness (argument false).
	 */
	sb.session = 6;
	match.older = false;
	assert_false(match_read_recorded(&match));
	assert_false(match.older);
	sb.session = 5;
	match_read_witness(&match, &record, false);
	assert_false(match.older);
	sb.session = 4;
	match_read_witness(&match, &record, false);
	assert_true(match.older);
	sb.session = 5;
	match_read_witness(&match, &record, true);
	assert_true(match.older);
	/* match_record() records the session of match_take_session() only with @drop. */
	match_take_session(&match, 12);
	assert_int_equal(match_record(&match, false), 0);
	assert_int_equal(recorded.session, 0);
	match.drop = true;
	assert_int_equal(match_record(&match, false), 0);
	assert_int_equal(recorded.session, 12);
	/* The record of another cache is ignored. */
	match = cut_off(&record);
	strcpy((char *)sb.witness, "/dev/mapper/w");
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
	assert_null(recorded.witness);
	match.witness = "/dev/mapper/w";
	assert_int_equal(match_record(&match, false), 0);
	assert_string_equal(recorded.witness, "/dev/mapper/w");
}

static void find(void **state)
{
	struct origin_match match = fitting();

	(void)state;
	found = 0;
	assert_int_equal(match_find_origin(&match), CODE_DEVICE);
	assert_said("no device here is the origin 'wwid:a'");
	found = 2;
	match = fitting();
	assert_int_equal(match_find_origin(&match), CODE_DEVICE);
	assert_said("2 devices are the origin");
	found = 1;
	match = fitting();
	assert_int_equal(match_find_origin(&match), 0);
	assert_int_equal(match.origin.number, 7);
	sb.origin_id[0] = '\0';
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
		cmocka_unit_test(file_system),
		cmocka_unit_test(outgrown),
		cmocka_unit_test(written_meanwhile),
		cmocka_unit_test(sample),
		cmocka_unit_test(refreshed),
		cmocka_unit_test(gaps),
		cmocka_unit_test(witness_proves),
		cmocka_unit_test(witness_does_not),
		cmocka_unit_test(witness_knows_more),
		cmocka_unit_test(witness_before),
		cmocka_unit_test(witness_recorded),
		cmocka_unit_test(find),
	};

	return RUN(tests);
}
