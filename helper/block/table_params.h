/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's parameters: what a table line says behind "nearcache".  Format:
 * kmod/doc/interface.md.
 */
#ifndef HELPER_BLOCK_TABLE_PARAMS_H
#define HELPER_BLOCK_TABLE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/words.h"
#include "nearcache_format.h"

/* Room for the parameters as text. */
#define PARAMS_TEXT	768
/* Room for options that this command does not know. */
#define PARAMS_OTHERS	128

/* What the target takes for fill_memory, in words. */
#define PARAMS_FILL_MEMORY_RANGE	"1M to 1T"

/* Milliseconds: the target's own cache_timeout, and what it takes, in words. */
#define PARAMS_CACHE_TIMEOUT_DEFAULT	700U
#define PARAMS_CACHE_TIMEOUT_RANGE	"0 (never) or 100 to 600000 milliseconds"

/* What the target takes for origin_timeout, in words; its own is 0. */
#define PARAMS_ORIGIN_TIMEOUT_RANGE	"0 (the origin's own errors) to 86400 seconds"

/* What the target takes for verify, in words; its own is 0. */
#define PARAMS_VERIFY_RANGE	"0 (none) to 4294967295 hits"

/**
 * struct params - parameters, parsed
 * @mode: how writes are treated
 * @origin: the origin
 * @cache: the cache device
 * @fill_memory: bytes, 0: not given, the kernel's default
 * @cache_timeout_given: @cache_timeout is an option of the line
 * @cache_timeout: milliseconds
 * @origin_timeout_given: @origin_timeout is an option of the line
 * @origin_timeout: seconds
 * @verify_given: @verify is an option of the line
 * @verify: one of so many hits is compared with the origin
 * @witness: the witness device, 0: none
 * @member: cache devices behind the first
 * @members: how many of them
 * @others: options of a newer kernel, kept as they are: " name value"...
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
