/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of dm-log-writes (drivers/md/dm-log-writes.c has the format): writes in the
 * order in which a flush, or FUA, made them durable.
 */
#ifndef NEARCACHE_CRASH_LOG_H
#define NEARCACHE_CRASH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct log_entry - one entry
 * @sector: first sector on the logged device
 * @sectors: how many; 0 for flushes and marks
 * @flush: what was completed before is durable from here on
 * @fua: it is durable by itself
 * @discard: no data; the sectors may hold anything
 * @mark: text of a mark, or NULL
 * @data: what was written
 */
struct log_entry {
	uint64_t sector;
	uint64_t sectors;
	bool flush, fua, discard;
	const char *mark;
	const unsigned char *data;
};

struct log {
	const unsigned char *map;
	size_t bytes;
	struct log_entry *entry;
	size_t count;
};

int log_open(struct log *log, const char *path);
void log_close(struct log *log);

#endif /* NEARCACHE_CRASH_LOG_H */
