// SPDX-License-Identifier: GPL-2.0-only
#include "open/origin_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "open/dataset.h"
#include "block/dm.h"
#include "lib/error.h"
#include "ondisk/fingerprint.h"
#include "ondisk/fingerprint_fs.h"
#include "open/uncached_writes.h"
#include "block/device_id.h"
#include "meta/recover.h"
#include "open/witness.h"

/**
 * pair_check_free() - demand a cache device that nobody uses
 * @cache: open cache device
 * @self: name of a nearcache device that may, NULL: none
 *
 * Return: 0 or the exit code.
 */
int pair_check_free(const struct device *cache, const char *self)
{
	struct dm_device user;
	bool busy, found;

	if (device_test_claim(cache, &busy))
		return fail_code();
	if (!busy)
		return 0;
	if (!dm_find_cache(cache->number, &user, &found) && found) {
		if (!self || strcmp(self, user.name))
			fail(CODE_BUSY,
			     "cache device '%s' is in use by device '%s'",
			     cache->path, user.name);
		dm_device_free(&user);
		return fail_code();
	}
	return fail(CODE_BUSY,
		    "cache device '%s' is in use: release it first (lsblk shows what is on top of it)",
		    cache->path);
}

/**
 * pair_was_writing() - was the cache cut off in a writing mode, with a witness?
 * @pair: the devices
 */
bool pair_was_writing(const struct pair *pair)
{
	return le32_to_cpu(pair->super.best->state) == NEARCACHE_STATE_WRITING;
}

/**
 * pair_is_cold() - was the cache not stopped cleanly, in a writing mode?
 * @pair: the devices
 *
 * Of one that has a witness: unless pair_hear() found that this proves what it holds; and
 * if it found that the cache device is an older copy, however that was stopped.
 *
 * Return: whether nothing that it holds will be used.
 */
bool pair_is_cold(const struct pair *pair)
{
	if (pair->older)
		return true;
	return pair_was_writing(pair) ? !pair->proven :
		le32_to_cpu(pair->super.best->state) == NEARCACHE_STATE_ACTIVE;
}

static u64 count_regions(const struct nearcache_intent *area,
			 const struct nc_geometry *geo)
{
	u64 region, end = (geo->origin_size - 1) / geo->intent_region + 1;
	u64 count = 0;

	for (region = 0; region < end; region++) {
		u32 bit = region % NEARCACHE_INTENT_BITS;

		count += area[region / NEARCACHE_INTENT_BITS].bits[bit / 8] >>
			 bit % 8 & 1;
	}
	return count;
}

/* As the kernel does: a page that cannot be read says that all was being written. */
static struct nearcache_intent *read_intent(const struct device *cache, u64 at)
{
	char *area = device_buffer(NEARCACHE_INTENT_AREA_SIZE);
	u64 page;

	for (page = 0; area && page < NEARCACHE_INTENT_AREA_SIZE;
	     page += NEARCACHE_PAGE_SIZE)
		if (device_read(cache, area + page, NEARCACHE_PAGE_SIZE,
				at + page)) {
			memset(area + page, 0, NEARCACHE_PAGE_SIZE);
			fail_reset();
		}
	return (void *)area;
}

/* Does a record know of what the cache device does not?  That the cache has another
 * witness is news to a copy that names this one; but for one that has a number that is
 * higher, which it was given to come back (see pair_come_back()).
 */
static bool knows_more(const struct nearcache_super *sb,
		       const struct nearcache_witness *record, bool named)
{
	u64 known = le64_to_cpu(record->session);
	u64 has = le64_to_cpu(sb->session);

	if (witness_is_current(record))
		return nc_recover_older(sb, record);
	return named ? known >= has : known > has;
}

/**
 * pair_hear() - take in what the witness says of a cache
 * @pair: the devices; the superblock is read; @pair->proven and @pair->older are the
 *	result
 * @record: sound record of the cache, NULL: there is none
 * @named: it is on the witness that the superblock names
 *
 * It proves nothing when the origin's ends were being written: nobody knows then whether
 * others wrote to it, too.
 */
void pair_hear(struct pair *pair, const struct nearcache_witness *record,
	       bool named)
{
	const struct super *super = &pair->super;
	struct nearcache_intent *area;

	pair->proven = false;
	pair->older = record && knows_more(super->best, record, named);
	pair->session = pair->older ? le64_to_cpu(record->session) : 0;
	if (!pair_was_writing(pair) || !nc_recover_stayed(super->best, record))
		return;
	area = read_intent(&pair->cache, super->geo.intent_offset);
	if (!area)
		return;
	nc_recover_intent(area, super->best, record);
	pair->proven = !nc_recover_ends(area);
	pair->regions = count_regions(area, &super->geo);
	free(area);
}

