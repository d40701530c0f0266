/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings of a device in use. Each of @words is "NAME=VALUE". Before the other functions call
 * setting_apply(): it checks @words and returns 0, or an exit code after recording an error.
 */
#ifndef HELPER_CLI_SETTING_H
#define HELPER_CLI_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/table_params.h"

/* Names of all settings, for messages. */
#define SETTING_NAMES	"mode, fill_memory, cache_timeout, origin_timeout, verify, witness or read_ahead"

const char *setting_witness(char **words, int count);
bool setting_read_ahead(char **words, int count, uint64_t *bytes);
bool setting_is(const char *name, const char *word, size_t length);
int setting_apply(char **words, int count, struct params *params);

#endif /* HELPER_CLI_SETTING_H */
