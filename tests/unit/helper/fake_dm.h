/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the fake device-mapper device of fake_dm.c, which tests set and check. */
#ifndef HELPER_FAKE_DM_H
#define HELPER_FAKE_DM_H

#include "block/dm.h"
#include "nearcache.h"

#define FAKE_NAME	"nc"
#define FAKE_BYTES	(1ULL << 20)
#define FAKE_TEXT	128

/* Result of dm_resume(): all but FAKE_STARTS fail. */
enum fake_start {
	FAKE_STARTS = 0,
	FAKE_INTERRUPTED,	/* fails: nothing changes */
	FAKE_MISFITS,		/* fails: the device is suspended, the old dm table is live */
	FAKE_REFUSES,		/* fails: the device is suspended, the new dm table is live */
};

/**
 * struct fake_table - a dm table
 * @params: parameters; "": there is no dm table
 * @bytes: length of the device
 */
struct fake_table {
	char params[FAKE_TEXT];
	uint64_t bytes;
};

/**
 * struct fake - the device
 * @live: live dm table
 * @loaded: inactive dm table
 * @uuid: dm uuid
 * @gone: the device does not exist
 * @suspended: the device is suspended
 * @state: state in the status line
 * @cannot_clear: dm_clear() fails
 * @no_writing: dm_load() of a dm table with a writing mode fails, as if the cache device had failed
 * @start: results of the next dm_resume() calls, in order; later ones succeed
 * @on_load: called after dm_load() has loaded a table, to act as another process; or NULL
 * @on_start: called at the end of dm_resume(), successful or not; or NULL
 * @cache: its cache device
 * @origin: its origin
 * @opens: open count
 * @joined: a cluster device reads it
 * @loads: tables loaded so far
 * @suspend: argument @suspend of the last dm_resume()
 */
struct fake {
	struct fake_table live;
	struct fake_table loaded;
	const char *uuid;
	bool gone;
	bool suspended;
	enum nearcache_state state;
	bool cannot_clear;
	bool no_writing;
	enum fake_start start[4];
	void (*on_load)(void);
	void (*on_start)(void);
	dev_t cache;
	dev_t origin;
	int opens;
	bool joined;
	unsigned int loads;
	enum dm_suspend suspend;
};

extern struct fake fake;

void fake_reset(const char *params);

#endif /* HELPER_FAKE_DM_H */
