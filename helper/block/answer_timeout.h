/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test whether a device answers, with a time limit.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_ANSWER_TIMEOUT_H
#define HELPER_BLOCK_ANSWER_TIMEOUT_H

#include "block/device.h"

/* Time limit of answer_check(), longer than most networks need to fail over to another path. */
#define ANSWER_SECONDS	30

int answer_check(const struct device *dev);

#endif /* HELPER_BLOCK_ANSWER_TIMEOUT_H */
