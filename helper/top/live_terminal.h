/* SPDX-License-Identifier: GPL-2.0-only */
/* 'nearcache top' on a terminal. */
#ifndef HELPER_TOP_LIVE_TERMINAL_H
#define HELPER_TOP_LIVE_TERMINAL_H

#include "cli/options.h"

int live_run(const struct arguments *args, unsigned int interval);

#endif /* HELPER_TOP_LIVE_TERMINAL_H */
