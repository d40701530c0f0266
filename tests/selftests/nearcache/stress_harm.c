// SPDX-License-Identifier: GPL-2.0-only
/*
 * Corrupt a sector after each write of 'stress', until killed; 'stress' must notice.
 *
 *	stress_harm DEV stale|torn|moved|flip SECTOR
 *
 * stale: restore the previous content. torn: restore half of the previous content. moved: write the
 * previous content to the next sector. flip: invert one bit of the new content.
 */
#include "device.h"
#include "stress_sector.h"

int main(int argc, char **argv)
{
	struct stress_sector *old = aligned_room(2 * SECTOR), *now = old + 1;
	uint64_t sector;
	const char *kind;
	int fd;

	if (argc != 4)
		return 2;
	fd = device_open(argv[1], O_RDWR | O_DIRECT);
	kind = argv[2];
	sector = strtoull(argv[3], NULL, 0);
	/* Repeat, because a later write of 'stress' repairs the sector. */
	for (;;) {
		read_exactly(fd, old, SECTOR, sector * SECTOR);
		do
			read_exactly(fd, now, SECTOR, sector * SECTOR);
		while (!memcmp(old, now, SECTOR) || sector_zero(now));
		if (!strcmp(kind, "torn"))
			memcpy(&old->filler[30], &now->filler[30], 240);
		else if (!strcmp(kind, "flip"))
			((unsigned char *)memcpy(old, now, SECTOR))[300] ^= 4;
		write_exactly(fd, old, SECTOR,
			      (sector + !strcmp(kind, "moved")) * SECTOR);
	}
}
