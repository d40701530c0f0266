// SPDX-License-Identifier: GPL-2.0-only
/* Finds devices that use an origin in a way that makes cached data stale. */
#include "open/origin_users.h"

#include <stdlib.h>
#include <string.h>

#include "block/dm.h"
#include "block/dm_pieces.h"
#include "lib/error.h"
#include "block/device_sysfs.h"
#include "open/find_cache_devices.h"

/**
 * struct meeting - a device that shall use an origin, and another device that exists
 * @origin: open origin that the first device shall use
 * @mode: mode of the first device
 * @other: the other device
 * @writes: @other writes to its origin
 */
struct meeting {
	const struct device *origin;
	enum nearcache_mode mode;
	const struct dm_device *other;
	bool writes;
};

/* Called if both devices use one origin: fail with CODE_BUSY if one of them writes to it. */
static int judge_neighbour(const struct meeting *meet)
{
	const char *name = meet->other->name;

	if (mode_writes(meet->mode))
		return fail(CODE_BUSY,
			    "origin '%s' is also %s by device '%s', which would miss writes in mode %s: close it first",
			    meet->origin->path,
			    meet->other->ours ? "cached" : "used", name,
			    mode_word(meet->mode));
	if (meet->writes)
		return fail(CODE_BUSY,
			    "origin '%s' is written by device '%s' (%s%s): close it first",
			    meet->origin->path, name,
			    meet->other->ours ? "mode " : "pass-through",
			    meet->other->mode);
	return 0;
}

/*
 * The kernel has removed the origin of @meet->other. @meet->origin may be that origin, back under
 * another number: fail unless the device id stored on the cache device shows that it is not.
 */
static int check_gone(const struct meeting *meet)
{
	const struct dm_device *other = meet->other;
	struct resolved *cache;
	char path[PATH_MAX];

	if (!mode_writes(meet->mode) && !meet->writes)
		return 0;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return fail_memory();
	if (resolve_path(cache, device_path_of(other->cache, path)))
		fail_add("the origin of device '%s' is disconnected, and it is unknown whether '%s' is that origin: close '%s' first",
			 other->name, meet->origin->path, other->name);
	else if (identity_may_be_same((const char *)cache->sb.origin_id,
				    meet->origin->id))
		fail(CODE_BUSY,
		     "the origin of device '%s' is disconnected, and '%s' may be that origin: reconnect it with 'nearcache attach %s', or close '%s' first",
		     other->name, meet->origin->path, other->name, other->name);
	free(cache);
	return fail_code();
}

static int check_cache(struct meeting *meet)
{
	const struct dm_device *other = meet->other;
	enum nearcache_mode its = NEARCACHE_READ_ONLY;
	char name[128];

	if (!other->origin)
		return 0;
	meet->writes = mode_parse(other->mode, &its) && mode_writes(its);
	if (!identity_kernel_name(other->origin, name, sizeof(name)))
		return check_gone(meet);
	return identity_overlap(meet->origin->number, other->origin) ?
	       judge_neighbour(meet) : 0;
}

/* A pass-through device whose origin was removed is allowed: it cannot write and caches nothing. */
static int check_passing(struct meeting *meet)
{
	struct dm_piece *piece;
	size_t i, count;

	meet->writes = !meet->other->read_only;
	if (!dm_pieces(meet->other->number, &piece, &count))
		for (i = 0; i < count && !fail_code(); i++)
			if (piece[i].linear &&
			    identity_overlap(meet->origin->number,
					     piece[i].under))
				judge_neighbour(meet);
	free(piece);
	return fail_code();
}

static int check_all(const struct device *origin, enum nearcache_mode mode,
		     const char *self,
		     int (*list_all)(struct dm_device **list, size_t *count),
		     int (*check)(struct meeting *meet))
{
	struct meeting meet = { .origin = origin, .mode = mode };
	struct dm_device *list;
	size_t i, count;
	int error = list_all(&list, &count);

	if (error)
		return error;
	for (i = 0; i < count && !error; i++) {
		meet.other = &list[i];
		if (strcmp(list[i].name, self))
			error = check(&meet);
	}
	dm_device_free_all(list, count);
	return error;
}

/*
 * Fail if another nearcache or pass-through device uses @origin, unless both that device and the
 * device @self, which runs in @mode, only read from the origin.
 */
int neighbour_check(const struct device *origin, enum nearcache_mode mode,
		    const char *self)
{
	int error = check_all(origin, mode, self, dm_all, check_cache);

	return error ? error : check_all(origin, mode, self, dm_all_passing,
					 check_passing);
}
