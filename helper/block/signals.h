/* SPDX-License-Identifier: GPL-2.0-only */
/* Hold back signals during work that a ^C must not interrupt. */
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
