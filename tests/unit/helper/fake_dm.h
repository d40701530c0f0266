/* SPDX-License-Identifier: GPL-2.0-only */
/* One device-mapper device that is only pretended. */
#ifndef HELPER_FAKE_DM_H
#define HELPER_FAKE_DM_H

#include "block/dm.h"

#define FAKE_NAME	"nc"
#define FAKE_BYTES	(1ULL << 20)
#define FAKE_TEXT	128

/* How a start ends that does not succeed. */
enum fake_start {
	FAKE_STARTS = 0,
	FAKE_INTERRUPTED,	/* nothing happens */
	FAKE_MISFITS,		/* suspended, the old table is live */
	FAKE_REFUSES,		/* suspended, the new table is live */
};

/**
 * struct fake_table - a table
 * @params: parameters, "" for no table
 * @bytes: what it covers
 */
struct fake_table {
	char params[FAKE_TEXT];
	uint64_t bytes;
};

/**
 * struct fake - the device
 * @live: its live table
 * @loaded: its inactive one
 * @uuid: dm uuid
 * @gone: it does not exist
 * @suspended: suspended
 * @cannot_clear: dropping the inactive table fails
 * @no_writing: tables that write are not loaded: the cache device failed
 * @start: how starts end, each once, then they succeed
 * @on_load: what somebody does right after a table was loaded
 * @on_start: what somebody does right after a start
 * @cache: its cache device
 * @origin: its origin
 * @opens: open count
 * @loads: tables loaded
 * @handed_over: the last start was to hand over the reads that wait
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
