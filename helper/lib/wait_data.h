/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_LIB_WAIT_DATA_H
#define HELPER_LIB_WAIT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

bool wait_data(int fd, uint64_t milliseconds);
ssize_t read_again(int fd, void *buffer, size_t size);

#endif /* HELPER_LIB_WAIT_DATA_H */
