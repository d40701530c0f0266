/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recovery of a stage from images of its log and origin, written from kmod/doc/stage.md and
 * uapi/nearcache_stage.h alone: it shares no code with kmod/stage/.
 */
#ifndef NEARCACHE_CRASH_RECOVERY_H
#define NEARCACHE_CRASH_RECOVERY_H

#include "state.h"

/**
 * struct recovered_log - result of log_recover()
 * @why: why recovery ends with an error, or NULL
 * @committed: number of the newest committed epoch; 0: none
 * @drained: newest marked epoch
 * @epochs: epochs that were put to the origin
 * @dropped: the last commit was a checked one, and its data was not there
 * @retained: sectors that only marked epochs of the log have
 * @differs: of these, sectors that the origin does not have
 */
struct recovered_log {
	const char *why;
	uint64_t committed, drained, epochs, retained, differs;
	bool dropped;
};

void log_recover(struct state *s, uint64_t origin_sectors, uint64_t log_sector,
		 uint64_t log_sectors, struct recovered_log *out);

/**
 * struct watched_log - state of a log according to its completed writes
 * @committed: newest epoch whose commit is complete
 * @unflushed: newest epoch that a completed descriptor commits, which may need a flush
 * @drained: newest epoch whose mark is complete
 * @salt, @uuid: of the superblock
 */
struct watched_log {
	uint64_t committed, unflushed, drained, salt;
	unsigned char uuid[16];
};

void log_watch(struct watched_log *w, const struct log_entry *e, uint64_t origin_sectors);

#endif /* NEARCACHE_CRASH_RECOVERY_H */
