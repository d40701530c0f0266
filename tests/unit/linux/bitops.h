/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_BITOPS_H
#define UNIT_LINUX_BITOPS_H

#define hweight32	__builtin_popcount
#define hweight64	__builtin_popcountll
#define __ffs64		__builtin_ctzll

/* Position of the highest set bit, from 1; 0 if none is set. */
static inline int fls64(unsigned long long n)
{
	return n ? 64 - __builtin_clzll(n) : 0;
}

#endif /* UNIT_LINUX_BITOPS_H */
