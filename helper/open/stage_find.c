// SPDX-License-Identifier: GPL-2.0-only
/* Finds the log of a stage, and checks that log and origin belong together. */
#include <string.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "lib/error.h"
#include "ondisk/superblock.h"
#include "open/find_cache_devices.h"
#include "open/given_up_log.h"
#include "open/stage_device.h"

/* Prefix of the device id of a stage, see device_sysfs.h. */
#define STAGE_ID_PREFIX	"dm-uuid:" DM_STAGE_PREFIX

/* Print the device id of the stage of the log @uuid to @id (DEVICE_ID bytes). */
const char *stage_id(const unsigned char *uuid, char *id)
{
	strcpy(id, STAGE_ID_PREFIX);
	uuid_unparse_lower(uuid, id + strlen(id));
	return id;
}

/* If @id, from the superblock of a cache, is that of a stage, get the uuid of its log. */
bool stage_id_parse(const char *id, unsigned char *uuid)
{
	return !strncmp(id, STAGE_ID_PREFIX, strlen(STAGE_ID_PREFIX)) &&
	       !uuid_parse(id + strlen(STAGE_ID_PREFIX), uuid);
}

/* Fail if log and origin cannot be a stage, whatever the log carries. */
int stage_check_places(const struct stage *stage)
{
	const struct device *log = &stage->log, *origin = &stage->origin;

	if (identity_overlap(log->number, origin->number))
		return fail(CODE_DEVICE,
			    "log device '%s' and origin '%s' share storage: one is part of the other or they are one disk",
			    log->path, origin->path);
	if (log->read_only || origin->read_only)
		return fail(CODE_DEVICE, "%s '%s' is read-only: a stage writes to it",
			    log->read_only ? log->role : origin->role,
			    log->read_only ? log->path : origin->path);
	if (device_check_zoned(log) || device_check_zoned(origin))
		return fail_code();
	if (log->lbs > NEARCACHE_STAGE_BLOCK)
		return fail(CODE_DEVICE,
			    "log device '%s' has logical blocks of %u bytes, at most %u work",
			    log->path, log->lbs, NEARCACHE_STAGE_BLOCK);
	return 0;
}

/* Read the superblock of the open log device. */
static int read_log(struct stage *stage)
{
	struct stage_log log;

	if (!stage_log_read(&log, &stage->log) && !stage_log_require(&log, &stage->log))
		stage->sb = *log.best;
	stage_log_free(&log);
	return fail_code();
}

/* Fail unless exactly one local device carries the log @uuid. */
static const struct log_carrier *choose_log(const struct logs *all, const unsigned char *uuid)
{
	const struct log_carrier *one = NULL;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (uuid_compare(all->one[i].sb.uuid, uuid))
			continue;
		if (one) {
			fail(CODE_DEVICE,
			     "'%s' and '%s' carry the same log: detach the copy, or name the right device with --stage DEV",
			     one->path, all->one[i].path);
			return NULL;
		}
		one = &all->one[i];
	}
	return one;
}

/*
 * Find the log @uuid on local devices.  Sets @found to false if there is none.  @log: receives the
 * open device; @sb: its superblock.
 */
int stage_find_log(const unsigned char *uuid, struct device *log,
		   struct nearcache_stage_super *sb, bool *found)
{
	const struct log_carrier *one;
	struct logs all;

	*found = false;
	if (!resolve_logs(&all, NULL)) {
		one = choose_log(&all, uuid);
		*found = one;
		if (one) {
			*sb = one->sb;
			device_open_number(log, one->number, "log device");
		} else if (!fail_code() && all.silent) {
			fail(CODE_DEVICE,
			     "local device '%s' does not answer, and may carry the log of the stage: name the log with --stage DEV, or give it up with --abandon-stage",
			     all.silent_path);
		}
	}
	logs_free(&all);
	return fail_code();
}

/*
 * The same for a log that is given up.  A device that does not answer, as drives that die do, or a
 * copy of the log is no obstacle: then the log is not found, and not wiped.
 */
int stage_find_given_up(const unsigned char *uuid, struct device *log,
			struct nearcache_stage_super *sb, bool *found)
{
	if (stage_find_log(uuid, log, sb, found) != CODE_DEVICE)
		return fail_code();
	warn("%s; the log is given up and not wiped: 'nearcache destroy --stage DEV --abandon-stage' wipes it when it is there",
	     fail_message());
	fail_reset();
	*found = false;
	return 0;
}

static int need_log(struct stage *stage, const struct arguments *args, const unsigned char *uuid)
{
	char text[SUPER_UUID_TEXT];
	bool found = true;

	if (!args->stage && !uuid)
		return fail(CODE_DEVICE,
			    "without its cache device, nothing names the log of '%s', which may hold writes that the origin lacks: name it with --stage DEV, or stage=DEV in nearcachetab",
			    stage->cache);
	if (args->stage) {
		if (device_open(&stage->log, args->stage, "log device") || read_log(stage))
			return fail_code();
	} else if (stage_find_log(uuid, &stage->log, &stage->sb, &found)) {
		return fail_code();
	}
	if (found && (!uuid || !uuid_compare(stage->sb.uuid, uuid)))
		return 0;
	uuid_unparse_lower(uuid, text);
	if (found)
		return fail(CODE_DEVICE,
			    "log device '%s' carries the log of '%s', not the log '%s' of this cache: name the right device with --stage DEV, or leave it out",
			    stage->log.path, (const char *)stage->sb.label, text);
	return fail(CODE_DEVICE,
		    "no local device carries the log '%s' of this cache, which may hold writes that the origin lacks: is the drive there? If it is lost, open with --abandon-stage",
		    text);
}

