// SPDX-License-Identifier: GPL-2.0-only
/* nearcache scrub: check all cached data. */
#include <time.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "lib/print.h"

/* Default of --rate, bytes per second: on a local drive it does not change the latency of hits. */
#define RATE_DEFAULT	(64ULL << 20)

/* @before, @after: the status before the scrub, and at its end if the command waits. */
struct scrub {
	const struct arguments *args;
	struct dm_device dev;
	struct status before;
	struct status after;
};

static int check_words(const struct arguments *args)
{
	if (option_given(args, OPTION_STOP) &&
	    option_given(args, OPTION_RATE | OPTION_WITH_ORIGIN | OPTION_WAIT))
		return fail(CODE_USAGE,
			    "--stop excludes --rate, --with-origin and --wait");
	return 0;
}

static int check_scrub(const struct scrub *scrub)
{
	bool runs = scrub->before.field[NEARCACHE_FIELD_SCRUB_LEFT];
	const struct dm_device *dev = &scrub->dev;

	if (dm_need_table(dev))
		return fail_code();
	if (option_given(scrub->args, OPTION_STOP))
		return runs ? 0 : fail(CODE_DEVICE, "no scrub of '%s' is running",
				       dev->name);
	if (runs)
		return fail(CODE_BUSY,
			    "a scrub of '%s' is running: 'nearcache scrub %s --stop' cancels it",
			    dev->name, dev->name);
	return dm_need_running(dev) || describe_need_cache(dev) ? fail_code() : 0;
}

static u64 rate_of(const struct arguments *args)
{
	return option_given(args, OPTION_RATE) ? args->rate : RATE_DEFAULT;
}

static int tell_target(const struct scrub *scrub)
{
	char message[64] = "scrub stop";

	if (!option_given(scrub->args, OPTION_STOP))
		snprintf(message, sizeof(message), "scrub start %llu%s",
			 (unsigned long long)rate_of(scrub->args),
			 option_given(scrub->args, OPTION_WITH_ORIGIN) ? " origin" : "");
	return dm_message(&scrub->dev, message);
}

/* Growth of a counter; 0 if the device was reopened meanwhile and counts from 0 again. */
static u64 counter_grown(const struct scrub *scrub, enum nearcache_counter counter)
{
	u64 before = scrub->before.counter[counter];
	u64 after = scrub->after.counter[counter];

	return after > before ? after - before : 0;
}

static int wait_for_end(struct scrub *scrub)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct dm_device now;
	int error;

	do {
		nanosleep(&pause, NULL);
		error = dm_need_ours(scrub->dev.name, &now);
		if (error)
			return error;
		error = describe_status(&now, &scrub->after);
		dm_device_free(&now);
	} while (!error && scrub->after.field[NEARCACHE_FIELD_SCRUB_LEFT]);
	if (!error && !counter_grown(scrub, NEARCACHE_COUNTER_SCRUBS))
		return fail(CODE_DEVICE, "the scrub of '%s' was cancelled",
			    scrub->dev.name);
	return error;
}

static void report_scrub(const struct scrub *scrub)
{
	const struct arguments *args = scrub->args;
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	bool stop = option_given(args, OPTION_STOP);
	bool waited = option_given(args, OPTION_WAIT) && !dry_run;

	print_record(NULL, scrub->dev.name);
	print_string("name", NULL, scrub->dev.name);
	print_flag("stopped", stop && !dry_run ? "stopped" : NULL,
		   stop && !dry_run);
	print_bytes("rate", stop ? NULL : "bytes per second",
		    stop ? 0 : rate_of(args));
	print_flag("with_origin", stop ? NULL : "with the origin",
		   option_given(args, OPTION_WITH_ORIGIN));
	print_bytes("scrubbed_bytes", waited ? "checked" : NULL,
		    counter_grown(scrub, NEARCACHE_COUNTER_SCRUBBED_BYTES));
	print_number("damaged", waited ? "damaged sub-blocks" : NULL,
		     counter_grown(scrub, NEARCACHE_COUNTER_DAMAGED));
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
}

static int scrub_device(struct scrub *scrub)
{
	bool dry_run = option_given(scrub->args, OPTION_DRY_RUN);
	u64 damaged;

	if (describe_status(&scrub->dev, &scrub->before) || check_scrub(scrub))
		return fail_code();
	scrub->after = scrub->before;
	if (!dry_run && tell_target(scrub))
		return fail_code();
	if (!dry_run && option_given(scrub->args, OPTION_WAIT) && wait_for_end(scrub))
		return fail_code();
	report_scrub(scrub);
	damaged = counter_grown(scrub, NEARCACHE_COUNTER_DAMAGED);
	if (!damaged)
		return 0;
	return fail(CODE_DEVICE,
		    "%llu sub-blocks of '%s' were damaged: dropped, and cached again where possible",
		    (unsigned long long)damaged, scrub->dev.name);
}

static int cmd_scrub(const struct arguments *args)
{
	struct scrub scrub = { .args = args };
	int error = check_words(args);

	if (!error)
		error = homes_find_cache(args->operand[0], &scrub.dev);
	if (error)
		return error;
	error = scrub_device(&scrub);
	dm_device_free(&scrub.dev);
	return error;
}

const struct verb scrub_verb = {
	.name = "scrub",
	.group = VERBS_MAINTAIN,
	.operands = "NAME",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTION_RATE | OPTION_WITH_ORIGIN | OPTION_WAIT |
		    OPTION_STOP,
	.changes = true,
	.summary = "check all cached data for damage, at a limited rate",
	.details =
"A scrub reads the cached data. It drops data that it cannot read or that does not match\n"
"its checksum (create --integrity crc32c); such data is cached again when it is read.\n"
"--with-origin also compares data with the origin, for caches without checksums and for\n"
"changes without an invalidate. The scrub runs in the background; 'nearcache\n"
"status' shows the number of blocks left. --wait returns at the end, with exit code 4 if\n"
"data was damaged.\n",
	.run = cmd_scrub,
};
