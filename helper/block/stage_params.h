/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse and print the table line and the status line of the target nearcache-stage. */
#ifndef HELPER_BLOCK_STAGE_PARAMS_H
#define HELPER_BLOCK_STAGE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nearcache_stage.h"

/* Size of the text of stage_params_print() with NUL. */
#define STAGE_PARAMS_TEXT	256

/* Ranges of the options, in words. */
#define STAGE_RATE_RANGE	"0 (as fast as the origin) or 64K to 1T"
#define STAGE_ON_FULL_WORDS	"wait or writethrough"
#define STAGE_BEHIND_RANGE	"0 (no limit), 1M or more, or a time of 1s to 1d, like 10m"

/**
 * struct stage_limit - how much may be missing on the origin, before writes wait
 * @bytes: bytes; 0: no limit
 * @seconds: seconds; 0: no limit
 */
struct stage_limit {
	uint64_t bytes;
	unsigned int seconds;
};

/**
 * struct stage_params - the words behind "nearcache-stage"
 * @log: the log device
 * @origin: the origin
 * @rate: highest rate of the drain, bytes per second; 0: no limit
 * @max_behind: limit
 * @origin_timeout: writes fail when the origin has failed for this time, seconds; 0: never
 * @drop_unreadable: start even if a part of the log cannot be read
 * @on_full: what to do with writes while the log is full, 0: wait, 1: writethrough
 * @keep_retained: marked data of earlier starts is read from the log
 */
struct stage_params {
	dev_t log;
	dev_t origin;
	uint64_t rate;
	struct stage_limit max_behind;
	unsigned int origin_timeout;
	bool drop_unreadable;
	unsigned int on_full;
	bool keep_retained;
};

/**
 * struct stage_status - one status line, see NEARCACHE_STAGE_STATUS
 */
struct stage_status {
#define STAGE_STATUS_MEMBER(name)	uint64_t name;
	NEARCACHE_STAGE_STATUS(STAGE_STATUS_MEMBER)
#undef STAGE_STATUS_MEMBER
};

bool stage_params_parse(const char *text, struct stage_params *params);
const char *stage_params_print(const struct stage_params *params, char *text);
const char *stage_params_move(const char *table, dev_t origin, char *text);
const char *stage_rate_parse(const char *text, uint64_t *rate);
const char *stage_limit_parse(const char *text, struct stage_limit *limit);
bool stage_status_parse(const char *line, struct stage_status *status);
bool stage_on_full_parse(const char *text, unsigned int *on_full);
const char *stage_on_full_word(unsigned int on_full);
const char *stage_state_word(uint64_t state);
const char *stage_mode_word(uint64_t mode);
uint64_t stage_epochs_behind(const struct stage_status *status);
bool stage_all_drained(const struct stage_status *status);

#endif /* HELPER_BLOCK_STAGE_PARAMS_H */