/**
 * pair_take_session() - the superblock is to have that number at least
 * @pair: the devices
 * @session: number
 */
void pair_take_session(struct pair *pair, u64 session)
{
	if (session > pair->session)
		pair->session = session;
}

/**
 * pair_come_back() - the cache is to have a record again where it had one
 * @pair: the devices, after pair_hear()
 * @record: what it says since
 *
 * The superblock is written first, with a number that no copy of it has: the record that
 * follows tells those from it.
 */
void pair_come_back(struct pair *pair, const struct nearcache_witness *record)
{
	u64 known = le64_to_cpu(record->session);
	u64 has = le64_to_cpu(pair->super.best->session);

	pair_take_session(pair, (known > has ? known : has) + 1);
}

/**
 * pair_hear_recorded() - take in what the witness says that the superblock names, and that is
 *	not to be the witness any more
 * @pair: the devices; the superblock is read; @pair->older is the result
 *
 * It may know of what the one to come does not; also one that can only be read.
 *
 * Return: whether it knows of a later session than the cache device.
 */
bool pair_hear_recorded(struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	struct witness before = WITNESS_CLOSED;
	struct nearcache_witness record;
	bool found, later;

	later = witness_named((const char *)sb->witness) &&
		!device_open(&before.dev, (const char *)sb->witness,
			     "witness device") &&
		!witness_look(&before, sb->uuid, &record, &found) && found &&
		knows_more(sb, &record, true);
	if (later) {
		pair->older = true;
		pair_take_session(pair, le64_to_cpu(record.session));
	}
	witness_close(&before);
	fail_reset();
	return later;
}

/**
 * pair_find_origin() - open the origin that the superblock names
 * @pair: the devices; the cache device is open, its superblock read
 *
 * Return: 0 or the exit code.
 */
int pair_find_origin(struct pair *pair)
{
	const char *id = (const char *)pair->super.best->origin_id;
	dev_t number;
	int found;

	if (!*id)
		return fail(CODE_DEVICE,
			    "the origin of '%s' has no stable identity: name it with --origin DEV",
			    pair->cache.path);
	found = identity_find(id, pair->cache.number, &number);
	if (!found)
		return fail(CODE_DEVICE,
			    "no device here is the origin '%s': connect it or name it with --origin DEV",
			    id);
	if (found > 1)
		return fail(CODE_DEVICE,
			    "%d devices are the origin '%s': name one with --origin DEV",
			    found, id);
	return device_open_number(&pair->origin, number, "origin");
}

/* The ends are as they were. */
static int compare_file_system(struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	unsigned char digest[FSPRINT_SIZE];
	enum nearcache_fingerprint type;

	/* Our own writes are not in it. */
	if (pair_was_writing(pair) ||
	    le32_to_cpu(sb->file_system_type) <= NEARCACHE_FP_ENDS ||
	    le32_to_cpu(sb->file_system_type) > NEARCACHE_FP_EROFS)
		return 0;
	if (fsprint_take(&pair->origin, le64_to_cpu(sb->origin_size), &type,
			 digest))
		return fail_code();
	if (type == le32_to_cpu(sb->file_system_type) &&
	    !memcmp(digest, sb->file_system_fingerprint, sizeof(digest)))
		return 0;
	pair->differs |= PAIR_CONTENT;
	pair->file_system = true;
	return 0;
}

/*
 * An origin that grew keeps its old content, up to its old end.  What was not
 * stopped cleanly may have written to the origin since: the fingerprint is older,
 * and of what is cached nothing is used.
 */
static int compare_content(struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	u64 size = le64_to_cpu(sb->origin_size);
	unsigned char digest[FINGERPRINT_SIZE];

	if (pair_is_cold(pair) || pair->origin.size < size ||
	    le32_to_cpu(sb->origin_fingerprint_type) != NEARCACHE_FP_ENDS)
		return 0;
	if (fingerprint_ends(&pair->origin, size, digest))
		return fail_code();
	if (!memcmp(digest, sb->origin_fingerprint, sizeof(digest)))
		return compare_file_system(pair);
	pair->differs |= PAIR_CONTENT;
	return 0;
}

/*
 * Another version says by itself that the data was replaced, and after a gap that it was
 * written to is no surprise.
 */
static bool drops_anyway(const struct pair *pair)
{
	return (pair->differs & (PAIR_VERSION | PAIR_GAP)) &&
	       pair->on_change == ON_CHANGE_DEFAULT;
}

/**
 * pair_compare() - see in what the origin is not as the cache recorded it
 * @pair: the devices; @pair->differs is the result
 *
 * The content as far as the fingerprint tells, and if anything depends on it.
 *
 * Return: 0 or the exit code.
 */
