/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pins of a device: files and ranges that the cache shall keep, bypass, evict after use or
 * count. A record of them in a file lets the next open pin them again.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_PIN_LIST_H
#define HELPER_PINS_PIN_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/device.h"
#include "block/dm.h"
#include "files/shard_ranges.h"
#include "lib/range.h"
#include "lib/enum_words.h"
#include "netlink/client.h"
#include "pins/unpin_match.h"

/* Room for the uuid of a cache. */
#define OWNER_UUID	(sizeof(((struct dm_device *)0)->uuid))

/**
 * struct owner - identity of a device that has pins
 * @uuid: uuid of the cache with which the device was opened; "": unknown
 * @attached: uuid of a cache attached later, which the next open will use; "": none
 * @origin_id: device id of the origin, "": unknown
 */
struct owner {
	char uuid[OWNER_UUID];
	char attached[OWNER_UUID];
	char origin_id[DEVICE_ID];
};

/* Folder with a file "NAME.json" per device, see record_lines.c; tests use another one. */
#ifndef PINS_DIR
#define PINS_DIR	"/var/lib/nearcache/pins"
#endif

/**
 * struct pin - a file or a range with a wish
 * @path: absolute path of the file or folder; NULL: a range of the device
 * @handle: inode and generation of the file as text, see file_handle(); NULL: unknown
 * @folder: a folder, which has no ranges: new files below it are pinned by a refresh
 * @label: label of its ranges
 * @flags: the wish, as NEARCACHE_RANGE_* flags
 * @priority: 0 to NEARCACHE_PRIORITY_MAX
 * @expires: time of expiry, seconds since 1970; 0: never
 * @kept: its file was gone in a refresh with --keep-gone: later refreshes keep it too
 * @load: prefetch the data into the cache
 * @samples: pin only these samples of the file; NULL: not restricted
 * @index_only: pin only the index of the file, which a reader needs to open it
 * @format: format of the file, INDEX_ANY: detect it from the content
 * @concatenated: the file is several tar archives, one behind the other
 * @part: pin only data that has its home on this node of the cluster
 * @range: ranges of the device
 * @ranges: entries of @range
 * @fresh: still to be added to the kernel's ranges
 * @dropped: to be deleted from the kernel's ranges and from the record
 * @number: the pin is line "+" number @number of the record; 0: not recorded
 * @changed: differs from its line in the record
 * @gone: a refresh found that the file does not exist any more
 */
struct pin {
	char *path;
	char *handle;
	bool folder;
	char *label;
	uint32_t flags;
	uint32_t priority;
	int64_t expires;
	bool kept;
	bool load;
	char *samples;
	bool index_only;
	enum index_format format;
	bool concatenated;
	bool part;
	struct range *range;
	size_t ranges;
	bool fresh;
	bool dropped;
	size_t number;
	bool changed;
	bool gone;
};

/**
 * struct record_file - state of the file with the record
 * @bytes: length of the valid part; 0: there is no file of schema 2, so write a new one
 * @torn: bytes behind the valid part, left by a crash
 * @numbers: number of lines "+"
 * @owner: owner in the file
 * @exists: pins_load() found a file
 * @label: labels of the @labels pins that a line of the file drops
 * @hollow: pins_prepare() made the file, which had no pins yet
 * @appended: length of the batch that pins_prepare() appended last, included in @bytes
 */
struct record_file {
	size_t bytes;
	size_t torn;
	size_t numbers;
	struct owner owner;
	bool exists;
	char **label;
	size_t labels;
	bool hollow;
	size_t appended;
};

/**
 * struct pins - the pins of one device
 * @pin: in the order of the user's requests
 * @count: entries of @pin
 * @room: allocated entries
 * @size: size of the device, 0: unknown. Ranges beyond it stay in the record, but are not pinned
 * @owner: the device to which the record belongs
 * @foreign: the record belongs to an earlier device of the same name
 * @file: state of the file with the record
 */
struct pins {
	struct pin *pin;
	size_t count;
	size_t room;
	uint64_t size;
	struct owner owner;
	bool foreign;
	struct record_file file;
};

void pins_free(struct pins *pins);

struct pin *pins_append(struct pins *pins, const struct pin *like,
			const char *path);
int pin_place(struct pin *pin, const struct shard *shard);
int pins_replace(struct pins *pins, struct pins *added);
int pins_keep_new(struct pins *added, const struct pins *pins);
void pins_drop(struct pins *pins, const struct spans *spans);
void pins_drop_old(struct pins *pins, int64_t now);
void pins_settle(struct pins *pins);
bool pins_inside(const struct pins *pins, const struct range *range,
		 struct range *part);
int pins_ranges(const struct pins *pins, bool (*chosen)(const struct pin *pin),
		int64_t now, struct nl_range **range, size_t *count);
int pins_pieces(const struct pins *pins, bool (*chosen)(const struct pin *pin),
		struct range **piece, size_t *count);
bool pin_is_any(const struct pin *pin);
bool pin_is_fresh(const struct pin *pin);
bool pin_is_dropped(const struct pin *pin);
bool pin_stays(const struct pin *pin);

/* record_file.c */
#define PINS_PATH	(sizeof(PINS_DIR) + NEARCACHE_NAME_MAX + sizeof("/.json"))
const char *pins_path(const char *name, char *path);
int pins_load(struct pins *pins, const char *name);
int pins_prepare(struct pins *pins, const char *name);
void pins_commit(struct pins *pins, const char *name);
void pins_abandon(struct pins *pins, const char *name);
int pins_save(struct pins *pins, const char *name);
int pins_forget(const char *name, bool *found);

/* record_json.c */
struct json_object;
struct json_object *record_head_to_json(const struct pins *pins, const char *name);
const char *record_head_from_json(struct pins *pins, struct json_object *json);
const char *pins_from_json(struct pins *pins, struct json_object *json);

/* record_lines.c */
char *record_batch(struct pins *pins, bool whole, size_t *bytes);
const char *record_parse(struct pins *pins, char *text, size_t bytes);

#endif /* HELPER_PINS_PIN_LIST_H */
