/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The read-ahead of a block device. A change applies to files opened afterwards.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_READAHEAD_H
#define HELPER_BLOCK_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Values that readahead_parse() accepts, for messages. */
#define READAHEAD_RANGE	"0 (none) to 1G, a multiple of 4K"

bool readahead_parse(const char *text, uint64_t *bytes);
bool readahead_get(dev_t number, uint64_t *bytes);
int readahead_set(dev_t number, uint64_t bytes);

#endif /* HELPER_BLOCK_READAHEAD_H */