int pair_compare(struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	u64 before = le64_to_cpu(sb->origin_size);
	const char *id = (const char *)sb->origin_id;

	pair->differs = 0;
	pair->file_system = false;
	if (pair->size != before && !(pair->size > before && pair->may_grow))
		pair->differs |= PAIR_SIZE;
	if (*id && strcmp(pair->origin.id, id))
		pair->differs |= PAIR_ID;
	if (dataset_is_new(sb, pair->version))
		pair->differs |= PAIR_VERSION;
	if (pair->gap)
		pair->differs |= PAIR_GAP;
	return drops_anyway(pair) ? 0 : compare_content(pair);
}

/**
 * pair_content() - what tells that the content was changed, for messages
 * @pair: compared
 *
 * Return: the words.
 */
const char *pair_content(const struct pair *pair)
{
	return pair->file_system ?
	       "its file system was written to, though its first and last 64 KiB are the same" :
	       "its first or last 64 KiB differ";
}

static void refuse_size(const struct pair *pair)
{
	u64 before = le64_to_cpu(pair->super.best->origin_size);

	fail(CODE_DEVICE,
	     "origin '%s' has %llu bytes, the cache was created for one of %llu bytes%s",
	     pair->origin.path, (unsigned long long)pair->size,
	     (unsigned long long)before,
	     pair->size > before ? ": if it grew, open it with --grow" : "");
}

/**
 * pair_refuse() - tell in what the origin is not as recorded, as an error
 * @pair: compared
 *
 * Return: the exit code.
 */
int pair_refuse(const struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	const struct device *origin = &pair->origin;

	if (pair->differs & PAIR_ID)
		fail(CODE_DEVICE,
		     "origin '%s' is '%s', the cache was created for '%s'",
		     origin->path, origin->id, (const char *)sb->origin_id);
	if (pair->differs & PAIR_SIZE)
		refuse_size(pair);
	if (pair->differs & PAIR_VERSION)
		fail(CODE_DEVICE,
		     "--dataset-version '%s': what is cached is of version '%s'",
		     pair->version, (const char *)sb->dataset_version);
	if (pair->differs & PAIR_CONTENT)
		fail(CODE_DEVICE,
		     "origin '%s' was changed since its cache was closed (%s): the cached data is stale",
		     origin->path, pair_content(pair));
	if (pair->differs & PAIR_GAP)
		fail(CODE_DEVICE,
		     "origin '%s' may have been written to while a device passed through to it, without its cache: the cached data is stale",
		     origin->path);
	return fail_add("%s", pair->advice);
}

/**
 * pair_check_origin() - demand the origin that the cache was made for
 * @pair: the devices; @pair->drop and @pair->trust are the result
 *
 * By identity, logical block size, size and, as far as it counts, content; or as
 * @pair->on_change says.
 *
 * Return: 0 or the exit code.
 */
int pair_check_origin(struct pair *pair)
{
	u32 lbs = le32_to_cpu(pair->super.best->origin_lbs);

	if (pair_compare(pair))
		return fail_code();
	if (drops_anyway(pair) && !(pair->differs & PAIR_ID))
		pair->drop = true;
	else if (pair->on_change == ON_CHANGE_DROP ||
		 (pair->on_change == ON_CHANGE_TRUST && pair->gap))
		pair->drop = pair->differs;
	else if (pair->on_change == ON_CHANGE_TRUST)
		pair->trust = pair->differs;
	else if (pair->differs)
		return pair_refuse(pair);
	if (pair->origin.lbs != lbs)
		return fail(CODE_DEVICE,
			    "origin '%s' has logical blocks of %u bytes, at create they had %u bytes: make the cache anew",
			    pair->origin.path, pair->origin.lbs, lbs);
	return 0;
}

/**
 * pair_ask_gaps() - see whether the origin could be written to without the cache
 * @pair: the devices; for pair_check_origin(), which will not wonder then
 *
 * Return: 0 or the exit code.
 */
int pair_ask_gaps(struct pair *pair)
{
	return gaps_concern(pair->super.best, pair->origin.id, &pair->gap);
}

/**
 * pair_check_gaps() - let nothing be served that is from before a gap
 * @pair: checked; @pair->drop and @pair->trust are the result
 *
 * Nobody can vouch for what is cached then.  Under lock_all(): there may be one by now
 * that pair_ask_gaps() did not see.
 *
 * Return: 0 or the exit code.
 */
