// SPDX-License-Identifier: GPL-2.0-only
/* Opens a witness, and claims, changes and frees the records of caches on it. */
#include "open/witness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "block/dm.h"
#include "lib/error.h"
#include "block/device_sysfs.h"
#include "block/probe.h"
#include "ondisk/superblock.h"
#include "open/stage_device.h"

/* Folders whose names mean the same device after a reboot, best first. */
static const char *const stable[] = {
	"/dev/mapper/", "/dev/disk/by-partuuid/", "/dev/disk/by-id/",
};

#define STABLE	(sizeof(stable) / sizeof(stable[0]))

/* All records of a witness device, read into memory. */
struct records {
	struct nearcache_witness *record;
	unsigned int count;
};

/*
 * Find the name of @number in a folder: the first in alphabetical order, to be the same each time.
 * @path stays unchanged if there is none.
 */
static void find_name(const char *folder, dev_t number, char *path)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char name[PATH_MAX];
		struct stat st;
		int length = snprintf(name, sizeof(name), "%s%s", folder,
				      entry->d_name);

		if (length < WITNESS_PATH && !stat(name, &st) &&
		    S_ISBLK(st.st_mode) && st.st_rdev == number &&
		    (!*path || strcmp(name, path) < 0))
			strcpy(path, name);
	}
	if (dir)
		closedir(dir);
}

/*
 * Set @witness->path to a path that means the same device after a reboot: @given, or else another
 * one. If there is none, set it to a path such as /dev/sda, which may mean another disk then.
 */
static int choose_path(struct witness *witness, const char *given)
{
	unsigned int i;

	for (i = 0; i < STABLE; i++)
		if (!strncmp(given, "/dev/disk/", strlen("/dev/disk/")) ||
		    !strncmp(given, stable[i], strlen(stable[i])))
			break;
	*witness->path = '\0';
	if (i < STABLE && strlen(given) < WITNESS_PATH)
		strcpy(witness->path, given);
	for (i = 0; i < STABLE && !*witness->path; i++)
		find_name(stable[i], witness->dev.number, witness->path);
	if (*witness->path)
		return 0;
	if (snprintf(witness->path, WITNESS_PATH, "%s", witness->dev.path) <
	    WITNESS_PATH)
		return 0;
	return fail(CODE_DEVICE, "the path of %s '%s' is longer than %zu bytes",
		    witness->dev.role, witness->dev.path, WITNESS_PATH - 1);
}

/* Open a witness device and check its size. Call witness_close() even after a failure. */
int witness_open(struct witness *witness, const char *path)
{
	struct device *dev = &witness->dev;

	if (device_open(dev, path, "witness device"))
		return fail_code();
	if (dev->read_only)
		return fail(CODE_DEVICE, "%s '%s' is read-only", dev->role,
			    dev->path);
	if (device_check_zoned(dev))
		return fail_code();
	if (dev->lbs > NEARCACHE_WITNESS_SIZE ||
	    dev->size < NEARCACHE_WITNESS_SIZE)
		return fail(CODE_DEVICE,
			    "%s '%s' has %llu bytes in logical blocks of %u bytes: it needs at least %u bytes, in logical blocks of at most that size",
			    dev->role, dev->path, (unsigned long long)dev->size,
			    dev->lbs, NEARCACHE_WITNESS_SIZE);
	return choose_path(witness, path);
}

/* Open the witness device that a dm table names. Call witness_close() even after a failure. */
int witness_open_number(struct witness *witness, dev_t number)
{
	char path[PATH_MAX];

	if (witness_open(witness, device_path_of(number, path)))
		return fail_code();
	/* The node in /dev may be out of date and lead to another device. */
	if (witness->dev.number == number)
		return 0;
	return fail(CODE_DEVICE, "'%s' is not the witness device of the table",
		    witness->dev.path);
}

void witness_close(struct witness *witness)
{
	device_close(&witness->dev);
}

/* Fail if @other uses @dev as cache device or origin: records would overwrite its data. */
static int check_role(const struct device *dev, const struct dm_device *other)
{
	const char *role = NULL;

	if (other->cache && identity_overlap(dev->number, other->cache))
		role = "cache device";
	else if (other->origin && identity_overlap(dev->number, other->origin))
		role = "origin";
	if (!role)
		return 0;
	return fail(CODE_BUSY, "%s '%s' is in use: it is the %s of '%s'",
		    dev->role, dev->path, role, other->name);
}

