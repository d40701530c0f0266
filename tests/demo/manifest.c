// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"

static void die(const char *path, const char *what)
{
	fprintf(stderr, "manifest '%s': %s\n", path, what);
	exit(1);
}

static int shard_parse(struct shard *shard, const char *line)
{
	unsigned long long sum, bytes, samples;

	if (sscanf(line, "%64[0-9a-f] %16llx %llu %llu %255[^\n]",
		   shard->sha256, &sum, &bytes, &samples, shard->name) != 5)
		return -1;
	shard->sum = sum;
	shard->bytes = bytes;
	shard->samples = samples;
	return strlen(shard->sha256) == SHA256_HEX ? 0 : -1;
}

void manifest_read(struct manifest *manifest, const char *path)
{
	FILE *file = fopen(path, "r");
	struct shard *shard;
	char line[1024];

	if (!file)
		die(path, strerror(errno));
	memset(manifest, 0, sizeof(*manifest));
	while (fgets(line, sizeof(line), file)) {
		manifest->shards = realloc(manifest->shards,
					   (manifest->count + 1) *
					   sizeof(*manifest->shards));
		if (!manifest->shards)
			die(path, "no memory");
		shard = &manifest->shards[manifest->count];
		if (shard_parse(shard, line))
			die(path, "malformed line");
		manifest->count++;
		manifest->bytes += shard->bytes;
		manifest->samples += shard->samples;
	}
	fclose(file);
	if (!manifest->count)
		die(path, "no shards");
}

void sha256_hex(const unsigned char *digest, char *hex)
{
	int i;

	for (i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}
