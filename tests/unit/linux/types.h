/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's short type names in user space. */
#ifndef UNIT_LINUX_TYPES_H
#define UNIT_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define min(a, b) \
	({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })

struct list_head {
	struct list_head *next, *prev;
};

#endif /* UNIT_LINUX_TYPES_H */
