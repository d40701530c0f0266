/* SPDX-License-Identifier: GPL-2.0-only */
/* What an identity (identity.h) proves about the volume that has it. */
#ifndef HELPER_BLOCK_VOLUME_H
#define HELPER_BLOCK_VOLUME_H

#include <stdbool.h>

bool volume_may_be_same(const char *a, const char *b);

#endif /* HELPER_BLOCK_VOLUME_H */
