/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse the status line of the nearcache target, and put its values into words. */
#ifndef HELPER_BLOCK_STATUS_LINE_H
#define HELPER_BLOCK_STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "nearcache_counters.h"

/* Size of a reason with NUL. */
#define STATUS_WHY	160

/**
 * struct status - one status line
 * @field: by enum nearcache_status_field
 * @counter: by enum nearcache_counter
 */
struct status {
	uint64_t field[NEARCACHE_STATUS_FIELD_COUNT];
	uint64_t counter[NEARCACHE_COUNTER_COUNT];
};

/**
 * struct status_row - name and unit of a number in the line
 * @name: key in JSON and word in text
 * @unit: "bytes", "reads" ...; "enum" for a word, "" for none
 * @help: explanation, one line
 */
struct status_row {
	const char *name;
	const char *unit;
	const char *help;
};

extern const struct status_row status_field_row[];
extern const struct status_row status_counter_row[];

bool status_parse(const char *line, struct status *status, char *why);
bool status_integrity_parse(const char *text,
			    enum nearcache_integrity *integrity);
const char *status_word(enum nearcache_status_field field, uint64_t value);
const char *status_explain(const struct status *status);
const char *status_crash(const struct status *status);
uint64_t status_read_bytes(const struct status *status);

#endif /* HELPER_BLOCK_STATUS_LINE_H */
