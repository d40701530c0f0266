// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table line of the target nearcache-peers, its message and its status line.  A reload of the
 * printed table line changes nothing.  Format: kmod/doc/cluster.md.
 */
#include <linux/log2.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "cluster/cluster.h"
#include "dm/option.h"

/* Version of the status line: fields are only appended. */
#define STATUS_VERSION		1

/* Words before the number of nodes. */
#define FIXED_WORDS	5
#define NODE_WORDS	3

static int parse_extent(struct nc_cluster *c, const char *word)
{
	u32 sectors;

	if (kstrtou32(word, 10, &sectors) || !is_power_of_2(sectors) || sectors < 8)
		return nc_refuse_word(c->ti,
				      "Extent must be a power of two of 8 to 2147483648 sectors",
				      word);
	c->extent_shift = ilog2(sectors);
	return dm_set_target_max_io_len(c->ti, sectors);
}

static int parse_replicas(struct nc_cluster *c, const char *word)
{
	if (kstrtou32(word, 10, &c->replicas) || !c->replicas || c->replicas > NC_REPLICAS_MAX)
		return nc_refuse_word(c->ti, "Replicas must be 1 to 8", word);
	return 0;
}

static int open_volume(struct nc_cluster *c, const char *path, struct dm_dev **dev,
		       const char *error)
{
	int r = dm_get_device(c->ti, path, NC_MODE_READ, dev);

	if (r) {
		*dev = NULL;
		nc_refuse_word(c->ti, error, path);
		return r;
	}
	if (c->ti->begin || c->ti->len != bdev_nr_sectors((*dev)->bdev))
		return nc_refuse_word(c->ti, "The table must cover the whole device, from sector 0",
				      path);
	return 0;
}

/* Parse "<#nodes> <nodes> ..." and set the nodes.  @self is the local node's name.  @used: NULL if
 * nothing may follow; otherwise gets the number of words.
 */
static int parse_nodes(struct nc_cluster *c, const char *self, unsigned int argc, char **argv,
		       unsigned int *used)
{
	struct nc_node_wish *wishes;
	const char *error, *bad;
	unsigned int words;
	u32 count, i;
	int r;

	if (!argc || kstrtou32(argv[0], 10, &count) || !count ||
	    count > NEARCACHE_CLUSTER_NODES_MAX)
		return nc_refuse_word(c->ti, "Number of nodes must be 1 to 256",
				      argc ? argv[0] : "");
	words = 1 + NODE_WORDS * count;
	if (argc < words)
		return nc_refuse_word(c->ti, "Each node has a name, a weight and a device",
				      argv[0]);
	if (used)
		*used = words;
	else if (argc > words)
		return nc_refuse_word(c->ti, "Word behind the last node", argv[words]);
	wishes = kcalloc(count, sizeof(*wishes), GFP_KERNEL);
	if (!wishes) {
		c->ti->error = "Out of memory";
		return -ENOMEM;
	}
	argv++;
	for (i = 0; i < count; i++) {
		wishes[i].name = argv[NODE_WORDS * i];
		wishes[i].weight = argv[NODE_WORDS * i + 1];
		wishes[i].path = argv[NODE_WORDS * i + 2];
	}
	r = nc_cluster_set_nodes(c, wishes, count, self, &error, &bad);
	if (r)
		nc_refuse_word(c->ti, error, bad);
	kfree(wishes);
	return r;
}

static void bandwidth_changed(struct dm_target *ti)
{
	nc_budget_changed(ti->private);
}

/* The preset of stall_timeout is longer than a slow origin takes for a read. */
static const struct nc_option cluster_options[] = {
	{ "stall_timeout", "stall_timeout must be 0 or 100 to 600000 milliseconds", 100, 600000,
	  .preset = 1000, .zero = true, NC_OPTION_AT(struct nc_cluster, stall_timeout) },
	{ "bandwidth", "bandwidth must be 0 or 1048576 to 1099511627776 bytes/s", NC_BUDGET_MIN,
	  NC_BUDGET_MAX, .zero = true, NC_OPTION_AT(struct nc_cluster, budget.rate),
	  .changed = bandwidth_changed },
};

/**
 * nc_cluster_parse() - parse a table line and open its devices
 * @c: cluster device without nodes
 * @argc: number of words
 * @argv: words behind the name of the target
 *
 * Context: constructor; may sleep.
 * Return: 0, or a negative error; ti->error is set, and the kernel log has the bad value.
 */
