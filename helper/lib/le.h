/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads little-endian numbers at any alignment. */
#ifndef HELPER_LIB_LE_H
#define HELPER_LIB_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_le16(const void *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t get_le32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t get_le64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

#endif /* HELPER_LIB_LE_H */
