/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_BLOCK_DEVICE_AGE_H
#define HELPER_BLOCK_DEVICE_AGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

bool device_age(dev_t number, uint64_t now, uint64_t *age);

#endif /* HELPER_BLOCK_DEVICE_AGE_H */