/* Fail if the device is in use, except as witness: another user would overwrite the records. */
static int check_users(const struct device *dev)
{
	struct dm_device *list;
	size_t i, count;
	char holder[64];
	bool busy;

	if (device_test_claim(dev, &busy))
		return fail_code();
	if (!busy)
		return 0;
	if (identity_foreign_holder(dev->number, DM_UUID_PREFIX, 0, holder,
				    sizeof(holder)))
		return fail(CODE_BUSY, "%s '%s' is in use by '%s'", dev->role,
			    dev->path, holder);
	if (identity_cluster_holder(dev->number, holder, sizeof(holder)))
		return fail(CODE_BUSY, "%s '%s' is in use by the cluster device '%s'", dev->role,
			    dev->path, holder);
	if (!identity_holder(dev->number, holder, sizeof(holder)))
		return fail(CODE_BUSY,
			    "%s '%s' is in use (mounted, swap?): choose an unused one",
			    dev->role, dev->path);
	if (dm_all(&list, &count))
		return fail_code();
	for (i = 0; i < count && !fail_code(); i++)
		check_role(dev, &list[i]);
	dm_device_free_all(list, count);
	return fail_code();
}

static int check_drive(const struct device *dev, const struct device *other)
{
	if (!identity_same_drive(dev->number, other->number))
		return 0;
	return fail(CODE_DEVICE,
		    "%s '%s' is on the same drive as %s '%s', and would disappear together with it: choose a device on another drive, for example the boot drive",
		    dev->role, dev->path, other->role, other->path);
}

/*
 * Fail if the witness shares a drive with cache device or origin, or is in use except as witness.
 */
int witness_check_place(const struct witness *witness,
			const struct device *cache,
			const struct device *origin)
{
	if (check_drive(&witness->dev, cache) ||
	    check_drive(&witness->dev, origin))
		return fail_code();
	return check_users(&witness->dev);
}

static int read_records(const struct device *dev, struct records *records)
{
	u64 count = dev->size / NEARCACHE_WITNESS_SIZE;

	if (count > NEARCACHE_WITNESS_RECORDS)
		count = NEARCACHE_WITNESS_RECORDS;
	records->count = count;
	records->record = device_buffer(NEARCACHE_WITNESS_RECORDS *
					NEARCACHE_WITNESS_SIZE);
	if (!records->record)
		return fail_code();
	return device_read(dev, records->record,
			   count * NEARCACHE_WITNESS_SIZE, 0);
}

/* True for a record of any cache, even a torn one: the kernel may be writing it just now. */
static bool is_ours(const struct nearcache_witness *record)
{
	return le32_to_cpu(record->magic) == NEARCACHE_WITNESS_MAGIC;
}

static bool is_of(const struct nearcache_witness *record, const u8 *uuid)
{
	return uuid && is_ours(record) &&
	       !memcmp(record->uuid, uuid, sizeof(record->uuid));
}

static bool is_zero(const struct nearcache_witness *record)
{
	const char *bytes = (const char *)record;

	return !*bytes && !memcmp(bytes, bytes + 1, sizeof(*record) - 1);
}

/*
 * False only for a valid record of a cache that moved to another witness. True for a torn record.
 */
static bool is_current(const struct nearcache_witness *record)
{
	return !nc_witness_check(record, record->uuid) ||
	       witness_is_current(record);
}

/* Count the records of caches. @current: leave out caches that moved to another witness. */
static unsigned int count_used(const struct records *records, bool current)
{
	unsigned int i, used = 0;

	for (i = 0; i < records->count; i++)
		used += is_ours(&records->record[i]) &&
			(!current || is_current(&records->record[i]));
	return used;
}

/*
 * Rank a record for the claim. -1: another cache uses it. Otherwise a lower rank is better. 0: of
 * this cache; 1: of this cache, but torn; 2: of the replaced cache; 3: empty; 4: foreign data; 5:
 * of another cache, which moved to another witness.
 */
static int rank_record(const struct nearcache_witness *record,
		       const struct witness_claim *claim)
{
	if (is_of(record, claim->uuid))
		return nc_witness_check(record, claim->uuid) ? 0 : 1;
	if (is_of(record, claim->replaced))
		return 2;
	if (is_ours(record))
		return is_current(record) ? -1 : 5;
	return is_zero(record) ? 3 : 4;
}

/* Return the index of the best record, and its rank. Returns -1 if other caches use all records. */
static int choose_record(const struct records *records,
			 const struct witness_claim *claim, int *its_rank)
{
	int best = -1;
	unsigned int i;

	for (i = 0; i < records->count; i++) {
		int r = rank_record(&records->record[i], claim);

		if (r < 0 || (best >= 0 && r >= *its_rank))
			continue;
		best = (int)i;
		*its_rank = r;
	}
	return best;
}

/* Read the record of a cache. @found is false if the device has no valid one. */
int witness_look(const struct witness *witness, const u8 *uuid,
		 struct nearcache_witness *record, bool *found)
{
	struct records records;
	unsigned int i;
	int error = read_records(&witness->dev, &records);

