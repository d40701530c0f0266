/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of 'attach' (cmd/attach.c, open/attach_cache.c) on a fake device; fake_attach.c fakes all devices. */
#ifndef HELPER_ATTACH_UNIT_H
#define HELPER_ATTACH_UNIT_H

#include <string.h>

#include "fake_dm.h"
#include "fake_gaps.h"
#include "lib/error.h"
#include "open/origin_match.h"
#include "said.h"

#define OLD	"read-only 8:0 8:16 4 fill_memory 33554432 cache_timeout 0"
#define NEW	"read-only 8:0 8:32 4 fill_memory 33554432 cache_timeout 0"
#define WRITING	"writethrough 8:0 8:16"
#define WITNESS	" 2 witness 254:3"

/**
 * struct fake_attach - answers of the fakes, and calls made
 * @state_before, @state_after: health of the device before and after the load
 * @other_cache: the cache device is that of another cache
 * @old_gone: the former cache device is gone
 * @busy: the cache device is in use
 * @wrong_origin: the cache belongs to another origin
 * @used: the cache has data
 * @active: the superblock says active
 * @areas_written, @super_written: parts of a new cache that were written
 * @recorded: match_record() was called
 * @held: second argument of match_record()
 * @path_recorded: path of the witness that match_record() recorded
 * @emptied: match_record() emptied the cache
 * @origin_gone: the origin is missing
 * @reconnected: the origin was reconnected
 * @medium: superblock that was read
 * @witness_gone, @witness_near, @witness_full: faults of the witness
 * @was_writing: a crash ended a session in a writing mode
 * @proven: the witness proves that the cache is warm
 * @has_record: the witness has a record of the cache
 * @has_moved: the state of this record is "moved"
 * @asked: 'attach' read the record
 * @claimed: a record on the witness was claimed
 * @claimed_session: session in that record
 * @superseded: a witness knows a later session
 * @named: path of the witness that the superblock names
 * @gap: the origin was written without its cache
 * @pinned_for: uuid of the cache for which the pins were restored; NULL: no pins were
 * @on_change: option --on-change of the next commands; reset() keeps it
 */
struct fake_attach {
	uint64_t state_before;
	uint64_t state_after;
	bool other_cache;
	bool old_gone;
	bool busy;
	bool wrong_origin;
	bool used;
	bool active;
	bool areas_written;
	bool super_written;
	bool recorded;
	bool held;
	const char *path_recorded;
	bool emptied;
	bool origin_gone;
	bool reconnected;
	struct nearcache_super medium;
	bool witness_gone;
	bool witness_near;
	bool witness_full;
	bool was_writing;
	bool proven;
	bool has_record;
	bool has_moved;
	bool asked;
	bool claimed;
	uint64_t claimed_session;
	bool superseded;
	const char *named;
	bool gap;
	const char *pinned_for;
	enum on_change on_change;
};

extern struct fake_attach fake_attach;

void reset(const char *params);
int attach(const char *cache, unsigned int options);

#endif /* HELPER_ATTACH_UNIT_H */
