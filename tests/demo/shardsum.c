// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check that shards are valid tar archives, and print the manifest line of each.
 *
 *   shardsum SHARD.tar...
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "manifest.h"
#include "tar.h"

#define CHUNK	(1UL << 20)

static uint64_t chunk[CHUNK / sizeof(uint64_t)];

static void die(const char *path, const char *what)
{
	fprintf(stderr, "shardsum: '%s': %s\n", path, what);
	exit(1);
}

static void shard_print(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	EVP_MD_CTX *sha = EVP_MD_CTX_new();
	unsigned char digest[EVP_MAX_MD_SIZE];
	FILE *file = fopen(path, "rb");
	char hex[SHA256_HEX + 1];
	struct tar_check check;
	struct sum64 sum = {};
	size_t got;

	if (!file)
		die(path, strerror(errno));
	if (!sha || !EVP_DigestInit_ex(sha, EVP_sha256(), NULL))
		die(path, "no SHA-256 in libcrypto");
	tar_check_start(&check);
	while ((got = fread(chunk, 1, CHUNK, file)) > 0) {
		if (tar_check_feed(&check, chunk, got))
			die(path, check.error);
		EVP_DigestUpdate(sha, chunk, got);
		sum64_add(&sum, chunk, got);
	}
	if (ferror(file))
		die(path, strerror(errno));
	if (tar_check_end(&check))
		die(path, check.error);
	if (!check.samples)
		die(path, "no samples in it");
	EVP_DigestFinal_ex(sha, digest, NULL);
	EVP_MD_CTX_free(sha);
	fclose(file);
	sha256_hex(digest, hex);
	printf("%s %016llx %llu %llu %s\n", hex,
	       (unsigned long long)sum64_value(&sum),
	       (unsigned long long)check.offset,
	       (unsigned long long)check.samples, name);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		fprintf(stderr, "usage: shardsum SHARD.tar...\n");
		return 1;
	}
	for (i = 1; i < argc; i++)
		shard_print(argv[i]);
	return fflush(stdout) ? 1 : 0;
}
