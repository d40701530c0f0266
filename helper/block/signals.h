/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that a ^C must not leave half done. */
#ifndef HELPER_BLOCK_SIGNALS_H
#define HELPER_BLOCK_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

void signals_hold(sigset_t *before);
bool signals_waiting(const sigset_t *before);
void signals_release(const sigset_t *before);
bool signals_wait(unsigned int milliseconds);
int signals_descriptor(void);

#endif /* HELPER_BLOCK_SIGNALS_H */
