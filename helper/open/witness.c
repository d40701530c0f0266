// SPDX-License-Identifier: GPL-2.0-only
#include "open/witness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "block/dm.h"
#include "lib/error.h"
#include "block/device_id.h"
#include "block/probe.h"
#include "ondisk/superblock.h"

/* Folders whose names survive a reboot, best first. */
static const char *const stable[] = {
	"/dev/mapper/", "/dev/disk/by-partuuid/", "/dev/disk/by-id/",
};

#define STABLE	(sizeof(stable) / sizeof(stable[0]))

/* All records of a device. */
struct records {
	struct nearcache_witness *record;
	unsigned int count;
};

/* Take the first name of @number in alphabetical order, so that the result is always the same. */
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
 * Choose the path for the superblock: the user's own path if it is stable. The name of a disk may
 * belong to another disk after a reboot.
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

/* Open a witness device and check its size. witness_close() is needed even after a failure. */
int witness_open(struct witness *witness, const char *path)
{
	struct device *dev = &witness->dev;

	if (device_open(dev, path, "witness device"))
		return fail_code();
	if (dev->read_only)
		return fail(CODE_DEVICE, "%s '%s' is read-only", dev->role,
			    dev->path);
	if (dev->lbs > NEARCACHE_WITNESS_SIZE ||
	    dev->size < NEARCACHE_WITNESS_SIZE)
		return fail(CODE_DEVICE,
			    "%s '%s' has %llu bytes in logical blocks of %u bytes: it needs at least %u bytes, in logical blocks of at most that size",
			    dev->role, dev->path, (unsigned long long)dev->size,
			    dev->lbs, NEARCACHE_WITNESS_SIZE);
	return choose_path(witness, path);
}

/* Open the witness device that a table names. witness_close() is needed even after a failure. */
int witness_open_number(struct witness *witness, dev_t number)
{
	char path[PATH_MAX];

	if (witness_open(witness, device_path_of(number, path)))
		return fail_code();
	/* The node in /dev can be older than the kernel's device. */
	if (witness->dev.number == number)
		return 0;
	return fail(CODE_DEVICE, "'%s' is not the witness device of the table",
		    witness->dev.path);
}

void witness_close(struct witness *witness)
{
	device_close(&witness->dev);
}

/* Refuse a device that stores data of another cache. */
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

/* Other caches may share a witness. Other users would overwrite the records. */
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

/* Demand a witness on another drive than cache device and origin, used by nothing but caches. */
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

/* True even for a torn record: the kernel may be writing it now. */
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

static bool is_current(const struct nearcache_witness *record)
{
	return !nc_witness_check(record, record->uuid) ||
	       witness_is_current(record);
}

/* @current: count only records of caches that have not moved to another witness. */
static unsigned int count_used(const struct records *records, bool current)
{
	unsigned int i, used = 0;

	for (i = 0; i < records->count; i++)
		used += is_ours(&records->record[i]) &&
			(!current || is_current(&records->record[i]));
	return used;
}

/*
 * Rank a record for the claim, lower is better: 0 its own, 1 its own but torn, 2 of the replaced
 * cache, 3 empty, 4 other content, 5 of a cache that moved to another witness; -1: in use by
 * another cache.
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

/* Returns the index of the best record, -1: all are in use. */
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

/* Find the valid record of a cache. */
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

/* Count the caches that have a record on a device, which need not be a witness. */
int witness_count(const struct device *dev, unsigned int *used)
{
	struct records records;
	int error = read_records(dev, &records);

	*used = error ? 0 : count_used(&records, true);
	free(records.record);
	return error;
}

/* Describe the content of a device without a record of this cache; "" if it is empty. */
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
 * @kept: the cache has this record already
 * @session: session number for a new record
 * @previous: the number before, which is valid as well; 0: none
 * @wipe: wipe the other content of the device
 */
struct choice {
	int at;
	bool kept;
	u64 session;
	u64 previous;
	bool wipe;
};

/* A cache that returns to its old record: continue from the sessions that the record knows. */
static void look_at_own(const struct nearcache_witness *record,
			const struct witness_claim *claim,
			struct choice *choice)
{
	u64 seen = le64_to_cpu(record->session);

	choice->kept = witness_is_current(record);
	if (seen > choice->session) {
		/*
		 * The superblock is older than the record. Keep the record's number, so that this
		 * stays visible.
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
		/* Do not wipe records: the kernel writes to them. */
		choice->wipe = !count_used(&records, false);
		if (choice->at < 0)
			error = refuse_full(dev, records.count);
	}
	free(records.record);
	/* A device with a record of this cache is its witness already. */
	if (error || its_rank <= 1)
		return error;
	error = foreign_content(dev, what);
	if (!error && *what && !claim->force)
		return fail(CODE_DEVICE,
			    "%s '%s' carries %s: if that is not needed, overwrite it with --force",
			    dev->role, dev->path, what);
	choice->wipe &= !error && *what;
	return error;
}

/*
 * Check, without writing, that a witness has a record for a cache. @claim->uuid may be NULL: not
 * known yet.
 */
int witness_prepare(const struct witness *witness,
		    const struct witness_claim *claim)
{
	struct choice choice;

	return inspect_records(witness, claim, &choice);
}

/*
 * Open for writing and lock against other runs of this command until the device is closed: two runs
 * would take the same record.
 */
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

/* @uuid NULL: write zeros and ignore the other values. */
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
 * Take a record for a cache and close the device. The witness's place is checked. A record that the
 * cache already has stays unchanged.
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

/* How a record changes when it is given up. */
enum ending {
	END_FREE,	/* free */
	END_MOVED,	/* moved to another witness; a torn record is rewritten as well */
	END_SESSION,	/* a session ended that the witness did not see */
};

/* True if a valid record of the cache knows only sessions before @session. */
static bool knows_less(const struct nearcache_witness *record, u64 session)
{
	return witness_is_current(record) &&
	       le64_to_cpu(record->session) < session;
}

/*
 * Highest session number that a superblock of the cache may have. If the record was written ahead
 * of its superblock and is given back before any write, no superblock has the record's number; then
 * the previous number counts.
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

/* Free the record of a cache and close the device. A missing record is not an error. */
int witness_free(struct witness *witness, const u8 *uuid)
{
	return end_record(witness, uuid, END_FREE, 0);
}

/*
 * Mark the record: the cache has moved to another witness or to none. Closes the device. The record
 * stays, so that an older copy of the cache device, which still names this witness, is detected: no
 * copy has a higher number.
 * @session: number in the superblock; the witness may not have seen it.
 */
int witness_move(struct witness *witness, const u8 *uuid, u64 session)
{
	return end_record(witness, uuid, END_MOVED, session);
}

/*
 * Record the end of a session that ran without this witness, and close the device. Ignores a cache
 * without a record here and one that has moved to another witness. @session: its number, already in
 * the superblock.
 */
int witness_end(struct witness *witness, const u8 *uuid, u64 session)
{
	return end_record(witness, uuid, END_SESSION, session);
}

/*
 * Tell the old witness in @sb, if any, that the cache now uses another witness @now (0: none). A
 * failure only warns: the cache itself is not affected.
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
