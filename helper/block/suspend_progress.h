/* SPDX-License-Identifier: GPL-2.0-only */
/* Tell the user what the suspend of a device waits for. */
#ifndef HELPER_BLOCK_SUSPEND_PROGRESS_H
#define HELPER_BLOCK_SUSPEND_PROGRESS_H

#include <stdbool.h>
#include <sys/types.h>

void suspend_progress_prepare(dev_t number);
void suspend_progress_start(const char *name, bool freezes);
void suspend_progress_end(void);

#endif /* HELPER_BLOCK_SUSPEND_PROGRESS_H */
