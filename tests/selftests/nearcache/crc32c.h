/* SPDX-License-Identifier: GPL-2.0-only */
/* CRC-32C, called like that of ISA-L, which the helper uses but the guest does not have. */
#ifndef NEARCACHE_TEST_CRC32C_H
#define NEARCACHE_TEST_CRC32C_H

unsigned int crc32_iscsi(unsigned char *p, int n, unsigned int crc)
{
	static unsigned int table[256];
	int i, bit;

	for (i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
	}
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc;
}

#endif /* NEARCACHE_TEST_CRC32C_H */
