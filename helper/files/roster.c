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

/**
 * roster_sort() - put shards into the order that all nodes find
 * @shards: all of them, in any order
 * @order: indices of @shards; sorted by name, byte by byte: no locale has a say
 * @count: how many
 */
void roster_sort(const struct shards *shards, size_t *order, size_t count)
{
	qsort_r(order, count, sizeof(*order), by_name, shards->shard);
}

/* As zlib has it. */
static uint32_t add(uint32_t crc, const char *text, size_t bytes)
{
	return crc32_gzip_refl(crc, (const unsigned char *)text, bytes);
}

/**
 * roster_checksum() - what nodes compare, to see that they share out the same list
 * @shards: all of them
 * @order: indices of @shards, from roster_sort()
 * @count: how many
 *
 * Part of the interface: nodes with other releases, and other programs, find the same.
 *
 * Return: CRC-32, as zlib and gzip have it, of "NAME\0BYTES\n" of each shard.
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
