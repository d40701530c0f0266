/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the users that keep a block device open. */
#ifndef HELPER_BLOCK_OPENERS_H
#define HELPER_BLOCK_OPENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool holder_describe(dev_t number, char *what, size_t size);
bool holder_process(dev_t number, char *what, size_t size);
bool holder_writing_process(dev_t number, char *what, size_t size);
int holder_count(dev_t number);
bool holder_writer(dev_t number, char *what, size_t size);

#endif /* HELPER_BLOCK_OPENERS_H */
