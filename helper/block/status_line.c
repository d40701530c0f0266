// SPDX-License-Identifier: GPL-2.0-only
#include "block/status_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/enum_words.h"

#define ROW(symbol, name, unit, help) { name, unit, help },

const struct status_row status_field_row[] = {
	NEARCACHE_STATUS_FIELDS(ROW)
};

const struct status_row status_counter_row[] = {
	NEARCACHE_COUNTERS(ROW)
};

#undef ROW

/* Parse the number at *@line and move *@line behind it. @name: what the error text calls it. */
static bool next_number(const char **line, uint64_t *value, const char *name,
			char *why)
{
	char *end;

	while (isspace((unsigned char)**line))
		(*line)++;
	if (!**line) {
		snprintf(why, STATUS_WHY,
			 "it ends before '%s': the kernel module is older than this command",
			 name);
		return false;
	}
	errno = 0;
	*value = strtoull(*line, &end, 10);
	if (!isdigit((unsigned char)**line) || errno ||
	    (*end && !isspace((unsigned char)*end))) {
		snprintf(why, STATUS_WHY, "'%.32s' is not a valid value for '%s'", *line,
			 name);
		return false;
	}
	*line = end;
	return true;
}

/*
 * Parse a status line without the target's name. Ignores numbers after the known ones: they are of
 * a newer kernel module. Returns false, with the reason in @why (STATUS_WHY bytes), if a known
 * number is missing or wrong, or if the line has another version.
 */
bool status_parse(const char *line, struct status *status, char *why)
{
	unsigned int i;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++)
		if (!next_number(&line, &status->field[i],
				 status_field_row[i].name, why))
			return false;
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		if (!next_number(&line, &status->counter[i],
				 status_counter_row[i].name, why))
			return false;
	if (status->field[NEARCACHE_FIELD_STATUS_VERSION] !=
	    NEARCACHE_STATUS_VERSION_NOW) {
		snprintf(why, STATUS_WHY,
			 "status_version is %llu, this command reads %d",
			 (unsigned long long)
			 status->field[NEARCACHE_FIELD_STATUS_VERSION],
			 NEARCACHE_STATUS_VERSION_NOW);
		return false;
	}
	return true;
}

static const char *const integrity_word[] = {
	[NEARCACHE_INTEGRITY_NONE] = "none",
	[NEARCACHE_INTEGRITY_CRC32C] = "crc32c",
};

bool status_integrity_parse(const char *text, enum nearcache_integrity *integrity)
{
	unsigned int i;

	for (i = 0; i < sizeof(integrity_word) / sizeof(integrity_word[0]); i++)
		if (!strcmp(text, integrity_word[i])) {
			*integrity = i;
			return true;
		}
	return false;
}

/*
 * Return the word for the value of an enum field: MODE, STATE, REASON, LOADED, INTEGRITY or
 * WITNESS. Returns "unknown" for a value of a newer kernel module, NULL if @field is not an enum.
 */
