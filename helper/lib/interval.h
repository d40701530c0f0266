/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for times at a constant interval. */
#ifndef HELPER_LIB_INTERVAL_H
#define HELPER_LIB_INTERVAL_H

#include <stdint.h>

/* @next is the next time, monotonic clock, ns; @interval is in ns. */
struct watch {
	uint64_t interval;
	uint64_t next;
};

uint64_t watch_now(void);
void watch_start(struct watch *watch, uint64_t interval);
uint64_t watch_after(uint64_t last, uint64_t now, uint64_t interval);
void watch_wait(struct watch *watch);

#endif /* HELPER_LIB_INTERVAL_H */
