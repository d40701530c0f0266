/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for points of time that are a constant interval apart. */
#ifndef HELPER_LIB_PERIODIC_WAIT_H
#define HELPER_LIB_PERIODIC_WAIT_H

#include <stdint.h>

/* @interval: ns. @next: end of the last or present wait, monotonic clock, ns. */
struct watch {
	uint64_t interval;
	uint64_t next;
};

uint64_t watch_now(void);
void watch_start(struct watch *watch, uint64_t interval);
uint64_t watch_after(uint64_t last, uint64_t now, uint64_t interval);
void watch_wait(struct watch *watch);

#endif /* HELPER_LIB_PERIODIC_WAIT_H */
