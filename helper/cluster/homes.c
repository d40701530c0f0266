// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/homes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/dm_unprivileged.h"
#include "lib/error.h"

/* Most homes that keep an extent: a limit of the module. */
#define REPLICAS_MAX	8U

static int refuse_table(const struct dm_device *cluster)
{
	/* Only a user without access to device-mapper does not get the number of openers. */
	if (!cluster->table && cluster->open_count == DM_OPEN_UNKNOWN)
		return fail(CODE_PERMISSION,
			    "'%s' is a cluster device, whose table only root can read: name its cache, '%s-home'",
			    cluster->name, cluster->name);
	return fail(CODE_DEVICE,
		    "the table of '%s' cannot be parsed ('%s'): the kernel module is newer than this command",
		    cluster->name, cluster->table ? cluster->table : "");
}

static size_t count_down(const struct dm_device *cluster, size_t nodes)
{
	struct peers_status status = { 0 };
	size_t i, down = 0;

	if (!cluster->status || !peers_status_parse(cluster->status, nodes, &status))
		return 0;
	for (i = 0; i < nodes; i++)
		down += status.load[i].state != NEARCACHE_PEER_UP &&
			status.load[i].state != NEARCACHE_PEER_HERE;
	peers_status_free(&status);
	return down;
}

/* Take the nodes of the live table of a cluster device. homes_free() is needed even after a failure. */
int homes_take(struct homes *homes, const struct dm_device *cluster)
{
	struct peers_table *table = &homes->table;
	const struct peers_node *self;
	size_t i;

	memset(homes, 0, sizeof(*homes));
	snprintf(homes->name, sizeof(homes->name), "%s", cluster->name);
	homes->number = cluster->number;
	homes->suspended = cluster->suspended;
	homes->size = cluster->size;
	if (!cluster->table || !peers_table_parse(cluster->table, table))
		return refuse_table(cluster);
	if (cluster->status)
		peers_status_parse(cluster->status, table->nodes, &homes->status);
	self = peers_table_node(table, table->self);
	if (!self || !table->extent || !table->replicas || table->replicas > REPLICAS_MAX)
		return refuse_table(cluster);
	homes->self = (size_t)(self - table->node);
	homes->down = count_down(cluster, table->nodes);
	homes->key = calloc(table->nodes, sizeof(*homes->key));
	if (!homes->key)
		return fail_memory();
	for (i = 0; i < table->nodes; i++)
		homes->key[i] = nearcache_cluster_key(table->node[i].name,
						      (unsigned int)strlen(table->node[i].name));
	return 0;
}

void homes_free(struct homes *homes)
{
	peers_status_free(&homes->status);
	peers_table_free(&homes->table);
	free(homes->key);
	memset(homes, 0, sizeof(*homes));
}

/* Is a node a peer that answers reads? */
bool homes_peer_is_up(const struct homes *homes, size_t node)
{
	const struct peers_load *load = homes->status.load;

	return node != homes->self && load && load[node].state == NEARCACHE_PEER_UP;
}

/* True if the local node is one of the first homes of the extent. */
bool homes_are_here(const struct homes *homes, uint64_t extent)
{
	const struct peers_node *node = homes->table.node;
	const uint64_t *key = homes->key;
	size_t i, self = homes->self, before = 0;
	uint64_t hash, mine = nearcache_cluster_hash(key[self], extent);

	for (i = 0; i < homes->table.nodes && before < homes->table.replicas; i++) {
		if (i == self)
			continue;
		hash = nearcache_cluster_hash(key[i], extent);
		before += nearcache_cluster_before(hash, node[i].weight, key[i], mine,
						   node[self].weight, key[self]);
	}
	return before < homes->table.replicas;
}

/*
 * Cut the first piece off @rest, which is not empty and inside the volume: the longest one of which
 * either all or nothing is here. Returns whether it is here.
 */
bool homes_next(const struct homes *homes, struct range *rest, struct range *piece)
{
	uint64_t end = rest->start + rest->length, at = rest->start, extent = homes->table.extent;
	bool here;

	*piece = *rest;
	rest->length = 0;
	if (!homes_divide(homes))
		return true;
	here = homes_are_here(homes, at / extent);
	do
		at = (at / extent + 1) * extent;
	while (at < end && homes_are_here(homes, at / extent) == here);
	if (at < end) {
		piece->length = at - piece->start;
		*rest = (struct range){ at, end - at };
	}
	return here;
}

