/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse and print the parameters of the nearcache target: the words after "nearcache" in a line
 * of a dm table, see kmod/doc/interface.md.
 */
#ifndef HELPER_BLOCK_TABLE_PARAMS_H
#define HELPER_BLOCK_TABLE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/enum_words.h"
#include "nearcache_format.h"

/* Size of the text of params_print() with NUL. */
#define PARAMS_TEXT	768
/* Size of params.others with NUL. */
#define PARAMS_OTHERS	128

/* Lowest cap of fill memory if the option is not given, bytes; as in the kernel. */
#define PARAMS_FILL_MEMORY_LEAST	(64ULL << 20)
/* Range of fill_memory, in words. */
#define PARAMS_FILL_MEMORY_RANGE	"1M to 1T"

/* cache_timeout: the target's default in milliseconds, and its range in words. */
#define PARAMS_CACHE_TIMEOUT_DEFAULT	700U
#define PARAMS_CACHE_TIMEOUT_RANGE	"0 (never) or 100 to 600000 milliseconds"

/* Range of origin_timeout, in words. The target's default is 0. */
#define PARAMS_ORIGIN_TIMEOUT_RANGE	"0 (the origin's own errors) to 86400 seconds"

/* Range of verify, in words. The target's default is 0. */
#define PARAMS_VERIFY_RANGE	"0 (none) to 4294967295 hits"

/**
 * struct params - the parameters of one line of a dm table
 * @mode: writing mode
 * @origin: the origin
 * @cache: the first cache device
 * @fill_memory: bytes, 0: not given, the kernel chooses the cap
 * @cache_timeout_given: @cache_timeout is an option of the line
 * @cache_timeout: milliseconds
 * @origin_timeout_given: @origin_timeout is an option of the line
 * @origin_timeout: seconds
 * @verify_given: @verify is an option of the line
 * @verify: one of @verify hits is compared with the origin, 0: none
 * @witness: the witness device, 0: none
 * @member: cache devices after the first
 * @members: entries of @member
 * @others: options that only a newer kernel module has, unchanged: " name value"...
 * @other_words: words in @others
 */
struct params {
	enum nearcache_mode mode;
	dev_t origin;
	dev_t cache;
	uint64_t fill_memory;
	bool cache_timeout_given;
	unsigned int cache_timeout;
	bool origin_timeout_given;
	unsigned int origin_timeout;
	bool verify_given;
	unsigned int verify;
	dev_t witness;
	dev_t member[NEARCACHE_MEMBERS_MAX - 1];
	unsigned int members;
	char others[PARAMS_OTHERS];
	unsigned int other_words;
};

bool params_parse(const char *text, struct params *params);
const char *params_print(const struct params *params, char *text);
bool params_same_members(const struct params *a, const struct params *b);
bool params_same(const char *a, const char *b);
bool params_fill_memory_ok(uint64_t bytes);
bool params_cache_timeout_parse(const char *text, unsigned int *ms);
bool params_origin_timeout_parse(const char *text, unsigned int *seconds);
bool params_verify_parse(const char *text, unsigned int *hits);
unsigned int params_cache_timeout(const struct params *params);

#endif /* HELPER_BLOCK_TABLE_PARAMS_H */
