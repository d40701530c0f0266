/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is wanted of files and ranges of a device, on record, so that it is wanted again
 * when the device is opened again.
 */
#ifndef HELPER_PINS_PINS_H
#define HELPER_PINS_PINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/device.h"
#include "block/dm.h"
#include "files/range_set.h"
#include "lib/range.h"
#include "lib/words.h"
#include "netlink/client.h"
#include "pins/spans.h"

/* Room for the uuid of a cache. */
#define OWNER_UUID	(sizeof(((struct dm_device *)0)->uuid))

/**
 * struct owner - a device that has pins
 * @uuid: of the cache that it was opened with, "": not known
 * @attached: of another one that took its place, with which it is opened next; "": none did
 * @origin_id: identity of the origin (device_id.h), "": not known
 */
struct owner {
	char uuid[OWNER_UUID];
	char attached[OWNER_UUID];
	char origin_id[DEVICE_ID];
};

/* A file for each device, "NAME.json"; tests have another place. */
#ifndef PINS_DIR
#define PINS_DIR	"/var/lib/nearcache/pins"
#endif

/**
 * struct pin - a file or a range of which something is wanted
 * @path: of the file, absolute; NULL: a range of the device
 * @label: whose it is
 * @flags: NEARCACHE_RANGE_*: what is wanted
 * @priority: 0 to NEARCACHE_PRIORITY_MAX
 * @expires: when it is not wanted any more, seconds since 1970; 0: never
 * @load: it is to be brought into the cache
 * @samples: only these of the file; NULL: not these
 * @index_only: only what a reader needs to open the file
 * @format: of the file, INDEX_ANY: as its content says
 * @range: where it was on the device
 * @ranges: how many
 * @fresh: the kernel does not know of it yet
 * @dropped: not wanted any more
 */
struct pin {
	char *path;
	char *label;
	uint32_t flags;
	uint32_t priority;
	int64_t expires;
	bool load;
	char *samples;
	bool index_only;
	enum index_format format;
	struct range *range;
	size_t ranges;
	bool fresh;
	bool dropped;
};

/**
 * struct pins - of one device
 * @pin: in the order in which they were given
 * @count: how many
 * @room: that fit
 * @size: bytes of the device: what is wanted behind them stays on record, and nobody is told;
 *	0: not known
 * @owner: whose they are
 * @foreign: of another device, that had the name before
 */
struct pins {
	struct pin *pin;
	size_t count;
	size_t room;
	uint64_t size;
	struct owner owner;
	bool foreign;
};

void pins_free(struct pins *pins);

struct pin *pins_append(struct pins *pins, const struct pin *like,
			const char *path);
int pin_place(struct pin *pin, const struct shard *shard);
int pins_replace(struct pins *pins, struct pins *added);
void pins_drop(struct pins *pins, const struct spans *spans);
void pins_drop_old(struct pins *pins, int64_t now);
bool pins_inside(const struct pins *pins, const struct range *range,
		 struct range *part);
int pins_ranges(const struct pins *pins, bool (*chosen)(const struct pin *pin),
		int64_t now, struct nl_range **range, size_t *count);
int pins_pieces(const struct pins *pins, bool (*chosen)(const struct pin *pin),
		struct range **piece, size_t *count);
bool pin_is_fresh(const struct pin *pin);
bool pin_is_dropped(const struct pin *pin);
bool pin_stays(const struct pin *pin);

/* pins_file.c */
#define PINS_PATH	(sizeof(PINS_DIR) + NEARCACHE_NAME_MAX + sizeof("/.json"))
const char *pins_path(const char *name, char *path);
int pins_load(struct pins *pins, const char *name);
int pins_prepare(const struct pins *pins, const char *name);
int pins_commit(const struct pins *pins, const char *name);
void pins_abandon(const char *name);
int pins_save(const struct pins *pins, const char *name);
int pins_forget(const char *name, bool *found);

/* pins_json.c */
struct json_object;
struct json_object *pins_to_json(const struct pins *pins, const char *name);
const char *pins_from_json(struct pins *pins, struct json_object *json);

#endif /* HELPER_PINS_PINS_H */
