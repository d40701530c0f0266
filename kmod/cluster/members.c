// SPDX-License-Identifier: GPL-2.0-only
/*
 * The members of a cluster device change as a whole, without a suspend: readers see the old map or
 * the new one, and both are right, because all members serve the same volume.
 */
#include <linux/blkdev.h>
#include <linux/ctype.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "cluster/cluster.h"

static struct nc_member_map *current_map(struct nc_cluster *c)
{
	return rcu_dereference_protected(c->map, lockdep_is_held(&c->lock));
}

/* Return the member of @map with the name, or NULL. */
static struct nc_member *member_named(const struct nc_member_map *map, const char *name)
{
	u32 i;

	for (i = 0; map && i < map->count; i++)
		if (!strcmp(map->member[i]->name, name))
			return map->member[i];
	return NULL;
}

static bool name_is_valid(const char *name)
{
	const char *at;

	for (at = name; *at; at++)
		if (!isalnum(*at) && !strchr("._-:", *at))
			return false;
	return at != name && at - name <= NEARCACHE_CLUSTER_NAME_MAX && isalnum(*name);
}

/* Return the number of a device given as a path or "major:minor", 0 if there is none. */
static dev_t device_number(const char *path)
{
	unsigned int major, minor;
	char behind;
	dev_t dev;

	if (sscanf(path, "%u:%u%c", &major, &minor, &behind) == 2)
		return MKDEV(major, minor);
	return lookup_bdev(path, &dev) ? 0 : dev;
}

/* Does the member have the device @path, and does this device still exist? */
static bool has_device(const struct nc_member *m, const char *path)
{
	if (!m->dev || !strcmp(path, "-"))
		return !m->dev && !strcmp(path, "-");
	return bdev_nr_bytes(m->dev->bdev) && m->dev->bdev->bd_dev == device_number(path);
}

/* Append a member to the map: the one of the current map, or a new one. */
static int append_member(struct nc_cluster *c, struct nc_member_map *map,
			 const struct nc_member_wish *wish, const char **error)
{
	struct nc_member *m = member_named(current_map(c), wish->name);
	u32 weight;
	int r;

	*error = "Name of a member: 1 to 63 letters, digits, '.', '_', '-', ':'";
	if (!name_is_valid(wish->name))
		return -EINVAL;
	*error = "Two members have the same name";
	if (member_named(map, wish->name))
		return -EINVAL;
	*error = "Weight of a member: 1 to 4294967295";
	if (kstrtou32(wish->weight, 10, &weight) || !weight)
		return -EINVAL;
	if (!m || !has_device(m, wish->path)) {
		*error = "Out of memory";
		m = nc_member_new(c, wish->name);
		if (!m)
			return -ENOMEM;
		*error = "Device of a member cannot be used";
		r = strcmp(wish->path, "-") ? nc_member_open(m, wish->path) : 0;
		if (r) {
			nc_member_leave(m);
			return r;
		}
	}
	map->member[map->count] = m;
	map->homes[map->count].key = nearcache_cluster_key(wish->name, strlen(wish->name));
	map->homes[map->count].weight = weight;
	map->count++;
	return 0;
}

/* Find this node in the map. */
static int find_self(struct nc_member_map *map, const char *self, const char **error)
{
	*error = "This node is not one of the members";
	for (map->self = 0; map->self < map->count; map->self++)
		if (!strcmp(map->member[map->self]->name, self))
			break;
	if (map->self == map->count)
		return -EINVAL;
	*error = "The device of this node's member must be '-'";
	return map->member[map->self]->dev ? -EINVAL : 0;
}

/* Let the members of @map that are not in @other leave, and free @map. */
static void release_map(struct nc_member_map *map, const struct nc_member_map *other)
{
	u32 i, j;

	for (i = 0; map && i < map->count; i++) {
		for (j = 0; other && j < other->count; j++)
			if (map->member[i] == other->member[j])
				break;
		if (!other || j == other->count)
			nc_member_leave(map->member[i]);
	}
	kfree(map);
}

/**
 * nc_cluster_set_members() - replace the members
 * @c: cluster device
 * @wishes: the new members.  One that has the name and device of a present one stays it, with its
 *	state and counters
 * @count: number of @wishes, 1 to NEARCACHE_CLUSTER_MEMBERS_MAX
 * @self: name of this node, one of the names of @wishes
 * @error: gets the reason of an error
 * @bad: gets the word that caused it
 *
 * Waits until no reader uses the old members for a new read.  After an error the old members stay.
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL, -ENOMEM, or the error of opening a device.
 */
int nc_cluster_set_members(struct nc_cluster *c, const struct nc_member_wish *wishes, u32 count,
			   const char *self, const char **error, const char **bad)
{
	struct nc_member_map *map, *old;
	u32 i;
	int r = 0;

	*error = "Out of memory";
	*bad = self;
	map = kzalloc(struct_size(map, homes, count), GFP_KERNEL);
	if (!map)
		return -ENOMEM;
	mutex_lock(&c->lock);
	old = current_map(c);
	for (i = 0; i < count && !r; i++) {
		*bad = wishes[i].name;
		r = append_member(c, map, &wishes[i], error);
	}
	if (!r) {
		*bad = self;
		r = find_self(map, self, error);
	}
	if (!r) {
		rcu_assign_pointer(c->map, map);
		synchronize_rcu();
	}
	release_map(r ? map : old, r ? old : map);
	mutex_unlock(&c->lock);
	return r;
}

/* Let all members leave, and wait until their last reads have ended.  Context: destructor. */
void nc_cluster_drop_members(struct nc_cluster *c)
{
	mutex_lock(&c->lock);
	release_map(current_map(c), NULL);
	RCU_INIT_POINTER(c->map, NULL);
	mutex_unlock(&c->lock);
	if (!atomic_dec_and_test(&c->members_left))
		wait_for_completion(&c->no_members);
}
