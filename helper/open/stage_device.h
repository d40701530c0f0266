/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stage: the device NAME-stage below the cache NAME.  It takes writes into a log on a local
 * device, and writes them to the origin later.  The dm uuid of NAME-stage has the uuid of the log,
 * and the superblock of the cache has this dm uuid as the device id of its origin.  So a cache
 * recognises its stage, and is refused above the origin itself, which may lack writes.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_STAGE_DEVICE_H
#define HELPER_OPEN_STAGE_DEVICE_H

#include "block/dm.h"
#include "block/stage_params.h"
#include "cli/options.h"
#include "lib/name.h"
#include "ondisk/stage_log.h"

struct passthrough;

/* Ends the name of a stage. */
#define STAGE_ENDING	"-stage"

/**
 * struct stage - the parts of a stage
 * @cache: name of the cache
 * @name: name of the device, @cache and STAGE_ENDING
 * @log: the log device, open
 * @origin: the origin, open
 * @sb: superblock of the log
 * @params: table of the device
 * @running: the device exists, with a live table
 * @number: device number, if @running
 * @made: this run has made the device
 * @emptied: with --drop-unreadable, the cache above was emptied
 * @retained: what happens to retained data, and why; NULL: the log has none
 */
struct stage {
	const char *cache;
	char name[NAME_SIZE];
	struct device log;
	struct device origin;
	struct nearcache_stage_super sb;
	struct stage_params params;
	bool running;
	dev_t number;
	bool made;
	bool emptied;
	const char *retained;
};

static inline bool stage_options_given(const struct arguments *args)
{
	return option_given(args, OPTIONS_STAGE | OPTION_WRITEBACK);
}

#define STAGE_CLOSED	{ .log = DEVICE_CLOSED, .origin = DEVICE_CLOSED }

/* stage_device.c: the dm device */
int stage_check_name(const char *cache);
const char *stage_name(const char *cache, char *name);
const char *stage_path(const struct stage *stage, char *path);
int stage_activate(struct stage *stage, const struct arguments *args);
void stage_undo(struct stage *stage);
int stage_below(const struct dm_device *cache, struct dm_device *dev, bool *found);
int stage_of_name(const char *cache, struct dm_device *dev, bool *found);
int stage_need_status(const struct dm_device *dev, struct stage_status *status);
int stage_set(const struct dm_device *dev, const char *option, uint64_t value);
int stage_set_on_full(const struct dm_device *dev, unsigned int on_full);
int stage_set_limit(const struct dm_device *dev, const struct stage_limit *limit);
int stage_grow(const struct dm_device *dev, uint64_t bytes);
int stage_remove(const struct dm_device *dev, bool drained, bool keep);
void stage_print(const struct stage *stage);
void stage_close(struct stage *stage);

/* stage_find.c: the log, and the origin that it belongs to */
const char *stage_id(const unsigned char *uuid, char *id);
bool stage_id_parse(const char *id, unsigned char *uuid);
int stage_check_places(const struct stage *stage);
int stage_open(struct stage *stage, const struct arguments *args, const unsigned char *uuid);
int stage_open_origin(struct stage *stage, const struct arguments *args, bool force);
int stage_find_log(const unsigned char *uuid, struct device *log,
		   struct nearcache_stage_super *sb, bool *found);
int stage_find_given_up(const unsigned char *uuid, struct device *log,
			struct nearcache_stage_super *sb, bool *found);
int stage_check_origin(const struct device *origin, const unsigned char *except, bool writes);

/* stage_format.c: a new log */
int stage_check_overwrite(const struct device *dev);
int stage_format_prepare(struct stage *stage, const struct arguments *args);
int stage_format(struct stage *stage, const struct arguments *args);
int stage_format_wipe(struct stage *stage);

/* stage_reserve.c: the reservation of the origin, and retained data */
u64 stage_key(const unsigned char *uuid);
int stage_check_reservable(const struct device *origin, const struct arguments *args);
bool stage_is_reserved(const struct nearcache_stage_super *sb);
int stage_reserve(struct stage *stage, const struct arguments *args);
void stage_print_key(const struct nearcache_stage_super *sb);
u32 stage_reservation(const struct nearcache_stage_super *sb, const struct device *origin);
void stage_unreserve(const struct nearcache_stage_super *sb, const struct device *origin);

/* stage_passthrough.c: a pass-through device above a stage */
int stage_pass_through(struct stage *stage, const unsigned char *uuid, struct passthrough *pass,
		       const struct arguments *args);

/* Sizes of texts with NUL. */
#define STAGE_TIME	64
#define STAGE_MOMENT	256

/* stage_abandon.c: an origin without the log */
const char *stage_time(u64 nanoseconds, char *text);
const char *stage_moment(const struct stage *stage, bool found, char *text);
int stage_abandon_prepare(struct stage *stage, const struct arguments *args,
			  const unsigned char *uuid, bool *found);
bool stage_abandon_log(struct stage *stage, const unsigned char *uuid, bool found);

#endif /* HELPER_OPEN_STAGE_DEVICE_H */
