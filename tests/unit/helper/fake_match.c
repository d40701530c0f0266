// SPDX-License-Identifier: GPL-2.0-only
/* Fakes of the origin, the cache device and the witness, for match_unit.h. */
#include "match_unit.h"

#include <stdlib.h>

#include "block/device_sysfs.h"
#include "block/dm.h"
#include "lib/error.h"
#include "ondisk/fingerprint_ends.h"
#include "ondisk/fingerprint_fs.h"
#include "open/origin_record.h"
#include "open/witness.h"

struct fake_match fake_match;

int fingerprint_ends(const struct device *dev, uint64_t size,
		     unsigned char *digest)
{
	(void)dev;
	assert_true(size <= fake_match.sb.origin_size);
	memset(digest, fake_match.content, FINGERPRINT_SIZE);
	fake_match.looks++;
	return 0;
}

int fsprint_take(const struct device *dev, uint64_t size,
		 struct fsprint_result *result)
{
	(void)dev;
	assert_true(size <= fake_match.sb.origin_size);
	memset(result, 0, sizeof(*result));
	memset(result->digest, fake_match.fs_content, FSPRINT_SIZE);
	memset(result->former, fake_match.fs_content, FSPRINT_SIZE);
	result->type = result->plain_type = fake_match.fs_type;
	if (fake_match.fs_type == NEARCACHE_FP_VOLUMES)
		result->plain_type = fake_match.fs_plain_type;
	memset(result->plain,
	       fake_match.fs_type == NEARCACHE_FP_VOLUMES ? fake_match.fs_plain : fake_match.fs_content,
	       FSPRINT_SIZE);
	return 0;
}

int sample_compare(struct content_sample *sample)
{
	fake_match.samples++;
	sample->compared = sample->limit;
	sample->differs = fake_match.sample_finds;
	sample->at = 4096;
	fake_match.sampled = *sample;
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
	fake_match.recorded = *change;
	fake_match.records++;
	return 0;
}

int identity_find(const char *id, dev_t except, dev_t *number)
{
	(void)id;
	(void)except;
	*number = 7;
	return fake_match.found;
}

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	(void)role;
	dev->number = number;
	return 0;
}

int device_open(struct device *dev, const char *path, const char *role)
{
	(void)role;
	assert_string_equal(path, (char *)fake_match.sb.witness);
	dev->fd = 9;
	return fake_match.before ? 0 : (fail)(CODE_DEVICE, "no such device");
}

int witness_look(const struct witness *witness, const u8 *uuid,
		 struct nearcache_witness *record, bool *is_there)
{
	assert_int_equal(witness->dev.fd, 9);
	assert_memory_equal(uuid, fake_match.sb.uuid, sizeof(fake_match.sb.uuid));
	*record = *fake_match.before;
	*is_there = nc_witness_check(fake_match.before, uuid);
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
	assert_in_range(offset + bytes, 8192, 4096 + sizeof(fake_match.intent));
	memcpy(buffer, (char *)fake_match.intent + offset - 4096, bytes);
	return offset == 4096 * (1 + fake_match.unreadable) ?
	       (fail)(CODE_DEVICE, "cannot read") : 0;
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

/* Return an origin and a cache that match. */
struct origin_match fitting(void)
{
	struct origin_match match = {
		.origin = { .path = "/dev/o", .size = BYTES, .lbs = 512,
			    .id = "wwid:a" },
		.super.best = &fake_match.sb,
		.size = BYTES,
		.advice = "ADVICE",
	};

	memset(&fake_match.sb, 0, sizeof(fake_match.sb));
	fake_match.sb.origin_size = BYTES;
	fake_match.sb.origin_lbs = 512;
	fake_match.sb.origin_fingerprint_type = NEARCACHE_FP_ENDS;
	strcpy((char *)fake_match.sb.origin_id, "wwid:a");
	strcpy((char *)fake_match.sb.dataset_version, "v1");
	fake_match.content = 0;
	fake_match.looks = fake_match.records = 0;
	fake_match.fs_type = NEARCACHE_FP_NONE;
	fake_match.fs_content = fake_match.fs_plain = 0;
	fake_match.fs_plain_type = NEARCACHE_FP_NONE;
	fake_match.samples = 0;
	fake_match.sample_finds = false;
	memset(&fake_gaps, 0, sizeof(fake_gaps));
	fail_reset();
	return match;
}

/* Return an origin and a cache with the differences @bits. */
struct origin_match differing(unsigned int bits)
{
	struct origin_match match = fitting();

	if (bits & MATCH_SIZE)
		fake_match.sb.origin_size = 2 * BYTES;
	if (bits & MATCH_ID)
		strcpy((char *)fake_match.sb.origin_id, "wwid:b");
	if (bits & MATCH_CONTENT)
		fake_match.content = 1;
	match.version = bits & MATCH_VERSION ? "v2" : NULL;
	return match;
}