int nc_cluster_parse(struct nc_cluster *c, unsigned int argc, char **argv)
{
	unsigned int used;
	int r;

	if (argc < FIXED_WORDS)
		return nc_refuse_word(c->ti,
				      "Expected: home, origin, extent, replicas, self, nodes",
				      argc ? argv[0] : "");
	r = parse_extent(c, argv[2]);
	if (!r)
		r = parse_replicas(c, argv[3]);
	if (!r)
		r = open_volume(c, argv[0], &c->home, "Local cache cannot be opened");
	if (!r)
		r = open_volume(c, argv[1], &c->origin, "Origin device cannot be opened");
	if (!r) {
		c->ti->error = "Out of memory";
		r = nc_pace_init(c);
	}
	if (!r)
		r = parse_nodes(c, argv[4], argc - FIXED_WORDS, argv + FIXED_WORDS, &used);
	if (!r)
		r = nc_options_parse(c->ti, cluster_options, ARRAY_SIZE(cluster_options),
				     argc - FIXED_WORDS - used, argv + FIXED_WORDS + used);
	return r;
}

/**
 * nc_cluster_message() - handle a message: "nodes <#nodes> {<name> <weight> <device>}...", or
 *	"set <option> <value>"
 * @c: cluster device
 * @argc: number of words
 * @argv: words
 *
 * Replaces the nodes or changes an option while the table is live; the local node's name stays.
 *
 * Context: process; may sleep for as long as the opening of a device takes, and a suspend of the
 * cluster device then waits for it: user space gives only devices that it has opened.
 * Return: 0, or a negative error; the kernel log has the bad value, and the old nodes stay.
 */
int nc_cluster_message(struct nc_cluster *c, unsigned int argc, char **argv)
{
	char self[NEARCACHE_CLUSTER_NAME_MAX + 1];
	const struct nc_node_map *map;
	unsigned int noio;
	int r;

	if (!strcasecmp(argv[0], "set") && argc == 3)
		return nc_options_change(c->ti, cluster_options, ARRAY_SIZE(cluster_options),
					 argv[1], argv[2]);
	if (strcasecmp(argv[0], "nodes"))
		return nc_refuse_word(c->ti,
				      "Expected: nodes <#nodes> <nodes>, or: set <option> <value>",
				      argv[0]);
	rcu_read_lock();
	map = rcu_dereference(c->map);
	strscpy(self, map->node[map->self]->name, sizeof(self));
	rcu_read_unlock();
	/* A suspend waits for this message, and I/O of the device waits for the suspend. */
	noio = memalloc_noio_save();
	r = parse_nodes(c, self, argc - 1, argv + 1, NULL);
	memalloc_noio_restore(noio);
	return r;
}

/* Print the table line to @result, cut at @room bytes.  Waits for no change of the nodes. */
void nc_cluster_print(struct nc_cluster *c, char *result, size_t room)
{
	const struct nc_node_map *map;
	const struct nc_node *node;
	size_t n;
	u32 i;

	rcu_read_lock();
	map = rcu_dereference(c->map);
	n = scnprintf(result, room, "%s %s %llu %u %s %u", c->home->name, c->origin->name,
		      1ULL << c->extent_shift, c->replicas, map->node[map->self]->name,
		      map->homes.count);
	for (i = 0; i < map->homes.count; i++) {
		node = map->node[i];
		n += scnprintf(result + n, room - n, " %s %u %s", node->name,
			       map->homes.home[i].weight, node->dev ? node->dev->name : "-");
	}
	rcu_read_unlock();
	nc_options_print(c->ti, cluster_options, ARRAY_SIZE(cluster_options), result + n, room - n);
}

/* Print the status line to @result, cut at @room bytes: the version, the number of nodes, the
 * number of fields of a node, these fields for each node, the latency of the origin, and the
 * number of reads that waited for the budget.  Waits for no change of the nodes.
 */
void nc_cluster_status(struct nc_cluster *c, char *result, size_t room)
{
	const struct nc_node_map *map;
	struct nc_node_load load;
	size_t n;
	u32 i;

	rcu_read_lock();
	map = rcu_dereference(c->map);
	n = scnprintf(result, room, "%u %u 6", STATUS_VERSION, map->homes.count);
	for (i = 0; i < map->homes.count; i++) {
		load = nc_node_sum(map->node[i]);
		n += scnprintf(result + n, room - n, " %d %llu %llu %llu %llu %llu",
			       i == map->self ? NEARCACHE_PEER_HERE :
						READ_ONCE(map->node[i]->state),
			       load.begun, load.ended, load.bytes, load.errors,
			       READ_ONCE(map->node[i]->latency));
	}
	rcu_read_unlock();
	scnprintf(result + n, room - n, " %llu %llu", READ_ONCE(c->pace.latency),
		  READ_ONCE(c->budget.delayed));
}
