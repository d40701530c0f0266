/* SPDX-License-Identifier: GPL-2.0-only */
/* The main loop of nearcached, which adapts settings to how devices are read. */
#ifndef HELPER_DAEMON_DAEMON_H
#define HELPER_DAEMON_DAEMON_H

#include "cli/options.h"

int daemon_run(const struct arguments *args);

#endif /* HELPER_DAEMON_DAEMON_H */
