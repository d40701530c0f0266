/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space replacements for the kernel interfaces that the pure sources of kmod/ use, for
 * the helper, the unit tests and the fuzzers.
 */
#ifndef NEARCACHE_META_FORMAT_USER_H
#define NEARCACHE_META_FORMAT_USER_H

#include <endian.h>
#include <isa-l/crc.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;

#define le16_to_cpu	le16toh
#define le32_to_cpu	le32toh
#define le64_to_cpu	le64toh
#define cpu_to_le16	htole16
#define cpu_to_le32	htole32
#define cpu_to_le64	htole64

#define max(a, b) ({			\
	__typeof__(a) _a = (a);		\
	__typeof__(b) _b = (b);		\
	_a > _b ? _a : _b;		\
})

#ifndef min
#define min(a, b) ({			\
	__typeof__(a) _a = (a);		\
	__typeof__(b) _b = (b);		\
	_a < _b ? _a : _b;		\
})
#endif

#define U32_MAX		UINT32_MAX
#define READ_ONCE(x)	(x)
#define WRITE_ONCE(x, v)	((x) = (v))

#define ilog2(n)	(63 - __builtin_clzll(n))
#define cmpxchg(at, old, new)	__sync_val_compare_and_swap(at, old, new)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline u32 crc_extend(u32 crc, const void *data, size_t bytes)
{
	/* Like the kernel, isa-l leaves both inversions to the caller.  The cast drops const. */
	return ~crc32_iscsi((unsigned char *)data, (int)bytes, ~crc);
}

#endif /* NEARCACHE_META_FORMAT_USER_H */
