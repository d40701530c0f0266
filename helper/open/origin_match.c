// SPDX-License-Identifier: GPL-2.0-only
/* Decides whether the cached data is still that of the origin. */
#include "open/origin_match.h"

#include <stdio.h>
#include <string.h>

#include "open/origin_record.h"
#include "block/dm.h"
#include "lib/error.h"
#include "ondisk/fingerprint_ends.h"
#include "ondisk/fingerprint_fs.h"
#include "open/content_sample.h"
#include "open/uncached_writes.h"
#include "block/device_sysfs.h"
#include "open/witness_proof.h"

/* Fail with CODE_BUSY if anything but the nearcache device @self (NULL: none) uses @cache. */
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
		    "cache device '%s' is in use: close it first (lsblk shows the devices on top of it)",
		    cache->path);
}

/* Find the origin by the device id in the superblock, and open it. */
int match_find_origin(struct origin_match *match)
{
	const char *id = (const char *)match->super.best->origin_id;
	dev_t number;
	int found;

	if (!*id)
		return fail(CODE_DEVICE,
			    "the origin of '%s' has no device id: name it with --origin DEV",
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

/* Set @match->content: what is on the part of the origin that the superblock describes. */
int match_look(struct origin_match *match)
{
	u64 size = le64_to_cpu(match->super.best->origin_size);

	if (match->looked)
		return 0;
	if (size > match->origin.size)
		size = match->origin.size;
	if (fsprint_take(&match->origin, size, &match->content))
		return fail_code();
	match->looked = true;
	return 0;
}

/* True if this version can compare the superblock's fingerprint of the content, type 256 too. */
static bool has_file_system(const struct origin_match *match)
{
	u32 type = le32_to_cpu(match->super.best->file_system_type);

	if (type >= NEARCACHE_FP_MORE)
		type -= NEARCACHE_FP_MORE;
	else if (!type)
		return false;
	return type != NEARCACHE_FP_ENDS && type <= NEARCACHE_FP_VOLUMES;
}

/* True if the recorded fingerprint of the file system is that of @match->content. */
static bool same_file_system(const struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	const struct fsprint_result *now = &match->content;
	u32 type = le32_to_cpu(sb->file_system_type);

	if (type >= NEARCACHE_FP_MORE)
		return now->type == type - NEARCACHE_FP_MORE &&
		       !memcmp(now->digest, sb->file_system_fingerprint, FSPRINT_SIZE);
	if (type == NEARCACHE_FP_VOLUMES)
		return now->type == type &&
		       !memcmp(now->former, sb->file_system_fingerprint, FSPRINT_SIZE);
	return now->plain_type == type &&
	       !memcmp(now->plain, sb->file_system_fingerprint, FSPRINT_SIZE);
}

/* Compare the file system, after compare_content() found the first and last 64 KiB unchanged. */
static int compare_file_system(struct origin_match *match)
{
	u32 type = le32_to_cpu(match->super.best->file_system_type);

	/* Do not compare if the cache may have written after the fingerprint was recorded. */
	match->blind = match_was_writing(match) || !has_file_system(match);
	if (match->blind)
		return 0;
	if (match_look(match))
		return fail_code();
	match->file_system = !same_file_system(match);
	if (match->file_system)
		match->differs |= MATCH_CONTENT;
	else
		match->outgrown = type < NEARCACHE_FP_MORE;
	/* Former versions did not look into partitions and logical volumes. */
	match->blind = match->content.type == NEARCACHE_FP_VOLUMES && type < NEARCACHE_FP_VOLUMES;
	return 0;
}

/* Compare a sample of the cached data, which the fingerprints say is unchanged. */
static int compare_sample(struct origin_match *match)
{
	u64 size = le64_to_cpu(match->super.best->origin_size);
	struct content_sample sample = {
		.super = &match->super,
		.cache = &match->cache,
		.members = match->members,
		.origin = &match->origin,
		.size = size < match->origin.size ? size : match->origin.size,
		.written = match_was_writing(match) ? match->written : NULL,
		.content = &match->content,
		.limit = match->sample,
		.ms = match->sample_ms,
		.pages = match->sample_ms ? SAMPLE_PAGES : 0,
	};

	/* After a gap no cached data is served, whatever a sample shows. */
	if (!match->sample || match->gap || match->differs & MATCH_CONTENT)
		return 0;
	/* If the origin's metadata cannot be read, the sample has none of it. */
	if (match_look(match))
		fail_reset();
	if (sample_compare(&sample))
		return fail_code();
	match->sampled = sample.compared;
	match->sample_differs = sample.differs;
	match->sample_at = sample.at;
	if (sample.differs)
		match->differs |= MATCH_CONTENT;
	return 0;
}

/* Set MATCH_CONTENT if the first or last 64 KiB of the recorded size are not as recorded. */
static int compare_ends(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	unsigned char digest[FINGERPRINT_SIZE];

	if (fingerprint_ends(&match->origin, le64_to_cpu(sb->origin_size), digest))
		return fail_code();
	if (memcmp(digest, sb->origin_fingerprint, sizeof(digest)))
		match->differs |= MATCH_CONTENT;
	return 0;
}

/* Compare the fingerprints over the recorded size: an origin that grew is unchanged up to there. */
static int compare_fingerprints(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;

	if (match->origin.size < le64_to_cpu(sb->origin_size) ||
	    le32_to_cpu(sb->origin_fingerprint_type) != NEARCACHE_FP_ENDS)
		return 0;
	if (compare_ends(match))
		return fail_code();
	return match->differs & MATCH_CONTENT ? 0 : compare_file_system(match);
}

/* Skip a cold cache: its data is not used, and writes through it may have changed the origin. */
static int compare_content(struct origin_match *match)
{
	if (match_is_cold(match))
		return 0;
	return compare_fingerprints(match) || compare_sample(match) ? fail_code() : 0;
}

/*
 * True if changed data is expected: the user gave another dataset version, or there was a gap. Then
 * without --on-change the cached data is dropped, instead of an error.
 */
static bool drops_anyway(const struct origin_match *match)
{
	return (match->differs & (MATCH_VERSION | MATCH_GAP)) &&
	       match->on_change == ON_CHANGE_DEFAULT;
}

/* Set @match->differs by comparing origin and superblock; skips the content if drops_anyway(). */
int match_compare(struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	u64 before = le64_to_cpu(sb->origin_size);
	const char *id = (const char *)sb->origin_id;

	match->differs = 0;
	match->file_system = match->outgrown = match->blind = false;
	match->sample_differs = match->looked = false;
	match->sampled = 0;
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

/* Return, for messages, which part of the content differs. @text has MATCH_TEXT bytes. */
const char *match_content(const struct origin_match *match, char *text)
{
	if (match->file_system)
		return "its file system was written to, although its first and last 64 KiB are unchanged";
	if (!match->sample_differs)
		return "its first or last 64 KiB differ";
	snprintf(text, MATCH_TEXT, "the cached data near byte %llu differs from it",
		 (unsigned long long)match->sample_at);
	return text;
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

/* True if cached data stays because the origin is as recorded. */
static bool keeps_compared(const struct origin_match *match)
{
	return !match->drop && !match->trust && !match_is_cold(match) &&
	       le32_to_cpu(match->super.best->origin_fingerprint_type) == NEARCACHE_FP_ENDS;
}

/* Fail with an error that lists the differences and ends with @match->advice. */
int match_refuse(const struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;
	const struct device *origin = &match->origin;
	char text[MATCH_TEXT];

	if (match->differs & MATCH_ID)
		fail(CODE_DEVICE,
		     "origin '%s' is '%s', the cache was created for '%s'",
		     origin->path, origin->id, (const char *)sb->origin_id);
	if (match->differs & MATCH_SIZE)
		refuse_size(match);
	if (match->differs & MATCH_VERSION)
		fail(CODE_DEVICE,
		     "--dataset-version '%s': the cached data is of version '%s'",
		     match->version, (const char *)sb->dataset_version);
	if (match->differs & MATCH_CONTENT)
		fail(CODE_DEVICE,
		     "origin '%s' was changed since its cache was closed (%s): the cached data is stale",
		     origin->path, match_content(match, text));
	if (match->differs & MATCH_GAP)
		fail(CODE_DEVICE,
		     "origin '%s' may have been written to by a pass-through device, without its cache: the cached data is stale",
		     origin->path);
	return fail_add("%s", match->advice);
}

/* If the origin differs, fail or set @match->drop or @match->trust as @match->on_change says. */
static int decide_change(struct origin_match *match)
{
	if (drops_anyway(match) && !(match->differs & MATCH_ID))
		match->drop = true;
	else if (match->on_change == ON_CHANGE_DROP ||
		 (match->on_change == ON_CHANGE_TRUST && match->gap))
		match->drop = match->differs;
	else if (match->on_change == ON_CHANGE_TRUST)
		match->trust = match->differs;
	else if (match->differs)
		return match_refuse(match);
	return 0;
}

/*
 * Compare the origin with the superblock. If it differs, fail or set @match->drop or @match->trust
 * as @match->on_change says. Always fails if the logical block size differs.
 */
int match_check_origin(struct origin_match *match)
{
	u32 lbs = le32_to_cpu(match->super.best->origin_lbs);

	if (match_compare(match) || decide_change(match))
		return fail_code();
	if (match->origin.lbs != lbs)
		return fail(CODE_DEVICE,
			    "origin '%s' has logical blocks of %u bytes, at creation they had %u bytes: create the cache again",
			    match->origin.path, match->origin.lbs, lbs);
	return 0;
}

/*
 * Set @match->gap if the origin may have been written to without the cache. match_check_origin()
 * then drops the cached data by default.
 */
int match_ask_gaps(struct origin_match *match)
{
	return gaps_concern(match->super.best, match->origin.id, &match->gap);
}

/*
 * Called before facts are recorded while cached data stays. Another host may have written since
 * match_check_origin(), during the sample or while the caller waited for lock_all(): compare the
 * fingerprints again.
 */
static int check_still_same(struct origin_match *match)
{
	unsigned char before[FSPRINT_SIZE];
	enum nearcache_fingerprint type = match->content.type;
	bool looked = match->looked;

	if (!keeps_compared(match) || (!match->witness && !match_can_refresh(match)))
		return 0;
	memcpy(before, match->content.digest, sizeof(before));
	match->looked = false;
	if (compare_ends(match) || match_look(match))
		return fail_code();
	if (looked && !(match->differs & MATCH_CONTENT) &&
	    (type != match->content.type || memcmp(before, match->content.digest, sizeof(before)))) {
		match->differs |= MATCH_CONTENT;
		match->file_system = true;
	}
	return decide_change(match);
}

/*
 * Check again for gaps, now under lock_all(): a gap may have begun after match_ask_gaps(). If there
 * is a gap, fail (--on-change=refuse) or set @match->drop. Without a gap, compare the fingerprints
 * again if they are going to be recorded.
 */
int match_check_gaps(struct origin_match *match)
{
	if (match_ask_gaps(match))
		return fail_code();
	if (!match->gap)
		return check_still_same(match);
	match->differs |= MATCH_GAP;
	if (match->on_change == ON_CHANGE_REFUSE)
		return match_refuse(match);
	match->drop = true;
	match->trust = false;
	return 0;
}

/* Record that the gap is over for this cache, which is empty now. A failure only warns. */
static void end_gap(const struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;

	if (!gaps_emptied(sb, le64_to_cpu(sb->table_epoch) + 1))
		return;
	warn("%s; the next open empties the cache once more", fail_message());
	fail_reset();
}

/*
 * Write @match->drop, @trust, @session and @witness to the superblock. Cached data that stays was
 * compared with the recorded fingerprint of the ends and with @match->content, so these are
 * recorded: a write by another host since then must not count as known. Closes the cache device,
 * which must be unused.
 * @held: see struct dataset_change.
 */
int match_record(struct origin_match *match, bool held)
{
	struct dataset_change change = {
		.version = match->version,
		.witness = match->witness,
		.witness_now = match->witness_now,
		/*
		 * If the data of an old copy is kept, keep its session number too, or the copy
		 * would pass for current.
		 */
		.session = match->drop || !match->older ? match->session : 0,
		.size = match->size,
		.drop = match->drop,
		.content = &match->content,
		.known = keeps_compared(match),
		.held = held,
	};

	if (change.known && match_look(match))
		return fail_code();
	if (dataset_record(&match->cache, &match->super, &match->origin, &change))
		return fail_code();
	match->looked = true;
	if (match->drop && match->differs & MATCH_GAP)
		end_gap(match);
	return 0;
}

/*
 * True if match_refresh() has work: the superblock has no fingerprint of the file system, because
 * after writes the kernel renews only the fingerprint of the ends, or it has one of an older version
 * that covers less.
 */
bool match_can_refresh(const struct origin_match *match)
{
	const struct nearcache_super *sb = match->super.best;

	return !match_is_cold(match) && !match_was_writing(match) &&
	       le32_to_cpu(sb->origin_fingerprint_type) == NEARCACHE_FP_ENDS &&
	       (match->outgrown || le32_to_cpu(sb->file_system_type) == NEARCACHE_FP_NONE);
}

/*
 * Record the fingerprint of the file system after match_can_refresh(). The cache device must be
 * unused; this function may close it. Failures are ignored: the fingerprint of the ends suffices.
 */
void match_refresh(struct origin_match *match)
{
	if (!match_can_refresh(match) || match->differs)
		return;
	if (match_look(match) || match_record(match, false))
		fail_reset();
}

static void add_reason(char *text, const char *what, const char *value)
{
	size_t used = strlen(text);
	const char *quote = value ? "'" : "";

	snprintf(text + used, MATCH_TEXT - used, "%s%s%s%s%s",
		 used ? ", " : "", what, quote, value ? value : "", quote);
}

/*
 * List the differences for JSON, such as "size, content". Returns @text, which has MATCH_TEXT
 * bytes, or NULL if there are none.
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

/* List the recorded values that differ, for a message to people. @text has MATCH_TEXT bytes. */
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
		add_reason(text, "the origin may have been written to without its cache",
			   NULL);
	return text;
}
