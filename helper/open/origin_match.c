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
 * match_check_free() - demand a cache device that nobody uses
 * @cache: open cache device
 * @self: name of a nearcache device that may, NULL: none
 *
 * Return: 0 or the exit code.
 */
int match_check_free(const struct device *cache, const char *self)
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
 * match_was_writing() - was the cache cut off in a writing mode, with a witness?
 * @match: the devices
 */
bool match_was_writing(const struct origin_match *match)
{
	return le32_to_cpu(match->super.best->state) == NEARCACHE_STATE_WRITING;
}

/**
 * match_is_cold() - was the cache not stopped cleanly, in a writing mode?
 * @match: the devices
 *
 * Of one that has a witness: unless match_read_witness() found that this proves what it holds; and
 * if it found that the cache device is an older copy, however that was stopped.
 *
 * Return: whether nothing that it holds will be used.
 */
bool match_is_cold(const struct origin_match *match)
{
	if (match->older)
		return true;
	return match_was_writing(match) ? !match->proven :
		le32_to_cpu(match->super.best->state) == NEARCACHE_STATE_ACTIVE;
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
 * higher, which it was given to come back (see match_come_back()).
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
 * match_read_witness() - take in what the witness says of a cache
 * @match: the devices; the superblock is read; @match->proven and @match->older are the
 *	result
 * @record: sound record of the cache, NULL: there is none
 * @named: it is on the witness that the superblock names
 *
 * It proves nothing when the origin's ends were being written: nobody knows then whether
 * others wrote to it, too.
 */
void match_read_witness(struct origin_match *match, const struct nearcache_witness *record,
	       bool named)
{
	const struct super *super = &match->super;
	struct nearcache_intent *area;

	match->proven = false;
	match->older = record && knows_more(super->best, record, named);
	match->session = match->older ? le64_to_cpu(record->session) : 0;
	if (!match_was_writing(match) || !nc_recover_stayed(super->best, record))
		return;
	area = read_intent(&match->cache, super->geo.intent_offset);
	if (!area)
		return;
	nc_recover_intent(area, super->best, record);
	match->proven = !nc_recover_ends(area);
	match->regions = count_regions(area, &super->geo);
	free(area);
}

/**
 * match_take_session() - the superblock is to have that number at least
 * @match: the devices
 * @session: number
 */
void match_take_session(struct origin_match *match, u64 session)
{
	if (session > match->session)
		match->session = session;
}

/**
 * match_come_back() - the cache is to have a record again where it had one
 * @match: the devices, after match_read_witness()
 * @record: what it says since
 *
 * The superblock is written first, with a number that no copy of it has: the record that
 * follows tells those from it.
 */
void match_come_back(struct origin_match *match, const struct nearcache_witness *record)
{
	u64 known = le64_to_cpu(record->session);
	u64 has = le64_to_cpu(match->super.best->session);

	match_take_session(match, (known > has ? known : has) + 1);
}

/**
 * match_read_recorded() - take in what the witness says that the superblock names, and that is
 *	not to be the witness any more
 * @match: the devices; the superblock is read; @match->older is the result
 *
 * It may know of what the one to come does not; also one that can only be read.
 *
 * Return: whether it knows of a later session than the cache device.
 */
bool match_read_recorded(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	struct witness before = WITNESS_CLOSED;
	struct nearcache_witness record;
	bool found, later;

	later = witness_named((const char *)sb->witness) &&
		!device_open(&before.dev, (const char *)sb->witness,
			     "witness device") &&
		!witness_look(&before, sb->uuid, &record, &found) && found &&
		knows_more(sb, &record, true);
	if (later) {
		match->older = true;
		match_take_session(match, le64_to_cpu(record.session));
	}
	witness_close(&before);
	fail_reset();
	return later;
}

/**
 * match_find_origin() - open the origin that the superblock names
 * @match: the devices; the cache device is open, its superblock read
 *
 * Return: 0 or the exit code.
 */
int match_find_origin(struct origin_match *match)
{
	const char *id = (const char *)match->super.best->origin_id;
	dev_t number;
	int found;

	if (!*id)
		return fail(CODE_DEVICE,
			    "the origin of '%s' has no stable identity: name it with --origin DEV",
			    match->cache.path);
	found = identity_find(id, match->cache.number, &number);
	if (!found)
		return fail(CODE_DEVICE,
			    "no device here is the origin '%s': connect it or name it with --origin DEV",
			    id);
	if (found > 1)
		return fail(CODE_DEVICE,
			    "%d devices are the origin '%s': name one with --origin DEV",
			    found, id);
	return device_open_number(&match->origin, number, "origin");
}

/* The ends are as they were. */
static int compare_file_system(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	unsigned char digest[FSPRINT_SIZE];
	enum nearcache_fingerprint type;

	/* Our own writes are not in it. */
	if (match_was_writing(match) ||
	    le32_to_cpu(sb->file_system_type) <= NEARCACHE_FP_ENDS ||
	    le32_to_cpu(sb->file_system_type) > NEARCACHE_FP_EROFS)
		return 0;
	if (fsprint_take(&match->origin, le64_to_cpu(sb->origin_size), &type,
			 digest))
		return fail_code();
	if (type == le32_to_cpu(sb->file_system_type) &&
	    !memcmp(digest, sb->file_system_fingerprint, sizeof(digest)))
		return 0;
	match->differs |= MATCH_CONTENT;
	match->file_system = true;
	return 0;
}

/*
 * An origin that grew keeps its old content, up to its old end.  What was not
 * stopped cleanly may have written to the origin since: the fingerprint is older,
 * and of what is cached nothing is used.
 */
static int compare_content(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	u64 size = le64_to_cpu(sb->origin_size);
	unsigned char digest[FINGERPRINT_SIZE];

	if (match_is_cold(match) || match->origin.size < size ||
	    le32_to_cpu(sb->origin_fingerprint_type) != NEARCACHE_FP_ENDS)
		return 0;
	if (fingerprint_ends(&match->origin, size, digest))
		return fail_code();
	if (!memcmp(digest, sb->origin_fingerprint, sizeof(digest)))
		return compare_file_system(match);
	match->differs |= MATCH_CONTENT;
	return 0;
}

/*
 * Another version says by itself that the data was replaced, and after a gap that it was
 * written to is no surprise.
 */
static bool drops_anyway(const struct origin_match *match)
{
	return (match->differs & (MATCH_VERSION | MATCH_GAP)) &&
	       match->on_change == ON_CHANGE_DEFAULT;
}

/**
 * match_compare() - see in what the origin is not as the cache recorded it
 * @match: the devices; @match->differs is the result
 *
 * The content as far as the fingerprint tells, and if anything depends on it.
 *
 * Return: 0 or the exit code.
 */
int match_compare(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	u64 before = le64_to_cpu(sb->origin_size);
	const char *id = (const char *)sb->origin_id;

	match->differs = 0;
	match->file_system = false;
	if (match->size != before && !(match->size > before && match->may_grow))
		match->differs |= MATCH_SIZE;
	if (*id && strcmp(match->origin.id, id))
		match->differs |= MATCH_ID;
	if (dataset_is_new(sb, match->version))
		match->differs |= MATCH_VERSION;
	if (match->gap)
		match->differs |= MATCH_GAP;
	return drops_anyway(match) ? 0 : compare_content(match);
}

/**
 * match_content() - what tells that the content was changed, for messages
 * @match: compared
 *
 * Return: the words.
 */
const char *match_content(const struct origin_match *match)
{
	return match->file_system ?
	       "its file system was written to, though its first and last 64 KiB are the same" :
	       "its first or last 64 KiB differ";
}

static void refuse_size(const struct origin_match *match)
{
	u64 before = le64_to_cpu(match->super.best->origin_size);

	fail(CODE_DEVICE,
	     "origin '%s' has %llu bytes, the cache was created for one of %llu bytes%s",
	     match->origin.path, (unsigned long long)match->size,
	     (unsigned long long)before,
	     match->size > before ? ": if it grew, open it with --grow" : "");
}

/**
 * match_refuse() - tell in what the origin is not as recorded, as an error
 * @match: compared
 *
 * Return: the exit code.
 */
int match_refuse(const struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	const struct device *origin = &match->origin;

	if (match->differs & MATCH_ID)
		fail(CODE_DEVICE,
		     "origin '%s' is '%s', the cache was created for '%s'",
		     origin->path, origin->id, (const char *)sb->origin_id);
	if (match->differs & MATCH_SIZE)
		refuse_size(match);
	if (match->differs & MATCH_VERSION)
		fail(CODE_DEVICE,
		     "--dataset-version '%s': what is cached is of version '%s'",
		     match->version, (const char *)sb->dataset_version);
	if (match->differs & MATCH_CONTENT)
		fail(CODE_DEVICE,
		     "origin '%s' was changed since its cache was closed (%s): the cached data is stale",
		     origin->path, match_content(match));
	if (match->differs & MATCH_GAP)
		fail(CODE_DEVICE,
		     "origin '%s' may have been written to while a device passed through to it, without its cache: the cached data is stale",
		     origin->path);
	return fail_add("%s", match->advice);
}

/**
 * match_check_origin() - demand the origin that the cache was made for
 * @match: the devices; @match->drop and @match->trust are the result
 *
 * By identity, logical block size, size and, as far as it counts, content; or as
 * @match->on_change says.
 *
 * Return: 0 or the exit code.
 */
int match_check_origin(struct origin_match *match)
{
	u32 lbs = le32_to_cpu(match->super.best->origin_lbs);

	if (match_compare(match))
		return fail_code();
	if (drops_anyway(match) && !(match->differs & MATCH_ID))
		match->drop = true;
	else if (match->on_change == ON_CHANGE_DROP ||
		 (match->on_change == ON_CHANGE_TRUST && match->gap))
		match->drop = match->differs;
	else if (match->on_change == ON_CHANGE_TRUST)
		match->trust = match->differs;
	else if (match->differs)
		return match_refuse(match);
	if (match->origin.lbs != lbs)
		return fail(CODE_DEVICE,
			    "origin '%s' has logical blocks of %u bytes, at create they had %u bytes: make the cache anew",
			    match->origin.path, match->origin.lbs, lbs);
	return 0;
}

/**
 * match_ask_gaps() - see whether the origin could be written to without the cache
 * @match: the devices; for match_check_origin(), which will not wonder then
 *
 * Return: 0 or the exit code.
 */
int match_ask_gaps(struct origin_match *match)
{
	return gaps_concern(match->super.best, match->origin.id, &match->gap);
}

/**
 * match_check_gaps() - let nothing be served that is from before a gap
 * @match: checked; @match->drop and @match->trust are the result
 *
 * Nobody can vouch for what is cached then.  Under lock_all(): there may be one by now
 * that match_ask_gaps() did not see.
 *
 * Return: 0 or the exit code.
 */
int match_check_gaps(struct origin_match *match)
{
	if (match_ask_gaps(match))
		return fail_code();
	if (!match->gap)
		return 0;
	match->differs |= MATCH_GAP;
	if (match->on_change == ON_CHANGE_REFUSE)
		return match_refuse(match);
	match->drop = true;
	match->trust = false;
	return 0;
}

/* It is empty: what misses is that this is known. */
static void end_gap(const struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;

	if (!gaps_emptied(sb, le64_to_cpu(sb->table_epoch) + 1))
		return;
	warn("%s; the next open empties the cache once more", fail_message());
	fail_reset();
}

/**
 * match_record() - write what match_check_origin() decided to the cache device
 * @match: checked; nobody uses the cache device, which is closed afterwards
 * @held: a device-mapper device that has given it up holds it
 *
 * Return: 0 or the exit code.
 */
int match_record(struct origin_match *match, bool held)
{
	struct dataset_change change = {
		.version = match->version,
		.witness = match->witness,
		.witness_now = match->witness_now,
		/* What may be older than its witness stays so until it is empty. */
		.session = match->drop || !match->older ? match->session : 0,
		.size = match->size,
		.drop = match->drop,
		.held = held,
	};

	if (dataset_record(&match->cache, &match->super, &match->origin, &change))
		return fail_code();
	if (match->drop && match->differs & MATCH_GAP)
		end_gap(match);
	return 0;
}

/**
 * match_can_refresh() - is there no fingerprint of a file system?
 * @match: the devices
 *
 * The kernel, which renews that of the ends after it wrote, does not know file
 * systems.
 *
 * Return: whether match_refresh() has anything to do.
 */
bool match_can_refresh(const struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;

	return !match_is_cold(match) && !match_was_writing(match) &&
	       le32_to_cpu(sb->origin_fingerprint_type) == NEARCACHE_FP_ENDS &&
	       le32_to_cpu(sb->file_system_type) == NEARCACHE_FP_NONE;
}

/**
 * match_refresh() - take the fingerprint of a file system that has none
 * @match: compared; nobody uses the cache device, which may be closed afterwards
 *
 * What fails is no error: the ends are as good as they were.
 */
void match_refresh(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	unsigned char digest[FSPRINT_SIZE];
	enum nearcache_fingerprint type;

	if (!match_can_refresh(match) || match->differs)
		return;
	if (fsprint_take(&match->origin, le64_to_cpu(sb->origin_size), &type,
			 digest) ||
	    (type != NEARCACHE_FP_NONE && match_record(match, false)))
		fail_reset();
}

static void add_reason(char *text, const char *what, const char *value)
{
	size_t used = strlen(text);
	const char *quote = value ? "'" : "";

	snprintf(text + used, MATCH_TEXT - used, "%s%s%s%s%s",
		 used ? ", " : "", what, quote, value ? value : "", quote);
}

/**
 * match_changed() - in what the origin is not as recorded, for programs
 * @match: compared
 * @text: MATCH_TEXT bytes to fill
 *
 * Return: @text: "size, content", NULL when it is.
 */
const char *match_changed(const struct origin_match *match, char *text)
{
	*text = '\0';
	if (match->differs & MATCH_ID)
		add_reason(text, "identity", NULL);
	if (match->differs & MATCH_SIZE)
		add_reason(text, "size", NULL);
	if (match->differs & MATCH_VERSION)
		add_reason(text, "version", NULL);
	if (match->differs & MATCH_CONTENT)
		add_reason(text, "content", NULL);
	if (match->differs & MATCH_GAP)
		add_reason(text, "gap", NULL);
	return *text ? text : NULL;
}

/**
 * match_before() - what was recorded of the origin and is not so, for people
 * @match: compared
 * @text: MATCH_TEXT bytes to fill
 *
 * Return: @text.
 */
const char *match_before(const struct origin_match *match, char *text)
{
	const struct nearcache_super *sb = match->super.best;
	char size[64];

	*text = '\0';
	if (match->differs & MATCH_ID)
		add_reason(text, "the identity was ", (const char *)sb->origin_id);
	if (match->differs & MATCH_SIZE) {
		snprintf(size, sizeof(size), "the size was %llu bytes",
			 (unsigned long long)le64_to_cpu(sb->origin_size));
		add_reason(text, size, NULL);
	}
	if (match->differs & MATCH_VERSION)
		add_reason(text, "the dataset version was ",
			   (const char *)sb->dataset_version);
	if (match->differs & MATCH_CONTENT)
		add_reason(text, "the origin's content was changed", NULL);
	if (match->differs & MATCH_GAP)
		add_reason(text, "the origin could be written to without its cache",
			   NULL);
	return text;
}
