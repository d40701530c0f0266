/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format of the log: entries back to back, each a header of 512 bytes and the data written.
 * Entries are in the order of the events.  Numbers are in host byte order; all test machines are
 * little-endian.
 */
#ifndef NEARCACHE_CRASH_ENTRY_H
#define NEARCACHE_CRASH_ENTRY_H

#define CRASH_LOG_MAGIC		0x676f6c6873617263ULL	/* "crashlog" */
#define CRASH_LOG_SECTOR	512
#define CRASH_LOG_END		"crash-log-end"

enum crash_log_kind {
	CRASH_LOG_WRITE = 1,	/* write sent to the device */
	CRASH_LOG_FLUSH,	/* flush sent to the device */
	CRASH_LOG_DONE,		/* completion */
	CRASH_LOG_FAILED,	/* completion with an error */
	CRASH_LOG_MARK,		/* message "mark TEXT" received */
};

/**
 * struct crash_log_head - header of one entry
 * @magic: CRASH_LOG_MAGIC
 * @log: identifies the log
 * @number: number of the entry, from 0
 * @of: done, failed: number of the write or flush that completed
 * @sector: write: first sector, in the concatenation of all logged devices
 * @sectors: write: number of sectors; the data follows the header
 * @kind: enum crash_log_kind
 * @fua: write: durable on completion
 * @device: write, flush: number of the target device
 * @text: mark
 */
struct crash_log_head {
	unsigned long long magic;
	unsigned long long log;
	unsigned long long number;
	unsigned long long of;
	unsigned long long sector;
	unsigned long long sectors;
	unsigned int kind;
	unsigned int fua;
	unsigned int device;
	unsigned int reserved;
	char text[CRASH_LOG_SECTOR - 64];
};

_Static_assert(sizeof(struct crash_log_head) == CRASH_LOG_SECTOR, "a sector");

#endif /* NEARCACHE_CRASH_ENTRY_H */
