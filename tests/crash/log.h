/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log of the crash-log target (logger/): requests sent to a device and their completions, in
 * order.  A FUA write is durable when it completes.  Any other write is durable when a flush
 * completes that was sent to the same device after the write completed.  Between the moment when
 * a write is sent and the moment when it is durable, any part of it may be on the medium.
 */
#ifndef NEARCACHE_CRASH_LOG_H
#define NEARCACHE_CRASH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of devices in one log. */
#define LOG_DEVICES	32U

/* Number of an entry that does not exist. */
#define LOG_NEVER	SIZE_MAX

/**
 * struct log_entry - one event
 * @sector: write: first sector on the logged device
 * @sectors: write: number of sectors; 0 for other events
 * @data: write: its data
 * @done: write or flush: number of the entry of its completion, or LOG_NEVER
 * @durable: write: number of the entry that makes it durable, or LOG_NEVER
 * @ends: completion: number of the write or flush that completed; other events: LOG_NEVER
 * @fua: write: durable on completion
 * @device: write or flush: target device, below LOG_DEVICES
 * @mark: text of a mark, or NULL
 */
struct log_entry {
	uint64_t sector;
	uint64_t sectors;
	const unsigned char *data;
	size_t done;
	size_t durable;
	size_t ends;
	bool fua;
	unsigned int device;
	const char *mark;
};

struct log {
	const unsigned char *map;
	size_t bytes;
	struct log_entry *entry;
	size_t count;
};

int log_open(struct log *log, const char *path);
bool log_complete(const struct log *log);
void log_close(struct log *log);

#endif /* NEARCACHE_CRASH_LOG_H */