const char *status_word(enum nearcache_status_field field, uint64_t value)
{
	static const char *const state[] = {
		[NEARCACHE_NORMAL] = "normal",
		[NEARCACHE_BYPASS] = "bypass",
		[NEARCACHE_NOT_LOADED] = "not-loaded",
		[NEARCACHE_DEGRADED] = "degraded",
	};
	static const char *const reason[] = {
		[NEARCACHE_REASON_NONE] = "none",
		[NEARCACHE_REASON_ERRORS] = "errors",
		[NEARCACHE_REASON_READ_METADATA] = "read-metadata",
		[NEARCACHE_REASON_WRITE_TABLE] = "write-table",
		[NEARCACHE_REASON_WRITE_SUPER] = "write-super",
		[NEARCACHE_REASON_SLOW] = "slow",
		[NEARCACHE_REASON_DIFFERS] = "differs",
		[NEARCACHE_REASON_WRITE_INTENT] = "write-intent",
	};
	static const char *const loaded[] = {
		[NEARCACHE_LOADED_NOT] = "not",
		[NEARCACHE_LOADED_NEW] = "new",
		[NEARCACHE_LOADED_WARM] = "warm",
		[NEARCACHE_LOADED_UNCLEAN] = "unclean",
		[NEARCACHE_LOADED_DAMAGED] = "damaged",
		[NEARCACHE_LOADED_RECOVERED] = "recovered",
	};
	static const char *const witness[] = {
		[NEARCACHE_WITNESS_NONE] = "none",
		[NEARCACHE_WITNESS_WARM] = "warm",
		[NEARCACHE_WITNESS_COLD] = "cold",
	};
#define WORD(words) (value < sizeof(words) / sizeof((words)[0]) ? \
		     (words)[value] : "unknown")
	switch (field) {
	case NEARCACHE_FIELD_MODE:
		return mode_word(value);
	case NEARCACHE_FIELD_STATE:
		return WORD(state);
	case NEARCACHE_FIELD_REASON:
		return WORD(reason);
	case NEARCACHE_FIELD_LOADED:
		return WORD(loaded);
	case NEARCACHE_FIELD_INTEGRITY:
		return WORD(integrity_word);
	case NEARCACHE_FIELD_WITNESS:
		return WORD(witness);
	default:
		return NULL;
	}
#undef WORD
}

/* Return the reason, for people, why the cache device is not used; NULL if it is in use. */
const char *status_explain(const struct status *status)
{
	uint64_t state = status->field[NEARCACHE_FIELD_STATE];

	if (state == NEARCACHE_DEGRADED)
		return "the cache device does not answer: all reads go to the origin until it has completed all requests and has stayed without errors for a while";
	if (state != NEARCACHE_BYPASS)
		return NULL;
	switch (status->field[NEARCACHE_FIELD_REASON]) {
	case NEARCACHE_REASON_ERRORS:
		return "too many I/O errors of the cache device";
	case NEARCACHE_REASON_READ_METADATA:
		return "the superblock or the slot table cannot be read";
	case NEARCACHE_REASON_WRITE_TABLE:
		return "the slot table cannot be written";
	case NEARCACHE_REASON_WRITE_SUPER:
		return "the superblock cannot be written";
	case NEARCACHE_REASON_DIFFERS:
		return "cached data often differed from the origin: the cache device is damaged, or others write to the origin";
	case NEARCACHE_REASON_WRITE_INTENT:
		return "the cache device could not record the write intent";
	case NEARCACHE_REASON_SLOW:
		return "the cache device timed out too often";
	default:
		return "the kernel log (dmesg) says why";
	}
}

/*
 * Return text for people: how much of the cache would survive a crash now. Return NULL in read-only
 * mode, in which a crash loses only the fills of the last seconds.
 */
const char *status_crash(const struct status *status)
{
	if (!mode_writes(status->field[NEARCACHE_FIELD_MODE]))
		return NULL;
	if (status->field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS)
		return "would leave nothing cached";
	switch (status->field[NEARCACHE_FIELD_WITNESS]) {
	case NEARCACHE_WITNESS_WARM:
		return "would leave it warm, except for the latest writes and fills";
	case NEARCACHE_WITNESS_COLD:
		return "would leave nothing cached: the witness has no record, or the cache device missed a write; 'nearcache set' with the same witness tries again";
	default:
		return "would leave nothing cached: there is no witness";
	}
}

/*
 * Return the bytes read through the device since its dm table was loaded: hits, misses, joins and
 * bypasses. Their sum is the denominator of the hit ratio.
 */
uint64_t status_read_bytes(const struct status *status)
{
	return status->counter[NEARCACHE_COUNTER_HIT_BYTES] +
	       status->counter[NEARCACHE_COUNTER_MISS_BYTES] +
	       status->counter[NEARCACHE_COUNTER_JOIN_BYTES] +
	       status->counter[NEARCACHE_COUNTER_BYPASS_BYTES];
}
