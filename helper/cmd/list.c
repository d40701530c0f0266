// SPDX-License-Identifier: GPL-2.0-only
/* nearcache list: one line per device. */
#include <stdio.h>
#include <stdlib.h>

#include "cluster/peers_table.h"
#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "block/device.h"
#include "block/device_sysfs.h"
#include "open/members.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "netlink/device_state.h"
#include "lib/print.h"
#include "stage/closed_logs.h"
#include "stage/report.h"

/* Text: prints the first cache device and the number of other ones.  JSON: all cache devices. */
static void print_caches(const struct dm_device *dev)
{
	char path[PATH_MAX], text[PATH_MAX + 16];
	struct params params = { .members = 0 };

	device_path_of(dev->cache, path);
	if (!dev->table || !params_parse(dev->table, &params) ||
	    !params.members) {
		print_string("cache", "cache", path);
		return;
	}
	snprintf(text, sizeof(text), "%s +%u", path, params.members);
	print_string(NULL, "cache", text);
	print_string("cache", NULL, path);
	members_list_numbers(&params);
}

static void device_line(const struct dm_device *dev)
{
	char origin[PATH_MAX];
	struct status status;

	if (describe_status(dev, &status))
		return;
	print_record(NULL, NULL);
	print_string("name", "name", dev->name);
	print_string("mode", "mode", dev->mode);
	print_string("state", NULL, describe_state(dev, &status));
	print_string(NULL, "state", dev->suspended ? "suspended" : describe_state(dev, &status));
	print_flag("suspended", NULL, dev->suspended);
	print_string("reason", "reason",
		     status_word(NEARCACHE_FIELD_REASON,
				 status.field[NEARCACHE_FIELD_REASON]));
	print_bytes("size", "size", dev->size);
	print_string("origin", "origin", dev->origin ? device_path_of(dev->origin, origin) : NULL);
	print_caches(dev);
	stage_report_list(dev);
	print_string("uuid", NULL, dm_cache_uuid(dev));
	describe_witness(dev, NULL);
	print_string("witness_state", NULL,
		     status_word(NEARCACHE_FIELD_WITNESS,
				 status.field[NEARCACHE_FIELD_WITNESS]));
	print_bytes("capacity", "capacity",
		    status.field[NEARCACHE_FIELD_BLOCKS] *
		    status.field[NEARCACHE_FIELD_BLOCK_SIZE]);
	print_bytes("bytes_valid", "valid",
		    status.field[NEARCACHE_FIELD_BYTES_VALID]);
	print_ratio("hit_ratio", "hits",
		    status.counter[NEARCACHE_COUNTER_HIT_BYTES],
		    status_read_bytes(&status));
	print_end();
}

/* End the line of a device without a cache of its own: the fields of a cache are empty. */
static void print_no_cache(void)
{
	print_string("stage", NULL, NULL);
	print_bytes("behind_bytes", NULL, 0);
	print_string("uuid", NULL, NULL);
	print_string("witness", NULL, NULL);
	print_string("witness_state", NULL, NULL);
	print_bytes("capacity", "capacity", 0);
	print_bytes("bytes_valid", "valid", 0);
	print_ratio("hit_ratio", "hits", 0, 0);
	print_end();
}

/* A pass-through device has no cache. */
static void passing_line(const struct dm_device *dev)
{
	char sectors[32] = "0";

	identity_attribute(dev->number, "size", sectors, sizeof(sectors));
	print_record(NULL, NULL);
	print_string("name", "name", dev->name);
	print_string("mode", "mode", dev->read_only ? "read-only" : "writable");
	print_string("state", "state", "pass-through");
	print_flag("suspended", NULL, dev->suspended);
	print_string("reason", "reason", NULL);
	print_bytes("size", "size", strtoull(sectors, NULL, 10) * 512);
	print_string("origin", "origin", NULL);
	print_string("cache", "cache", NULL);
	print_no_cache();
}

