/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_SLAB_H
#define UNIT_LINUX_SLAB_H

#include <stdlib.h>

#define kfree	free
#define kvfree	free

#endif /* UNIT_LINUX_SLAB_H */
