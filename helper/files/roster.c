// SPDX-License-Identifier: GPL-2.0-only
#include "files/roster.h"

#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b, void *arg)
{
	const struct shard *shard = arg;

	return strcmp(shard[*(const size_t *)a].name,
		      shard[*(const size_t *)b].name);
}

/* Sorts @order (indices of @shards) by name, byte by byte, so that no locale changes the order. */
void roster_sort(const struct shards *shards, size_t *order, size_t count)
{
	qsort_r(order, count, sizeof(*order), by_name, shards->shard);
}

/* CRC-32 of zlib. */
static uint32_t add(uint32_t crc, const char *text, size_t bytes)
{
	return crc32_gzip_refl(crc, (const unsigned char *)text, bytes);
}

/*
 * Nodes compare this checksum to verify that they divide the same list: CRC-32, as in zlib and
 * gzip, of "NAME\0BYTES\n" of each shard in @order, after roster_sort(). This is part of the
 * interface: other releases and other programs must compute the same value.
 */
uint32_t roster_checksum(const struct shards *shards, const size_t *order,
			 size_t count)
{
	char bytes[24];
	uint32_t crc = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct shard *shard = &shards->shard[order[i]];
		int length = snprintf(bytes, sizeof(bytes), "%llu\n",
				      (unsigned long long)shard->bytes);

		crc = add(crc, shard->name, strlen(shard->name) + 1);
		crc = add(crc, bytes, (size_t)length);
	}
	return crc;
}
