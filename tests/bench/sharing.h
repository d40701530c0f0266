/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a program in the guest sends bytes to the plugin sharing.c: by a load that no other program
 * has, from place BYTE * SHARING_STEP of a table.  The first byte is 0.
 */
#ifndef NEARCACHE_BENCH_SHARING_H
#define NEARCACHE_BENCH_SHARING_H

#include <stdint.h>

#define SHARING_STEP	64
#define SHARING_END	4	/* the last byte of a program */

/* movb 0x6e636163(%rdi), %al */
#define SHARING_OFFSET	0x6e636163
static const uint8_t sharing_load[] = { 0x8a, 0x87, 0x63, 0x61, 0x63, 0x6e };

#endif /* NEARCACHE_BENCH_SHARING_H */
