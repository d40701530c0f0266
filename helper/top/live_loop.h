/* SPDX-License-Identifier: GPL-2.0-only */
/* The live view of 'nearcache top': draws each sample on the terminal, and handles keys. */
#ifndef HELPER_TOP_LIVE_LOOP_H
#define HELPER_TOP_LIVE_LOOP_H

#include "cli/options.h"

int live_run(const struct arguments *args, unsigned int interval);

#endif /* HELPER_TOP_LIVE_LOOP_H */
