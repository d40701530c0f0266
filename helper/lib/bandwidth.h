/* SPDX-License-Identifier: GPL-2.0-only */
/* How much in a second, as networks and drives have it: in bits, or in bytes. */
#ifndef HELPER_LIB_BANDWIDTH_H
#define HELPER_LIB_BANDWIDTH_H

#include <stdint.h>

const char *bandwidth_parse(const char *text, uint64_t *bytes);

#endif /* HELPER_LIB_BANDWIDTH_H */