	*found = false;
	for (i = 0; i < records.count && !error && !*found; i++) {
		if (!nc_witness_check(&records.record[i], uuid))
			continue;
		*record = records.record[i];
		*found = true;
	}
	free(records.record);
	return error;
}

/* Count the caches with a record on @dev, which may be any device. */
int witness_count(const struct device *dev, unsigned int *used)
{
	struct records records;
	int error = read_records(dev, &records);

	*used = error ? 0 : count_used(&records, true);
	free(records.record);
	return error;
}

/* Read the uuid of the first cache that uses @dev, which may be any device, as its witness. */
int witness_first(const struct device *dev, u8 *uuid, bool *found)
{
	struct records records;
	int error = read_records(dev, &records);
	unsigned int i;

	*found = false;
	for (i = 0; i < records.count && !error && !*found; i++) {
		const struct nearcache_witness *record = &records.record[i];

		*found = nc_witness_check(record, NULL) && witness_is_current(record);
		if (*found)
			memcpy(uuid, record->uuid, sizeof(record->uuid));
	}
	free(records.record);
	return error;
}

/* Describe the content of a device: a file system, a nearcache or another; "" if there is none. */
static int foreign_content(const struct device *dev, char *what)
{
	struct super super;
	int error = probe_content(dev, what);

	if (error || *what)
		return error;
	error = super_read(&super, dev);
	if (!error && super.best)
		snprintf(what, PROBE_WHAT, "the nearcache '%s'",
			 (const char *)super.best->label);
	else if (!error && (super.magic[0] || super.magic[1]))
		snprintf(what, PROBE_WHAT, "a nearcache superblock");
	super_free(&super);
	return error;
}

static int refuse_full(const struct device *dev, unsigned int count)
{
	return fail(CODE_BUSY,
		    "all %u records of %s '%s' are in use by other caches: choose another device; 'nearcache destroy' frees the record of a cache that is no longer needed",
		    count, dev->role, dev->path);
}

/**
 * struct choice - the record chosen for a cache
 * @at: index of the record
 * @kept: the cache has this record already; the record stays unchanged
 * @session: session number for a new record
 * @previous: number that the superblock may still have instead of @session, 0: none
 * @wipe: wipe the content of the device before the record is written
 */
struct choice {
	int at;
	bool kept;
	u64 session;
	u64 previous;
	bool wipe;
};

/* The device has a record of this cache already: do not lower the session number in it. */
static void look_at_own(const struct nearcache_witness *record,
			const struct witness_claim *claim,
			struct choice *choice)
{
	u64 seen = le64_to_cpu(record->session);

	choice->kept = witness_is_current(record);
	if (seen > choice->session) {
		/*
		 * The superblock is older than the record. Keep the number of the record, by which
		 * the kernel sees that the cache device is an old copy.
		 */
		choice->session = seen;
	} else if (claim->ahead) {
		choice->session++;
		choice->previous = claim->session;
	}
}

static int inspect_records(const struct witness *witness,
			   const struct witness_claim *claim, struct choice *choice)
{
	const struct device *dev = &witness->dev;
	struct records records;
	char what[PROBE_WHAT];
	int error = read_records(dev, &records);
	int its_rank = -1;

	memset(choice, 0, sizeof(*choice));
	choice->session = claim->session;
	if (!error) {
		choice->at = choose_record(&records, claim, &its_rank);
		if (!its_rank)
			look_at_own(&records.record[choice->at], claim, choice);
		/* Wiping would destroy records of other caches, to which the kernel writes. */
		choice->wipe = !count_used(&records, false);
		if (choice->at < 0)
			error = refuse_full(dev, records.count);
	}
	free(records.record);
	/* With rank 0 or 1 the content of the device was checked when the record was written. */
	if (error || its_rank <= 1)
		return error;
	error = foreign_content(dev, what);
	if (!error && *what && !claim->force)
		return fail(CODE_DEVICE,
			    "%s '%s' carries %s: if that is not needed, overwrite it with --force",
			    dev->role, dev->path, what);
	if (!error)
		error = stage_check_overwrite(dev);
	choice->wipe &= !error && *what;
	return error;
}

/* Check, without writing, that witness_claim() would succeed. @claim->uuid NULL: not known yet. */
int witness_prepare(const struct witness *witness,
		    const struct witness_claim *claim)
{
	struct choice choice;

	return inspect_records(witness, claim, &choice);
}

/* Reopen for writing, and lock until device_close(): two runs must not choose the same record. */
static int take_device(struct witness *witness)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_len = 1,
	};

	if (device_share(&witness->dev))
		return fail_code();
	if (fcntl(witness->dev.fd, F_OFD_SETLKW, &lock))
		return fail_errno(errno, "cannot lock %s '%s'",
				  witness->dev.role, witness->dev.path);
	return 0;
}

