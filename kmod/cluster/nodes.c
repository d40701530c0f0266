// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes of a cluster device change as a whole, without a suspend: readers see the old map or
 * the new one, and both are right, because all nodes serve the same volume.
 */
#include <linux/blkdev.h>
#include <linux/ctype.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "cluster/cluster.h"

static struct nc_node_map *current_map(struct nc_cluster *c)
{
	return rcu_dereference_protected(c->map, lockdep_is_held(&c->change_lock));
}

/* Return the node of @map with the name, or NULL. */
static struct nc_node *node_named(const struct nc_node_map *map, const char *name)
{
	u32 i;

	for (i = 0; map && i < map->homes.count; i++)
		if (!strcmp(map->node[i]->name, name))
			return map->node[i];
	return NULL;
}

/* Has a node of @map this key? */
static bool has_key(const struct nc_node_map *map, u64 key)
{
	u32 i;

	for (i = 0; i < map->homes.count; i++)
		if (map->homes.home[i].key == key)
			return true;
	return false;
}

static bool name_is_valid(const char *name)
{
	const char *at;

	for (at = name; *at; at++)
		if (!isascii(*at) || (!isalnum(*at) && !strchr("._-:", *at)))
			return false;
	return at != name && at - name <= NEARCACHE_CLUSTER_NAME_MAX && isalnum(*name);
}

/* Return the number of a device given as a path or "major:minor", 0 if there is none. */
static dev_t device_number(const char *path)
{
	unsigned int major, minor;
	char behind;
	dev_t dev;

	if (sscanf(path, "%u:%u%c", &major, &minor, &behind) == 2) {
		dev = MKDEV(major, minor);
		return MAJOR(dev) == major && MINOR(dev) == minor ? dev : 0;
	}
	return lookup_bdev(path, &dev) ? 0 : dev;
}

/* Does the node have the device @path, and does this device still exist? */
static bool has_device(const struct nc_node *node, const char *path)
{
	if (!node->dev || !strcmp(path, "-"))
		return !node->dev && !strcmp(path, "-");
	return bdev_nr_bytes(node->dev->bdev) && node->dev->bdev->bd_dev == device_number(path);
}

/* Append a node to the map: the one of the current map, or a new one. */
static int append_node(struct nc_cluster *c, struct nc_node_map *map,
		       const struct nc_node_wish *wish, const char **error)
{
	struct nc_node *node = node_named(current_map(c), wish->name);
	struct nc_home *home;
	u32 weight;
	int r;

	*error = "Name of a node: a letter or digit, then up to 62 of them or of '._-:'";
	if (!name_is_valid(wish->name))
		return -EINVAL;
	*error = "Two nodes have the same name, or the same hash of it: rename one";
	if (has_key(map, nearcache_cluster_key(wish->name, strlen(wish->name))))
		return -EINVAL;
	*error = "Weight of a node: 1 to 4294967295";
	if (kstrtou32(wish->weight, 10, &weight) || !weight)
		return -EINVAL;
	if (!node || !has_device(node, wish->path)) {
		*error = "Out of memory";
		node = nc_node_new(c, wish->name);
		if (!node)
			return -ENOMEM;
		*error = "Device of a node cannot be used";
		r = strcmp(wish->path, "-") ? nc_node_open(node, wish->path) : 0;
		if (r) {
			nc_node_leave(node);
			return r;
		}
	}
	home = &map->homes.home[map->homes.count];
	home->key = node->key;
	home->weight = weight;
	map->node[map->homes.count++] = node;
	return 0;
}

/* Find the local node in the map. */
static int find_self(struct nc_node_map *map, const char *self, const char **error)
{
	*error = "The local node's name is not one of the nodes";
	for (map->self = 0; map->self < map->homes.count; map->self++)
		if (!strcmp(map->node[map->self]->name, self))
			break;
	if (map->self == map->homes.count)
		return -EINVAL;
	*error = "The local node's device must be '-'";
	return map->node[map->self]->dev ? -EINVAL : 0;
}

/* Let the nodes of @map that are not in @other leave, and free @map. */
static void release_map(struct nc_node_map *map, const struct nc_node_map *other)
{
	u32 i, j;

	for (i = 0; map && i < map->homes.count; i++) {
		for (j = 0; other && j < other->homes.count; j++)
			if (map->node[i] == other->node[j])
				break;
		if (!other || j == other->homes.count)
			nc_node_leave(map->node[i]);
	}
	kfree(map);
}

/* Let readers and the watch work use @map, and release the old map.  Context: change_lock. */
static void replace_map(struct nc_cluster *c, struct nc_node_map *map)
{
	struct nc_node_map *old = current_map(c);

	mutex_lock(&c->lock);
	rcu_assign_pointer(c->map, map);
	mutex_unlock(&c->lock);
	synchronize_rcu();
	release_map(old, map);
	nc_watch_soon(c);
}

/**
 * nc_cluster_set_nodes() - replace the nodes
 * @c: cluster device
 * @wishes: the new nodes.  One that has the name and device of a present one stays it, with its
 *	state and counters
 * @count: number of @wishes, 1 to NEARCACHE_CLUSTER_NODES_MAX
 * @self: name of the local node, one of the names of @wishes
 * @error: gets the reason of an error
 * @bad: gets the word that caused it
 *
 * Waits until no reader uses the old nodes for a new read.  After an error the old nodes stay.
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL, -ENOMEM, or the error of opening a device.
 */
int nc_cluster_set_nodes(struct nc_cluster *c, const struct nc_node_wish *wishes, u32 count,
			 const char *self, const char **error, const char **bad)
{
	struct nc_node_map *map, *old;
	u32 i;
	int r = 0;

	*error = "Out of memory";
	*bad = self;
	map = kzalloc(struct_size(map, homes.home, count), GFP_KERNEL);
	if (!map)
		return -ENOMEM;
	map->homes.usable = nc_cluster_usable;
	mutex_lock(&c->change_lock);
	old = current_map(c);
	for (i = 0; i < count && !r; i++) {
		*bad = wishes[i].name;
		r = append_node(c, map, &wishes[i], error);
	}
	if (!r) {
		*bad = self;
		r = find_self(map, self, error);
	}
	if (r)
		release_map(map, old);
	else
		replace_map(c, map);
	mutex_unlock(&c->change_lock);
	return r;
}

/* Count a node, or a probe of the origin, less.  Context: any. */
void nc_cluster_put(struct nc_cluster *c)
{
	if (atomic_dec_and_test(&c->users))
		complete(&c->no_users);
}

/* Let all nodes leave, and wait until their last reads and all probes have ended.  Context:
 * destructor, after nc_watch_stop() or without a start.
 */
void nc_cluster_drop_nodes(struct nc_cluster *c)
{
	struct nc_node_map *map;

	mutex_lock(&c->change_lock);
	map = current_map(c);
	RCU_INIT_POINTER(c->map, NULL);
	release_map(map, NULL);
	mutex_unlock(&c->change_lock);
	nc_cluster_put(c);
	wait_for_completion(&c->no_users);
}
