// SPDX-License-Identifier: GPL-2.0-only
#include "open/lvm_filter.h"
#include "open/passthrough.h"

#include <stdio.h>
#include <sys/sysmacros.h>

#include "open/activate.h"
#include "lib/error.h"
#include "open/uncached_writes.h"
#include "block/lock.h"
#include "open/origin_users.h"
#include "lib/print.h"
#include "block/dm_remove.h"

static int check_passthrough(const struct passthrough *pass)
{
	enum nearcache_mode mode = pass->read_only ? NEARCACHE_READ_ONLY :
				   pass->mode;

	return activate_check_name(pass->name) ||
	       activate_check_free(pass->origin) ||
	       neighbour_check(pass->origin, mode, pass->name) ?
	       fail_code() : 0;
}

/*
 * Record that the cache will miss writes, before the first write is possible. If that fails, warn
 * and make the device read-only: the cache would not know that its data is stale.
 */
static void record_gap(struct passthrough *pass, bool dry_run)
{
	if (pass->read_only)
		return;
	if (!(dry_run ? gaps_check() :
			gaps_begin(pass->name, pass->origin->id, pass->cache)))
		return;
	warn("device '%s' %s read-only: cannot record that its cache misses writes (%s)",
	     pass->name, dry_run ? "would be" : "is", fail_message());
	fail_reset();
	pass->read_only = true;
}

static int activate_linear(const struct passthrough *pass, const char *params)
{
	char uuid[sizeof(((struct dm_device *)0)->uuid)];
	struct dm_line line = {
		.target = DM_LINEAR,
		.bytes = pass->origin->size,
		.params = params,
		.read_only = pass->read_only,
	};

	snprintf(uuid, sizeof(uuid), DM_PASSTHROUGH_PREFIX "%s", pass->name);
	return dm_activate(pass->name, uuid, &line);
}

static void report_passthrough(const struct passthrough *pass, const char *params,
			       bool dry_run)
{
	char path[PATH_MAX], line[96];

	snprintf(path, sizeof(path), "/dev/mapper/%s", pass->name);
	snprintf(line, sizeof(line), "0 %llu " DM_LINEAR " %s",
		 (unsigned long long)pass->origin->size / 512, params);
	print_record(NULL, pass->name);
	print_string("name", NULL, pass->name);
	print_string("device", "device", path);
	print_string("mode", "mode", pass->read_only ? "read-only" : "writable");
	if (pass->remembered && *pass->remembered) {
		print_string("remembered", NULL, pass->remembered);
		print_string(NULL, "remembered", pass->remembered_text);
	}
	print_string("origin", "origin", pass->origin->path);
	print_bytes("size", "size", pass->origin->size);
	print_detail("table", "table", line);
	print_string("content", NULL, "pass-through");
	print_string(NULL, "cached content",
		     "none: it passes through to the origin");
	print_string("reason", "reason", pass->why);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
}

/*
 * Create the device. It is writable only in a writing mode, and only if record_gap() durably
 * recorded that the cache becomes stale. A failure leaves no device.
 */
int passthrough_start(struct passthrough *pass, bool dry_run)
{
	const struct device *origin = pass->origin;
	char params[48];

	pass->read_only = !mode_writes(pass->mode) || origin->read_only;
	if ((!dry_run && lock_all(origin)) || check_passthrough(pass))
		return fail_code();
	record_gap(pass, dry_run);
	snprintf(params, sizeof(params), "%u:%u 0", major(origin->number),
		 minor(origin->number));
	if (!dry_run && activate_linear(pass, params))
		return fail_code();
	if (!dry_run)
		lvm_filter_notify(origin->number);
	report_passthrough(pass, params, dry_run);
	warn("device '%s' %s through to its origin, without a cache: %s",
	     pass->name, dry_run ? "would pass" : "passes", pass->why);
	return 0;
}

/* Remove the device. The record of its gap stays: the cache still has stale data. */
int passthrough_close(const struct dm_device *dev, bool dry_run)
{
	dev_t origin = lvm_filter_lower(dev->number);

	if (dry_run ? stop_check(dev) : stop(dev))
		return fail_code();
	if (!dry_run)
		lvm_filter_notify(origin);
	print_string("name", dry_run ? "would close" : NULL, dev->name);
	print_flag("pass_through", NULL, true);
	print_flag("closed", NULL, !dry_run);
	print_flag("dry_run", NULL, dry_run);
	return 0;
}
