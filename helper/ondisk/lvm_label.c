// SPDX-License-Identifier: GPL-2.0-only
/*
 * Label and metadata area header of an LVM2 physical volume. Offsets: lib/label/label.h,
 * lib/format_text/layout.h and lib/format_text/format-text.c of LVM2.
 */
#include <string.h>

#include "lib/le.h"
#include "ondisk/lvm_metadata.h"

/* The label's checksum begins behind the checksum itself; that of an area's header likewise. */
#define LABEL_CHECKED	20
#define AREA_CHECKED	4
#define AREA_MAGIC	" LVM2 x[5A%r0N*>"
#define AREA_VERSION	1
/* The place of the current text in the header of an area. */
#define AREA_TEXT	40
#define TEXT_IGNORED	1

/* CRC-32 as zlib computes it, but with LVM's initial value and without the final inversion. */
uint32_t lvm_checksum(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	uint32_t crc = 0xf597a6cf;
	unsigned int bit;

	while (bytes--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/*
 * Read a list of areas that ends with an offset of 0, from byte @at of the sector. Stores the first
 * @most areas. Returns the offset behind the list, or 0 if the list does not end in the sector.
 */
static unsigned int read_areas(const unsigned char *sector, unsigned int at,
			       struct lvm_area *area, unsigned int most, unsigned int *areas)
{
	*areas = 0;
	for (; at + 16 <= LVM_SECTOR; at += 16) {
		uint64_t offset = get_le64(sector + at);

		if (!offset)
			return at + 16;
		if (*areas < most) {
			area[*areas].offset = offset;
			area[(*areas)++].bytes = get_le64(sector + at + 8);
		}
	}
	return 0;
}

/* Parse sector @number of a device as a PV's label. Returns false if it is none. */
bool lvm_read_label(const unsigned char *sector, uint64_t number, struct lvm_label *label)
{
	uint32_t at = get_le32(sector + 20);
	unsigned int data_areas;

	memset(label, 0, sizeof(*label));
	if (memcmp(sector, "LABELONE", 8) || memcmp(sector + 24, "LVM2 001", 8) ||
	    get_le64(sector + 8) != number ||
	    get_le32(sector + 16) != lvm_checksum(sector + LABEL_CHECKED,
						  LVM_SECTOR - LABEL_CHECKED) ||
	    at < 32 || at > LVM_SECTOR - LVM_ID - 8)
		return false;
	memcpy(label->id, sector + at, LVM_ID);
	/* Behind the id and the size of the PV: a list of data areas, then one of metadata areas. */
	at = read_areas(sector, at + LVM_ID + 8, NULL, 0, &data_areas);
	return at && read_areas(sector, at, label->area, LVM_AREAS, &label->areas);
}

/* Find the current text by the header of a metadata area. False: the area has no text. */
bool lvm_find_text(const unsigned char *header, const struct lvm_area *area,
		   struct lvm_text *text)
{
	uint64_t offset = get_le64(header + AREA_TEXT);
	uint64_t bytes = get_le64(header + AREA_TEXT + 8);
	uint64_t room;

	memset(text, 0, sizeof(*text));
	if (get_le32(header) != lvm_checksum(header + AREA_CHECKED, LVM_SECTOR - AREA_CHECKED) ||
	    memcmp(header + 4, AREA_MAGIC, 16) || get_le32(header + 20) != AREA_VERSION ||
	    get_le64(header + 24) != area->offset || get_le64(header + 32) != area->bytes ||
	    get_le32(header + AREA_TEXT + 20) & TEXT_IGNORED ||
	    area->bytes > UINT64_MAX - area->offset || offset < LVM_SECTOR ||
	    offset >= area->bytes || !bytes || bytes > LVM_TEXT_MAX ||
	    bytes > area->bytes - LVM_SECTOR)
		return false;
	room = area->bytes - offset;
	text->checksum = get_le32(header + AREA_TEXT + 16);
	text->part[0].offset = area->offset + offset;
	text->part[0].bytes = bytes < room ? bytes : room;
	text->part[1].offset = area->offset + LVM_SECTOR;
	text->part[1].bytes = bytes - text->part[0].bytes;
	return true;
}
