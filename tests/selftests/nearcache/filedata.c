// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write files of self-describing sectors, or read them with O_DIRECT and check each byte.
 *
 *	filedata write BYTES STEP FILE...	BYTES in the first file, STEP more in each next
 *	filedata read FILE...			prints the number of bytes read
 *
 * Lengths are multiples of 4096.  The content of a file depends on its name without folders, so
 * "read" detects data of another file.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "device.h"
#include "sector.h"

#define CHUNK	(1U << 20)

/* Number of the first sector in the file: FNV-1a of the name, above the bits of sector numbers. */
static uint64_t first_sector(const char *path)
{
	const char *c = strrchr(path, '/');
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (c = c ? c + 1 : path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3ULL;
	return hash << 20;
}

static void write_file(const char *path, void *buffer, uint64_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	uint64_t at, i, n, first = first_sector(path);
	struct sector *sector = buffer;

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	for (at = 0; at < bytes; at += n) {
		n = bytes - at < CHUNK ? bytes - at : CHUNK;
		for (i = 0; i < n / SECTOR; i++)
			sector_make(&sector[i], first + at / SECTOR + i, 1);
		write_exactly(fd, buffer, n, at);
	}
	if (close(fd)) {
		perror(path);
		exit(1);
	}
}

static uint64_t read_file(const char *path, void *buffer)
{
	int fd = device_open(path, O_RDONLY | O_DIRECT);
	uint64_t at, n, first = first_sector(path);
	struct stat st;

	if (fstat(fd, &st)) {
		perror(path);
		exit(1);
	}
	for (at = 0; at < st.st_size; at += n) {
		n = st.st_size - at < CHUNK ? st.st_size - at : CHUNK;
		read_exactly(fd, buffer, n, at);
		if (!sectors_good(buffer, first + at / SECTOR, n / SECTOR, 1)) {
			printf("%s, byte %llu: wrong data\n", path, (unsigned long long)at);
			exit(1);
		}
	}
	close(fd);
	return st.st_size;
}

int main(int argc, char **argv)
{
	void *buffer = aligned_room(CHUNK);
	uint64_t bytes = 0;
	int i;

	if (argc > 4 && !strcmp(argv[1], "write")) {
		for (i = 4; i < argc; i++)
			write_file(argv[i], buffer, atoll(argv[2]) + (i - 4) * atoll(argv[3]));
	} else if (argc > 2 && !strcmp(argv[1], "read")) {
		for (i = 2; i < argc; i++)
			bytes += read_file(argv[i], buffer);
		printf("%llu\n", (unsigned long long)bytes);
	} else {
		fprintf(stderr, "usage: filedata write BYTES STEP FILE... | read FILE...\n");
		return 1;
	}
	return 0;
}