static void print_cluster_path(const char *key, const char *device)
{
	dev_t number = peers_number(device);
	char path[PATH_MAX];

	print_string(key, key, number ? device_path_of(number, path) : NULL);
}

/* A cluster device has no cache of its own: the cache below it has a line. */
static void cluster_line(const struct dm_device *dev)
{
	struct peers_table table = { 0 };

	if (dev->table && !peers_table_parse(dev->table, &table))
		peers_table_free(&table);
	print_record(NULL, NULL);
	print_string("name", "name", dev->name);
	print_string("mode", "mode", "read-only");
	print_string("state", NULL, "cluster");
	print_string(NULL, "state", dev->suspended ? "suspended" : "cluster");
	print_flag("suspended", NULL, dev->suspended);
	print_string("reason", "reason", NULL);
	print_bytes("size", "size", dev->size);
	print_cluster_path("origin", table.origin);
	print_cluster_path("cache", table.home);
	print_no_cache();
	peers_table_free(&table);
}

/* Print a line for each device of a kind. */
static int list_kind(int (*list_all)(struct dm_device **list, size_t *count),
		     void (*print)(const struct dm_device *dev))
{
	struct dm_device *list;
	size_t i, count;

	if (list_all(&list, &count))
		return fail_code();
	for (i = 0; i < count && !fail_code(); i++)
		print(&list[i]);
	dm_device_free_all(list, count);
	return fail_code();
}

static int cmd_list(const struct arguments *args)
{
	dm_read_unprivileged(nl_device_state);
	if (option_given(args, OPTION_ALL) && arguments_no_table(args, "the open devices: leave out --all"))
		return fail_code();
	/* Without access to the drives, the list of logs would be empty. */
	if (option_given(args, OPTION_ALL) && dm_is_unprivileged())
		return fail(CODE_PERMISSION,
			    "--all reads all local drives, which only root may: leave it out, or run this as root");
	print_main_table("devices");
	if (!list_kind(dm_all, device_line) && !list_kind(dm_all_clusters, cluster_line))
		list_kind(dm_all_passing, passing_line);
	print_end();
	return fail_code() || !option_given(args, OPTION_ALL) ? (int)fail_code() :
	       closed_logs_print();
}

static const struct verb_column columns[] = {
	{ .name = "name", .help = "device" },
	{ .name = "mode", .help = "read-only, writearound, writethrough, writable" },
	{ .name = "state", .help = "normal, degraded, bypass, pass-through, cluster, suspended" },
	{ .name = "reason", .help = "why the state is not normal" },
	{ .name = "size", .help = "size of the device" },
	{ .name = "origin", .help = "device with the data" },
	{ .name = "cache", .help = "first cache device, and the number of others" },
	{ .name = "capacity", .help = "size of the cache" },
	{ .name = "valid", .help = "cached bytes" },
	{ .name = "hits", .help = "part of the bytes read that was a hit" },
	{ .name = "suspended", .help = "reads and writes wait", .chosen = true },
	{ .name = "stage", .help = "device of the log of writes", .chosen = true },
	{ .name = "behind_bytes", .help = "bytes that the origin lacks", .chosen = true },
	{ .name = "uuid", .help = "of the cache", .chosen = true },
	{ .name = "witness", .help = "device that keeps the cache warm over a crash", .chosen = true },
	{ .name = "witness_state", .help = "whether it can do that", .chosen = true },
	{ 0 },
};

const struct verb list_verb = {
	.name = "list",
	.group = VERBS_OBSERVE,
	.operands = "",
	.operands_max = 0,
	.optional = OPTION_ALL | OPTIONS_TABLE,
	.summary = "list open devices, one per line",
	.details =
"Any user may list the open devices. --all also shows the closed logs: those of stages that\n"
"are not open, with writes that the origin lacks. For this it reads all local drives, which\n"
"only root may.\n",
	.columns = columns,
	.run = cmd_list,
};
