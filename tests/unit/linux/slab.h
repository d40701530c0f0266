/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_SLAB_H
#define UNIT_LINUX_SLAB_H

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

/* Allocations that succeed before one fails (once); -1: none fails. */
__attribute__((weak)) int unit_allocations = -1;

static inline bool unit_memory_fails(void)
{
	return unit_allocations >= 0 && !unit_allocations--;
}

/* Bytes allocated now, and the most so far. */
__attribute__((weak)) size_t unit_memory, unit_memory_most;

static inline void *unit_allocated(void *memory)
{
	unit_memory += malloc_usable_size(memory);
	if (unit_memory > unit_memory_most)
		unit_memory_most = unit_memory;
	return memory;
}

static inline void unit_free(void *memory)
{
	unit_memory -= malloc_usable_size(memory);
	free(memory);
}

#define GFP_KERNEL	0
#define __GFP_NOWARN	0
#define __GFP_RETRY_MAYFAIL	0
#define kfree	unit_free
#define kzalloc(size, flags)	kvcalloc(1, size, flags)
#define kvfree	unit_free
#define kvmalloc_array(n, size, flags) \
	((void)(flags), unit_memory_fails() ? NULL : unit_allocated(reallocarray(NULL, n, size)))
#define kvcalloc(n, size, flags) \
	((void)(flags), unit_memory_fails() ? NULL : unit_allocated(calloc(n, size)))

#endif /* UNIT_LINUX_SLAB_H */
