/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: entries one behind the other, each a header of 512 bytes and what was written.
 * Their order is that in which things happened; numbers are little-endian, as is all that
 * tests run on.
 */
#ifndef NEARCACHE_CRASH_ENTRY_H
#define NEARCACHE_CRASH_ENTRY_H

#define CRASH_LOG_MAGIC		0x676f6c6873617263ULL	/* "crashlog" */
#define CRASH_LOG_SECTOR	512
#define CRASH_LOG_END		"crash-log-end"

enum crash_log_kind {
	CRASH_LOG_WRITE = 1,	/* was sent to the device */
	CRASH_LOG_FLUSH,	/* was sent */
	CRASH_LOG_DONE,		/* the device has answered */
	CRASH_LOG_FAILED,	/* it has answered with an error */
	CRASH_LOG_MARK,		/* a message "mark TEXT" came */
};

/**
 * struct crash_log_head - of one entry
 * @magic: CRASH_LOG_MAGIC
 * @log: the same in all entries of one log, another one in each log
 * @number: of the entry, from 0 on
 * @of: done, failed: number of the write or flush
 * @sector: write: first sector, of all logged devices one behind the other
 * @sectors: write: how many; they follow the header
 * @kind: enum crash_log_kind
 * @fua: write: it is durable when it is done
 * @device: write, flush: which of the logged devices it was sent to
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
