/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_LOG2_H
#define UNIT_LINUX_LOG2_H

#define ilog2(n)	(63 - __builtin_clzll(n))

#endif /* UNIT_LINUX_LOG2_H */
