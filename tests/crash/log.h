/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log of the target crash-log (logger/): what was sent to a device and what it answered, in
 * the order in which it happened.  A write is durable when it is done, if it is FUA; else
 * when a flush is done that was sent to the same device after the write was done.  Before
 * that, from the moment at which it was sent, any part of it may be.
 */
#ifndef NEARCACHE_CRASH_LOG_H
#define NEARCACHE_CRASH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices that a log may be of. */
#define LOG_DEVICES	32U

/* See log_entry.durable. */
#define LOG_NEVER	SIZE_MAX

/**
 * struct log_entry - something that happened
 * @sector: write: first sector on the logged device
 * @sectors: write: how many, else 0
 * @data: write: what
 * @done: write or flush: number of the entry that says that it is, or LOG_NEVER
 * @durable: write: number of the entry that makes it durable, or LOG_NEVER
 * @ends: of a flush or write that is done: the number of its entry; else LOG_NEVER
 * @fua: write: it is durable when it is done
 * @device: write or flush: which device it was sent to, below LOG_DEVICES
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
