// SPDX-License-Identifier: GPL-2.0-only
/* nearcache close: a clean stop. */
#include <sys/stat.h>

#include "commands.h"
#include "describe.h"
#include "fail.h"
#include "mode.h"
#include "name.h"
#include "pair.h"
#include "params.h"
#include "print.h"
#include "stop.h"
#include "witness.h"

/* Set while the cache device was the kernel's: only now it can be recorded. */
static const char *new_witness(const struct dm_device *dev,
			       const struct nearcache_super *sb,
			       struct witness *witness)
{
	struct params params;
	struct stat st;

	if (!params_parse(dev->table, &params) || !params.witness ||
	    (!stat((const char *)sb->witness, &st) &&
	     st.st_rdev == params.witness) ||
	    witness_open_number(witness, params.witness))
		return NULL;
	return witness->path;
}

/*
 * A session that wrote leaves the fingerprint of the origin's ends alone.  The sooner
 * that of its file system is taken, the less can be changed by others before; nobody
 * misses it if that fails.  After a session that only read, devices that may have
 * failed are not touched: the next open does it.
 */
static void refresh(const struct dm_device *dev)
{
	struct pair pair = {
		.origin = DEVICE_CLOSED,
		.cache = DEVICE_CLOSED,
		.may_grow = true,
	};
	struct witness witness = WITNESS_CLOSED;

	if (!device_open_number(&pair.cache, dev->cache, "cache device") &&
	    !super_read(&pair.super, &pair.cache) && pair.super.best)
		pair.witness = new_witness(dev, pair.super.best, &witness);
	if (pair.super.best && (pair.witness || pair_can_refresh(&pair)) &&
	    !device_open_number(&pair.origin, dev->origin, "origin")) {
		pair.size = pair.origin.size;
		if (pair_compare(&pair) || pair.differs || !pair.witness)
			pair_refresh(&pair);
		else if (!pair_record(&pair, false))
			witness_leave((char *)pair.super.best->witness,
				      pair.super.best->uuid,
				      witness.dev.number);
	}
	fail_reset();
	witness_close(&witness);
	super_free(&pair.super);
	device_close(&pair.origin);
	device_close(&pair.cache);
}

/* It wrote, or has a witness, which may be another one than before. */
static bool wants_refresh(const struct dm_device *dev)
{
	struct params params;
	struct status status;

	if (describe_status(dev, &status))
		fail_reset();
	return dev->table && params_parse(dev->table, &params) &&
	       (mode_writes(params.mode) || params.witness) &&
	       status.field[NEARCACHE_FIELD_STATE] == NEARCACHE_NORMAL;
}

int cmd_close(const struct arguments *args)
{
	bool dry_run = given(args, OPTION_DRY_RUN);
	struct dm_device dev;
	int error = dm_need_ours(name_of_operand(args->operand[0]), &dev);

	if (error)
		return error;
	error = dry_run ? stop_check(&dev) : stop(&dev);
	if (!error && !dry_run && wants_refresh(&dev))
		refresh(&dev);
	if (!error) {
		print_string("name", dry_run ? "would close" : NULL, dev.name);
		print_flag("closed", NULL, !dry_run);
		print_flag("dry_run", NULL, dry_run);
	}
	dm_device_free(&dev);
	return error;
}
