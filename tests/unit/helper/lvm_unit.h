/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the metadata of an LVM2 physical volume, for tests. */
#ifndef HELPER_LVM_UNIT_H
#define HELPER_LVM_UNIT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "ondisk/lvm_metadata.h"

#define LVM_UNIT_ID	"abcdefghijklmnopqrstuvwxyz012345"
#define LVM_UNIT_DASHES	"abcdef-ghij-klmn-opqr-stuv-wxyz-012345"
/* The metadata area, and the place of the text in it, in bytes. */
#define LVM_UNIT_AREA	4096
#define LVM_UNIT_ROOM	65536
#define LVM_UNIT_TEXT	512

static inline void lvm_put(unsigned char *at, uint64_t value, size_t bytes)
{
	value = htole64(value);
	memcpy(at, &value, bytes);
}

/* Write a label to sector 1 of @disk, and a metadata area with a text of @bytes at @place. */
static inline void lvm_unit_header(unsigned char *disk, const char *text, size_t bytes,
				   uint64_t place)
{
	unsigned char *label = disk + 512, *area = disk + LVM_UNIT_AREA;
	size_t room = LVM_UNIT_ROOM - place, first = bytes < room ? bytes : room;

	memset(disk, 0, LVM_UNIT_AREA + LVM_UNIT_ROOM);
	memcpy(label, "LABELONE", 8);
	lvm_put(label + 8, 1, 8);
	lvm_put(label + 20, 32, 4);
	memcpy(label + 24, "LVM2 001", 8);
	memcpy(label + 32, LVM_UNIT_ID, LVM_ID);
	lvm_put(label + 32 + 40, 1 << 20, 8);
	lvm_put(label + 32 + 72, LVM_UNIT_AREA, 8);
	lvm_put(label + 32 + 80, LVM_UNIT_ROOM, 8);
	lvm_put(label + 16, lvm_checksum(label + 20, 492), 4);
	memcpy(area + place, text, first);
	memcpy(area + 512, text + first, bytes - first);
	memcpy(area + 4, " LVM2 x[5A%r0N*>", 16);
	lvm_put(area + 20, 1, 4);
	lvm_put(area + 24, LVM_UNIT_AREA, 8);
	lvm_put(area + 32, LVM_UNIT_ROOM, 8);
	lvm_put(area + 40, place, 8);
	lvm_put(area + 48, bytes, 8);
	lvm_put(area + 56, lvm_checksum(text, bytes), 4);
	lvm_put(area, lvm_checksum(area + 4, 508), 4);
}

#endif /* HELPER_LVM_UNIT_H */
