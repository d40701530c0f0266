// SPDX-License-Identifier: GPL-2.0-only
/* nearcache ranges: list ranges that are pinned, bypassed or counted, and labels. */
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "block/dm.h"
#include "lib/error.h"
#include "netlink/client.h"
#include "lib/print.h"
#include "lib/enum_words.h"

static void show_range(const struct nl_range *range, void *arg)
{
	char wants[WANT_TEXT];

	(void)arg;
	print_record(NULL, NULL);
	print_position("start", "start", range->range.start);
	print_bytes("length", "length", range->range.length);
	print_string("wants", "wants", want_print(range->flags, wants));
	print_number("priority", "priority", range->priority);
	print_seconds("expires_s", NULL, range->expires);
	if (range->expires)
		print_seconds(NULL, "expires", range->expires);
	else
		print_string(NULL, "expires", NULL);
	print_string("label", "label", range->label);
	print_end();
}

static void show_label(const struct nl_label *label, void *arg)
{
	const uint64_t *counter = label->counter;

	(void)arg;
	print_record(NULL, NULL);
	print_number("ranges", "ranges", label->ranges);
	print_bytes("bytes", "bytes", label->bytes);
	print_ratio("hit_ratio", "hits", counter[NEARCACHE_LABEL_HIT_BYTES],
		    counter[NEARCACHE_LABEL_HIT_BYTES] +
		    counter[NEARCACHE_LABEL_MISS_BYTES]);
	print_number("hits", NULL, counter[NEARCACHE_LABEL_HITS]);
	print_bytes("hit_bytes", "hit", counter[NEARCACHE_LABEL_HIT_BYTES]);
	print_number("misses", NULL, counter[NEARCACHE_LABEL_MISSES]);
	print_bytes("miss_bytes", "missed",
		    counter[NEARCACHE_LABEL_MISS_BYTES]);
	print_bytes("origin_bytes", "origin",
		    counter[NEARCACHE_LABEL_ORIGIN_BYTES]);
	print_bytes("prefetched_used_bytes", NULL,
		    counter[NEARCACHE_LABEL_PREFETCHED_USED_BYTES]);
	print_bytes("prefetched_wasted_bytes", "wasted",
		    counter[NEARCACHE_LABEL_PREFETCHED_WASTED_BYTES]);
	print_bytes("prefetched_late_bytes", "late",
		    counter[NEARCACHE_LABEL_PREFETCHED_LATE_BYTES]);
	print_number("id", NULL, label->id);
	print_string("label", "label", label->name);
	print_end();
}

static int show_ranges(const struct dm_device *dev, bool labels)
{
	struct nl_room room;

	if (nl_range_room(dev->number, &room))
		return fail_code();
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_number("range_count", "ranges", room.count);
	print_bytes("needed_bytes", "pins need", room.needed);
	print_bytes("available_bytes", "may be pinned", room.available);
	print_main_table(labels ? "labels" : "ranges");
	if (labels)
		nl_label_each(dev->number, show_label, NULL);
	else
		nl_range_each(dev->number, show_range, NULL);
	print_end();
	print_end();
	return fail_code();
}

static int cmd_ranges(const struct arguments *args)
{
	struct dm_device dev;
	int error = homes_find_cache(args->operand[0], &dev);

	if (error)
		return error;
	error = show_ranges(&dev, option_given(args, OPTION_LABELS));
	dm_device_free(&dev);
	return error;
}

static const struct verb_column columns[] = {
	{ .name = "start", .help = "first byte", .without = OPTION_LABELS },
	{ .name = "length", .help = "size", .without = OPTION_LABELS },
	{ .name = "wants", .help = "pin, bypass, evict-after-use", .without = OPTION_LABELS },
	{ .name = "priority", .help = "0 to 7 (first)", .without = OPTION_LABELS },
	{ .name = "expires", .help = "seconds until it ends", .without = OPTION_LABELS },
	{ .name = "label", .help = "name for counting", .without = OPTION_LABELS },
	{ .name = "ranges", .help = "number of ranges", .with = OPTION_LABELS },
	{ .name = "bytes", .help = "their size", .with = OPTION_LABELS },
	{ .name = "hits", .help = "part of the bytes read that was a hit", .with = OPTION_LABELS },
	{ .name = "hit", .help = "bytes read from the cache", .with = OPTION_LABELS },
	{ .name = "missed", .help = "bytes read from elsewhere", .with = OPTION_LABELS },
	{ .name = "origin", .help = "bytes that fills read from the origin", .with = OPTION_LABELS },
	{ .name = "wasted", .help = "bytes that were prefetched in vain", .with = OPTION_LABELS },
	{ .name = "late", .help = "bytes that were prefetched too late", .with = OPTION_LABELS },
	{ .name = "label", .help = "name", .with = OPTION_LABELS },
	{ .name = "misses", .help = "reads that were no hit", .chosen = true, .with = OPTION_LABELS },
	{ .name = "prefetched_used_bytes", .help = "bytes that were prefetched, then read",
	  .chosen = true, .with = OPTION_LABELS },
	{ .name = "id", .help = "number of the label in trace events", .chosen = true, .with = OPTION_LABELS },
	{ 0 },
};

const struct verb ranges_verb = {
	.name = "ranges",
	.group = VERBS_DATA,
	.operands = "NAME",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTION_LABELS | OPTIONS_TABLE,
	.summary = "list ranges that are pinned, bypassed or evicted after use",
	.details =
"START and LENGTH are those of the device; START is exact. --labels prints for each label the hit ratio\n"
"of its ranges, the bytes read from the cache and from elsewhere, the bytes that fills\n"
"read from the origin, and the bytes that were prefetched in vain (wasted) or too late.\n",
	.columns = columns,
	.run = cmd_ranges,
};