/* Write record @at. @uuid NULL: write zeros and ignore the other values, which frees the record. */
static int write_record(const struct device *dev, int at, const u8 *uuid,
			u64 session, u64 previous, u32 state)
{
	struct nearcache_witness *record = device_buffer(sizeof(*record));
	int error;

	if (!record)
		return fail_code();
	if (uuid) {
		nc_witness_init(record, uuid);
		record->session = cpu_to_le64(session);
		record->previous = cpu_to_le64(previous);
		record->state = cpu_to_le32(state);
		nc_witness_seal(record);
	}
	error = device_write(dev, record, sizeof(*record),
			     (u64)at * sizeof(*record));
	free(record);
	return error ? error : device_sync(dev);
}

/*
 * Write a record for a cache, unless it has a current one. Closes the witness device. The caller
 * has called witness_check_place().
 */
int witness_claim(struct witness *witness, const struct witness_claim *claim)
{
	const struct device *dev = &witness->dev;
	struct choice choice;
	int error = take_device(witness);

	if (!error)
		error = inspect_records(witness, claim, &choice);
	if (!error && choice.wipe)
		error = probe_wipe(dev) || super_wipe(dev) ? fail_code() : 0;
	if (!error && !choice.kept)
		error = write_record(dev, choice.at, claim->uuid, choice.session,
				     choice.previous, NEARCACHE_WITNESS_NEW);
	witness_close(witness);
	return error;
}

/* What end_record() does to the record of a cache. */
enum ending {
	END_FREE,	/* overwrite it with zeros */
	END_MOVED,	/* mark it, even if torn: the cache moved to another witness */
	END_SESSION,	/* record the end of a session that the kernel did not record here */
};

/* True if the cache still uses this witness, and the record has a session before @session. */
static bool knows_less(const struct nearcache_witness *record, u64 session)
{
	return witness_is_current(record) &&
	       le64_to_cpu(record->session) < session;
}

/*
 * Return the highest session number that a superblock of the cache may have. A new record that has
 * a previous number is ahead: the number in the superblock is at most the previous one.
 */
static u64 highest_session(const struct nearcache_witness *record, u64 session)
{
	bool ahead = le32_to_cpu(record->state) == NEARCACHE_WITNESS_NEW &&
		     record->previous;
	u64 known = le64_to_cpu(ahead ? record->previous : record->session);

	return known > session ? known : session;
}

static int end_record(struct witness *witness, const u8 *uuid,
		      enum ending ending, u64 ended)
{
	struct records records = { 0 };
	unsigned int i;
	int error = take_device(witness);

	if (!error)
		error = read_records(&witness->dev, &records);
	for (i = 0; i < records.count && !error; i++) {
		const struct nearcache_witness *record = &records.record[i];
		bool sound = nc_witness_check(record, uuid);

		if (!is_of(record, uuid) || (ending == END_SESSION &&
					     !(sound && knows_less(record, ended))))
			continue;
		error = write_record(&witness->dev, (int)i,
				     ending == END_FREE ? NULL : uuid,
				     sound ? highest_session(record, ended) : ended, 0,
				     ending == END_MOVED ?
				     NEARCACHE_WITNESS_MOVED :
				     NEARCACHE_WITNESS_ENDED);
	}
	free(records.record);
	witness_close(witness);
	return error;
}

/* Free the record of a cache and close the device. Returns 0 if there is no record. */
int witness_free(struct witness *witness, const u8 *uuid)
{
	return end_record(witness, uuid, END_FREE, 0);
}

/*
 * Mark the record: the cache has moved to another witness or to none. Closes the device. The record
 * serves to detect old copies of the cache device, which still name this witness. For that, raise
 * the session number in the record to the highest number that a copy may have.
 * @session: session number in the superblock, which may be higher than that in the record.
 */
int witness_move(struct witness *witness, const u8 *uuid, u64 session)
{
	return end_record(witness, uuid, END_MOVED, session);
}

/*
 * Record the end of session @session, which ran without this witness. The superblock has this
 * number already. Closes the device. Does nothing if the cache has no current record here.
 */
int witness_end(struct witness *witness, const u8 *uuid, u64 session)
{
	return end_record(witness, uuid, END_SESSION, session);
}

/*
 * Mark the record on the witness that @sb names, if any: the cache now uses the witness @now (0:
 * none). A failure only warns, since the cache itself is intact.
 */
void witness_leave(const struct nearcache_super *sb, dev_t now)
{
	const char *path = (const char *)sb->witness;
	struct witness before = WITNESS_CLOSED;

	if (witness_named(path) &&
	    (witness_open(&before, path) ||
	     (before.dev.number != now &&
	      witness_move(&before, sb->uuid, le64_to_cpu(sb->session)))))
		warn("%s; the old witness still has a record of this cache: stale copies of the cache device will not be detected",
		     fail_message());
	witness_close(&before);
	fail_reset();
}
