/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_SLAB_H
#define UNIT_LINUX_SLAB_H

#include <stdlib.h>

#define GFP_KERNEL	0
#define __GFP_NOWARN	0
#define __GFP_RETRY_MAYFAIL	0
#define kfree	free
#define kvfree	free
#define kvmalloc_array(n, size, flags)	((void)(flags), reallocarray(NULL, n, size))
#define kvcalloc(n, size, flags)	((void)(flags), calloc(n, size))

#endif /* UNIT_LINUX_SLAB_H */
