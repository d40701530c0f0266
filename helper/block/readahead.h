/* SPDX-License-Identifier: GPL-2.0-only */
/* The read-ahead of a block device: for files that are opened from then on. */
#ifndef HELPER_BLOCK_READAHEAD_H
#define HELPER_BLOCK_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What is taken, in words. */
#define READAHEAD_RANGE	"0 (none) to 1G, a multiple of 4K"

bool readahead_parse(const char *text, uint64_t *bytes);
bool readahead_get(dev_t number, uint64_t *bytes);
int readahead_set(dev_t number, uint64_t bytes);

#endif /* HELPER_BLOCK_READAHEAD_H */
