/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_SLAB_H
#define UNIT_LINUX_SLAB_H

#include <stdbool.h>
#include <stdlib.h>

/* Allocations that succeed before one fails (once); -1: none fails. */
__attribute__((weak)) int unit_allocations = -1;

static inline bool unit_memory_fails(void)
{
	return unit_allocations >= 0 && !unit_allocations--;
}

#define GFP_KERNEL	0
#define __GFP_NOWARN	0
#define __GFP_RETRY_MAYFAIL	0
#define kfree	free
#define kzalloc(size, flags)	kvcalloc(1, size, flags)
#define kvfree	free
#define kvmalloc_array(n, size, flags) \
	((void)(flags), unit_memory_fails() ? NULL : reallocarray(NULL, n, size))
#define kvcalloc(n, size, flags) \
	((void)(flags), unit_memory_fails() ? NULL : calloc(n, size))

#endif /* UNIT_LINUX_SLAB_H */