/* Find the origin by the device id in the superblock of the log, and open it. */
static int find_origin(struct stage *stage)
{
	const char *id = (const char *)stage->sb.origin_id;
	dev_t number;
	int found;

	if (!*id)
		return fail(CODE_DEVICE,
			    "the origin of the log '%s' has no device id: name it with --origin DEV",
			    stage->log.path);
	found = identity_find(id, stage->log.number, &number);
	if (found == 1)
		return device_open_number(&stage->origin, number, "origin");
	return found ? fail(CODE_DEVICE,
			    "%d devices are the origin '%s' of the log '%s': name one with --origin DEV",
			    found, id, stage->log.path) :
		       fail(CODE_DEVICE,
			    "no device here is the origin '%s' of the log '%s': connect it or name it with --origin DEV",
			    id, stage->log.path);
}

/*
 * Fail unless the log was made for this origin: a drain would overwrite another volume.  --force
 * accepts a volume whose device id has changed, but not one that is proven to be another.
 */
static int check_belongs(const struct stage *stage, bool force)
{
	const char *id = (const char *)stage->sb.origin_id;
	const struct device *origin = &stage->origin;
	u64 size = le64_to_cpu(stage->sb.volume_sectors) * 512;

	if (origin->size < size)
		return fail(CODE_DEVICE,
			    "origin '%s' has %llu bytes, the log '%s' was made for one of %llu bytes",
			    origin->path, (unsigned long long)origin->size, stage->log.path,
			    (unsigned long long)size);
	if (!strcmp(id, origin->id))
		return 0;
	if (force && identity_may_be_same(id, origin->id))
		return 0;
	fail(CODE_DEVICE, "origin '%s' is '%s', the log '%s' was made for '%s'", origin->path,
	     origin->id, stage->log.path, id);
	return identity_may_be_same(id, origin->id) ?
	       fail_add("if it is the same volume under another name, 'nearcache open %s --force' accepts it",
			stage->cache) : fail_code();
}

/*
 * Open the origin of a log whose superblock was read: that of --origin, or the one that the log
 * names.  Fail if it does not belong to the log.  To drain two logs of one origin would mix their
 * writes.  @force: accept a volume whose device id has changed; the caller records its new id.
 */
int stage_open_origin(struct stage *stage, const struct arguments *args, bool force)
{
	if (args->origin ? device_open(&stage->origin, args->origin, "origin") : find_origin(stage))
		return fail_code();
	return stage_check_places(stage) ||
	       check_belongs(stage, force) ||
	       stage_check_origin(&stage->origin, stage->sb.uuid, true) ? fail_code() : 0;
}

/*
 * Find log and origin, check them, and make the device.  The log is that of --stage, or the log
 * @uuid, which the superblock of the cache names (NULL: unknown); both must be the same.  The origin
 * is that of --origin, or the one that the log names.  stage_close() is needed even after a failure.
 */
int stage_open(struct stage *stage, const struct arguments *args, const unsigned char *uuid)
{
	stage_name(stage->cache, stage->name);
	if (stage_check_name(stage->cache) || need_log(stage, args, uuid) ||
	    given_up_check(stage->sb.uuid, stage->log.path) ||
	    stage_open_origin(stage, args, option_given(args, OPTION_FORCE)))
		return fail_code();
	return stage_activate(stage, args);
}

/* A device that does not answer may carry such a log.  It may as well be any other drive. */
static void warn_of_silent(const struct logs *all, const struct device *origin)
{
	if (all->silent && *origin->id)
		warn("local device '%s' does not answer: if it carries a log of origin '%s', do not drain this log later over what is written now",
		     all->silent_path, origin->path);
}

/*
 * True if the log was made for this origin, as far as is known.  Without one of the ids, the content
 * decides: an id may not have been reported when the log was made, or may not be now.
 */
static bool is_log_of(const struct nearcache_stage_super *sb, const struct device *origin)
{
	if (*sb->origin_id && *origin->id)
		return !strcmp((const char *)sb->origin_id, origin->id);
	return stage_log_describes(sb, origin);
}

/*
 * Fail if a log on this machine holds writes that the origin lacks: without the log, the origin
 * has an older state, and a later drain would overwrite new writes to it.
 * @except: uuid of a log to ignore; NULL: none.  @writes: the caller will write to the origin.
 */
int stage_check_origin(const struct device *origin, const unsigned char *except, bool writes)
{
	struct logs all;
	size_t i;

	if (!resolve_logs(&all, origin)) {
		if (writes)
			warn_of_silent(&all, origin);
		for (i = 0; i < all.count && !fail_code(); i++) {
			const struct nearcache_stage_super *sb = &all.one[i].sb;

			if ((except && !uuid_compare(sb->uuid, except)) ||
			    stage_log_drained(sb) || !is_log_of(sb, origin))
				continue;
			if (given_up_check(sb->uuid, all.one[i].path))
				break;
			fail(CODE_BUSY,
			     "the log '%s' holds writes for origin '%s' that the origin lacks: 'nearcache open %s' and 'nearcache close %s' write them there, 'nearcache destroy --stage %s --abandon-stage' loses them",
			     all.one[i].path, origin->path, (const char *)sb->label,
			     (const char *)sb->label, all.one[i].path);
		}
	}
	logs_free(&all);
	return fail_code();
}