/* Get the part of a range inside the volume. Its length is 0 if there is none. */
static struct range range_inside_volume(const struct homes *homes, const struct range *range)
{
	struct range part = *range;

	if (!homes_divide(homes))
		return part;
	if (part.start >= homes->size)
		part.length = 0;
	else if (part.length > homes->size - part.start)
		part.length = homes->size - part.start;
	return part;
}

static int add_piece(struct range **piece, size_t *pieces, size_t *room, const struct range *add)
{
	struct range *longer;

	if (*pieces == *room) {
		/* Most files have one range, and there may be millions of files. */
		*room = *room ? 2 * *room : 1;
		longer = reallocarray(*piece, *room, sizeof(*longer));
		if (!longer)
			return fail_memory();
		*piece = longer;
	}
	(*piece)[(*pieces)++] = *add;
	return 0;
}

/*
 * List the parts of ranges that are here, or if !@here those at peers, in their order. Parts beyond
 * the end of the volume are in neither list. The caller frees @piece, even after a failure.
 */
int homes_select(const struct homes *homes, bool here, const struct range *range, size_t count,
		 struct range **piece, size_t *pieces)
{
	size_t i, room = 0;

	*piece = NULL;
	*pieces = 0;
	for (i = 0; i < count; i++) {
		struct range rest = range_inside_volume(homes, &range[i]), next;

		while (rest.length && !fail_code())
			if (homes_next(homes, &rest, &next) == here)
				add_piece(piece, pieces, &room, &next);
	}
	return fail_code();
}

/* Reduce each shard to its ranges that are here. A shard without any stays in the list. */
int homes_keep(const struct homes *homes, struct shards *shards, struct homes_part *part)
{
	size_t i, r;

	*part = (struct homes_part){ .all = shards_bytes(shards) };
	for (i = 0; i < shards->count && homes_divide(homes) && !fail_code(); i++) {
		struct shard *shard = &shards->shard[i];
		struct range *piece;
		size_t pieces;

		if (!homes_select(homes, true, shard->range, shard->ranges, &piece, &pieces)) {
			free(shard->range);
			shard->range = piece;
			shard->ranges = shard->room = pieces;
			for (shard->bytes = 0, r = 0; r < pieces; r++)
				shard->bytes += piece[r].length;
		} else {
			free(piece);
		}
	}
	part->here = shards_bytes(shards);
	return fail_code();
}

/* Insert a node into the homes @first of an extent, of which there are @count. */
static void insert_home(const struct homes *homes, uint64_t extent, size_t node, size_t *first,
			size_t count)
{
	const struct peers_node *nodes = homes->table.node;
	uint64_t hash = nearcache_cluster_hash(homes->key[node], extent);
	size_t at;

	for (at = count; at; at--) {
		size_t other = first[at - 1];

		if (!nearcache_cluster_before(hash, nodes[node].weight, homes->key[node],
					      nearcache_cluster_hash(homes->key[other], extent),
					      nodes[other].weight, homes->key[other]))
			break;
		first[at] = other;
	}
	first[at] = node;
}

/* Write the first homes of an extent to @first, room for REPLICAS_MAX + 1. Returns their number. */
static size_t first_homes(const struct homes *homes, uint64_t extent, size_t *first)
{
	size_t i, count = 0, most = homes->table.replicas;

	for (i = 0; i < homes->table.nodes; i++) {
		insert_home(homes, extent, i, first, count);
		count += count < most;
	}
	return count;
}

/* Add the bytes of the ranges to @bytes of each node that is one of the first homes. */
void homes_add_bytes(const struct homes *homes, const struct range *range, size_t count,
		     uint64_t *bytes)
{
	uint64_t extent = homes->table.extent, at, next, end;
	size_t first[REPLICAS_MAX + 1], i, h, found;

	for (i = 0; i < count; i++) {
		struct range part = range_inside_volume(homes, &range[i]);

		end = part.start + part.length;
		for (at = part.start; at < end; at = next) {
			next = (at / extent + 1) * extent;
			next = next < end ? next : end;
			found = first_homes(homes, at / extent, first);
			for (h = 0; h < found; h++)
				bytes[first[h]] += next - at;
		}
	}
}
