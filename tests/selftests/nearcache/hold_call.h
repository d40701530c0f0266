/* SPDX-License-Identifier: GPL-2.0-only */
/* What hold_call.c and hold_call.bpf.c share: the value of the map "holds". */
#ifndef HOLD_CALL_H
#define HOLD_CALL_H

#include <linux/types.h>

/**
 * struct hold - a call of a kernel function that waits
 * @held: a call waits
 * @released: the call may go on
 * @late: the call went on by itself, after HOLD_TIME
 */
struct hold {
	__u32 held;
	__u32 released;
	__u32 late;
};

/* Nanoseconds: less than the time after which the kernel reports a processor that is stuck. */
#define HOLD_TIME	12000000000ULL

#endif /* HOLD_CALL_H */
