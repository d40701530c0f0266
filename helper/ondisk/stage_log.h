/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format, read and check the superblock of a stage's log, which is stored in two copies.  The
 * format is in uapi/nearcache_stage.h; the kernel writes the superblock while the stage is open.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_ONDISK_STAGE_LOG_H
#define HELPER_ONDISK_STAGE_LOG_H

#include "block/device.h"
#include "meta/ondisk_check.h"
#include "nearcache_stage.h"

#define STAGE_LOG_COPIES	2

/**
 * struct stage_log - both copies of the superblock of a log
 * @copy: both copies as read
 * @best: the valid copy with the higher sequence, which the kernel would use; NULL: none
 * @sound: per copy, true if it is valid
 * @magic: per copy, true if it begins with the magic, valid or not
 * @why: per copy, the reason why it is not valid
 */
struct stage_log {
	struct nearcache_stage_super *copy[STAGE_LOG_COPIES];
	const struct nearcache_stage_super *best;
	bool sound[STAGE_LOG_COPIES];
	bool magic[STAGE_LOG_COPIES];
	char why[STAGE_LOG_COPIES][NC_WHY_SIZE];
};

/**
 * struct stage_closing - the record of a close of a log's device
 * @drained: the origin has all of the log
 * @reservation: nearcache_stage_super.closed_reservation
 */
struct stage_closing {
	bool drained;
	u32 reservation;
};

u64 stage_log_offset(unsigned int copy);
u64 stage_log_ring_blocks(u64 device_bytes);
void stage_log_seal(struct nearcache_stage_super *sb);
bool stage_log_check(const struct nearcache_stage_super *sb, u64 device_bytes, char *why);
bool stage_log_drained(const struct nearcache_stage_super *sb);
bool stage_log_describes(const struct nearcache_stage_super *sb, const struct device *origin);

int stage_log_read(struct stage_log *log, const struct device *dev);
int stage_log_require(const struct stage_log *log, const struct device *dev);
void stage_log_free(struct stage_log *log);

int stage_log_format(const struct device *dev, const struct device *origin, const char *label,
		     u32 flags, struct nearcache_stage_super *sb);
int stage_log_record_closed(struct device *dev, const unsigned char *uuid,
			    const struct stage_closing *closing);
int stage_log_record_reservation(struct device *dev, const unsigned char *uuid, u32 count);
int stage_log_record_reserve(struct device *dev, const unsigned char *uuid, bool reserve);
int stage_log_record_origin(struct device *dev, const unsigned char *uuid, const char *id);
int stage_log_wipe(const struct device *dev);

#endif /* HELPER_ONDISK_STAGE_LOG_H */
