/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_VMALLOC_H
#define UNIT_LINUX_VMALLOC_H

#include <errno.h>
#include <stdlib.h>

#define vmalloc	malloc
#define vfree	free

#endif /* UNIT_LINUX_VMALLOC_H */
