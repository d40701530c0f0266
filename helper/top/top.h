/* SPDX-License-Identifier: GPL-2.0-only */
/* 'nearcache top': shows devices and the processes that use them, live or as lines. */
#ifndef HELPER_TOP_TOP_H
#define HELPER_TOP_TOP_H

#include "cli/options.h"

int top_run(const struct arguments *args);

#endif /* HELPER_TOP_TOP_H */
