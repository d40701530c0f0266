/* SPDX-License-Identifier: GPL-2.0-only */
/* One fake device-mapper device. */
#ifndef HELPER_FAKE_DM_H
#define HELPER_FAKE_DM_H

#include "block/dm.h"

#define FAKE_NAME	"nc"
#define FAKE_BYTES	(1ULL << 20)
#define FAKE_TEXT	128

/* How a failing start ends. */
enum fake_start {
	FAKE_STARTS = 0,
	FAKE_INTERRUPTED,	/* nothing happens */
	FAKE_MISFITS,		/* suspended, the old table is live */
	FAKE_REFUSES,		/* suspended, the new table is live */
};

/**
 * struct fake_table - a table
 * @params: parameters, "" for no table
 * @bytes: length
 */
struct fake_table {
	char params[FAKE_TEXT];
	uint64_t bytes;
};

/**
 * struct fake - the device
 * @live: its live table
 * @loaded: its inactive table
 * @uuid: dm uuid
 * @gone: it does not exist
 * @suspended: it is suspended
 * @cannot_clear: clearing the inactive table fails
 * @no_writing: loading a table with a writing mode fails, as after a failure of the cache device
 * @start: results of the next starts, one each; then starts succeed
 * @on_load: called right after a table was loaded, to play another process
 * @on_start: called right after a start
 * @cache: its cache device
 * @origin: its origin
 * @opens: open count
 * @loads: tables loaded
 * @handed_over: the last start was asked to hand over waiting reads
 */
struct fake {
	struct fake_table live;
	struct fake_table loaded;
	const char *uuid;
	bool gone;
	bool suspended;
	bool cannot_clear;
	bool no_writing;
	enum fake_start start[4];
	void (*on_load)(void);
	void (*on_start)(void);
	dev_t cache;
	dev_t origin;
	int opens;
	unsigned int loads;
	bool handed_over;
};

extern struct fake fake;

void fake_reset(const char *params);

#endif /* HELPER_FAKE_DM_H */
