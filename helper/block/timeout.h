/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a device answers at all, without waiting for it for ever. */
#ifndef HELPER_BLOCK_TIMEOUT_H
#define HELPER_BLOCK_TIMEOUT_H

#include "block/device.h"

/* Seconds: longer than most networks take to find another path. */
#define ANSWER_SECONDS	30

int answer_check(const struct device *dev);

#endif /* HELPER_BLOCK_TIMEOUT_H */
