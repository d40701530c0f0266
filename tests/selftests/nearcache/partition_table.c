// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a partition table.
 *   usage: partition_table gpt|mbr DEV START SECTORS...
 * START and SECTORS, in sectors of 512 bytes, describe one partition after the other. No backup GPT
 * is written: the primary one suffices.
 */
#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR	512
#define ENTRIES	128
#define ENTRY	128

static unsigned char table[2 * SECTOR + ENTRIES * ENTRY];

static void put(size_t at, uint64_t value, size_t bytes)
{
	value = htole64(value);
	memcpy(table + at, &value, bytes);
}

static uint32_t crc32(const unsigned char *at, size_t bytes)
{
	uint32_t crc = ~0U;
	int bit;

	while (bytes--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void put_mbr(unsigned int i, int type, uint64_t start, uint64_t sectors)
{
	put(446 + 16 * i + 4, type, 1);
	put(446 + 16 * i + 8, start, 4);
	put(446 + 16 * i + 12, sectors, 4);
	put(510, 0xaa55, 2);
}

/* Type "Linux file system", and a UUID that has the partition's number. */
static void put_gpt(unsigned int i, uint64_t start, uint64_t sectors)
{
	static const unsigned char linux_data[] = {
		0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47,
		0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4,
	};
	size_t at = 2 * SECTOR + ENTRY * i;

	memcpy(table + at, linux_data, sizeof(linux_data));
	put(at + 16, 0x1000 + i, 8);
	put(at + 32, start, 8);
	put(at + 40, start + sectors - 1, 8);
}

static void end_gpt(uint64_t sectors)
{
	unsigned char *header = table + SECTOR;

	put_mbr(0, 0xee, 1, sectors - 1);
	memcpy(header, "EFI PART\0\0\1\0\x5c\0\0\0", 16);
	put(SECTOR + 24, 1, 8);
	put(SECTOR + 32, sectors - 1, 8);
	put(SECTOR + 40, 34, 8);
	put(SECTOR + 48, sectors - 34, 8);
	put(SECTOR + 56, 0x2222, 8);
	put(SECTOR + 72, 2, 8);
	put(SECTOR + 80, ENTRIES, 4);
	put(SECTOR + 84, ENTRY, 4);
	put(SECTOR + 88, crc32(table + 2 * SECTOR, ENTRIES * ENTRY), 4);
	put(SECTOR + 16, crc32(header, 92), 4);
}

int main(int argc, char **argv)
{
	int gpt = argc > 4 && !strcmp(argv[1], "gpt");
	size_t bytes = gpt ? sizeof(table) : SECTOR;
	int i, fd;

	if (argc < 5 || argc % 2 == 0) {
		fprintf(stderr, "usage: partition_table gpt|mbr DEV START SECTORS...\n");
		return 1;
	}
	fd = open(argv[2], O_RDWR);
	for (i = 3; i < argc; i += 2) {
		uint64_t start = strtoull(argv[i], NULL, 10);
		uint64_t sectors = strtoull(argv[i + 1], NULL, 10);

		if (gpt)
			put_gpt((i - 3) / 2, start, sectors);
		else
			put_mbr((i - 3) / 2, 0x83, start, sectors);
	}
	if (gpt)
		end_gpt((uint64_t)lseek(fd, 0, SEEK_END) / SECTOR);
	else
		put(440, 0x12345678, 4);
	if (fd < 0 || pwrite(fd, table, bytes, 0) != (ssize_t)bytes || fsync(fd)) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
