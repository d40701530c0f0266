/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_CACHE_H
#define UNIT_LINUX_CACHE_H

#define ____cacheline_aligned	__attribute__((aligned(64)))
#define ____cacheline_aligned_in_smp	__attribute__((aligned(64)))

#endif /* UNIT_LINUX_CACHE_H */
