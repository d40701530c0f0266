/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_BITOPS_H
#define UNIT_LINUX_BITOPS_H

#define hweight32	__builtin_popcount

/* The number of the last bit that is set, from 1; 0: none is. */
static inline int fls64(unsigned long long n)
{
	return n ? 64 - __builtin_clzll(n) : 0;
}

#endif /* UNIT_LINUX_BITOPS_H */
