/* SPDX-License-Identifier: GPL-2.0-only */
/* A short proof that an origin's content is the one cached. */
#ifndef HELPER_FINGERPRINT_H
#define HELPER_FINGERPRINT_H

#include "device.h"

#define FINGERPRINT_SIZE	32

int fingerprint_ends(const struct device *dev, uint64_t size,
		     unsigned char *digest);

#endif /* HELPER_FINGERPRINT_H */