int pair_check_gaps(struct pair *pair)
{
	if (pair_ask_gaps(pair))
		return fail_code();
	if (!pair->gap)
		return 0;
	pair->differs |= PAIR_GAP;
	if (pair->on_change == ON_CHANGE_REFUSE)
		return pair_refuse(pair);
	pair->drop = true;
	pair->trust = false;
	return 0;
}

/* It is empty: what misses is that this is known. */
static void end_gap(const struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;

	if (!gaps_emptied(sb, le64_to_cpu(sb->table_epoch) + 1))
		return;
	warn("%s; the next open empties the cache once more", fail_message());
	fail_reset();
}

/**
 * pair_record() - write what pair_check_origin() decided to the cache device
 * @pair: checked; nobody uses the cache device, which is closed afterwards
 * @held: a device-mapper device that has given it up holds it
 *
 * Return: 0 or the exit code.
 */
int pair_record(struct pair *pair, bool held)
{
	struct dataset_change change = {
		.version = pair->version,
		.witness = pair->witness,
		.witness_now = pair->witness_now,
		/* What may be older than its witness stays so until it is empty. */
		.session = pair->drop || !pair->older ? pair->session : 0,
		.size = pair->size,
		.drop = pair->drop,
		.held = held,
	};

	if (dataset_record(&pair->cache, &pair->super, &pair->origin, &change))
		return fail_code();
	if (pair->drop && pair->differs & PAIR_GAP)
		end_gap(pair);
	return 0;
}

/**
 * pair_can_refresh() - is there no fingerprint of a file system?
 * @pair: the devices
 *
 * The kernel, which renews that of the ends after it wrote, does not know file
 * systems.
 *
 * Return: whether pair_refresh() has anything to do.
 */
bool pair_can_refresh(const struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;

	return !pair_is_cold(pair) && !pair_was_writing(pair) &&
	       le32_to_cpu(sb->origin_fingerprint_type) == NEARCACHE_FP_ENDS &&
	       le32_to_cpu(sb->file_system_type) == NEARCACHE_FP_NONE;
}

/**
 * pair_refresh() - take the fingerprint of a file system that has none
 * @pair: compared; nobody uses the cache device, which may be closed afterwards
 *
 * What fails is no error: the ends are as good as they were.
 */
void pair_refresh(struct pair *pair)
{
	const struct nearcache_super *sb = pair->super.best;
	unsigned char digest[FSPRINT_SIZE];
	enum nearcache_fingerprint type;

	if (!pair_can_refresh(pair) || pair->differs)
		return;
	if (fsprint_take(&pair->origin, le64_to_cpu(sb->origin_size), &type,
			 digest) ||
	    (type != NEARCACHE_FP_NONE && pair_record(pair, false)))
		fail_reset();
}

static void add(char *text, const char *what, const char *value)
{
	size_t used = strlen(text);
	const char *quote = value ? "'" : "";

	snprintf(text + used, PAIR_TEXT - used, "%s%s%s%s%s",
		 used ? ", " : "", what, quote, value ? value : "", quote);
}

/**
 * pair_changed() - in what the origin is not as recorded, for programs
 * @pair: compared
 * @text: PAIR_TEXT bytes to fill
 *
 * Return: @text: "size, content", NULL when it is.
 */
const char *pair_changed(const struct pair *pair, char *text)
{
	*text = '\0';
	if (pair->differs & PAIR_ID)
		add(text, "identity", NULL);
	if (pair->differs & PAIR_SIZE)
		add(text, "size", NULL);
	if (pair->differs & PAIR_VERSION)
		add(text, "version", NULL);
	if (pair->differs & PAIR_CONTENT)
		add(text, "content", NULL);
	if (pair->differs & PAIR_GAP)
		add(text, "gap", NULL);
	return *text ? text : NULL;
}

/**
 * pair_before() - what was recorded of the origin and is not so, for people
 * @pair: compared
 * @text: PAIR_TEXT bytes to fill
 *
 * Return: @text.
 */
const char *pair_before(const struct pair *pair, char *text)
{
	const struct nearcache_super *sb = pair->super.best;
	char size[64];

	*text = '\0';
	if (pair->differs & PAIR_ID)
		add(text, "the identity was ", (const char *)sb->origin_id);
	if (pair->differs & PAIR_SIZE) {
		snprintf(size, sizeof(size), "the size was %llu bytes",
			 (unsigned long long)le64_to_cpu(sb->origin_size));
		add(text, size, NULL);
	}
	if (pair->differs & PAIR_VERSION)
		add(text, "the dataset version was ",
		    (const char *)sb->dataset_version);
	if (pair->differs & PAIR_CONTENT)
		add(text, "the origin's content was changed", NULL);
	if (pair->differs & PAIR_GAP)
		add(text, "the origin could be written to without its cache",
		    NULL);
	return text;
}
