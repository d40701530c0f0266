/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses LVM2 metadata: label and header of a physical volume (PV), and the text that describes the
 * volume group. The bytes are untrusted: the parsers read only what they are given.
 */
#ifndef HELPER_ONDISK_LVM_METADATA_H
#define HELPER_ONDISK_LVM_METADATA_H

#include <stddef.h>

#include "ondisk/volume_map.h"

#define LVM_SECTOR	512U
/* The label is in one of the first sectors of a PV. */
#define LVM_LABEL_SECTORS	4U
/* Bytes of a PV's id, without the dashes that the text has. */
#define LVM_ID		32U
/* Metadata areas on a PV; LVM writes at most 2. */
#define LVM_AREAS	2U
/*
 * Limits of the text: bytes, segments of all logical volumes, stripes of a segment. A volume beyond
 * them is one of lvm_group.others.
 */
#define LVM_TEXT_MAX	(8U << 20)
#define LVM_SEGMENTS_MAX	4096U
#define LVM_STRIPES_MAX	128U
/* Smallest stripe size that LVM makes, bytes. */
#define LVM_UNIT_MIN	4096U

/**
 * struct lvm_area - bytes of the PV
 * @offset: bytes from the start of the PV
 * @bytes: length
 */
struct lvm_area {
	uint64_t offset;
	uint64_t bytes;
};

/**
 * struct lvm_label - the label of a PV
 * @id: id of the PV
 * @areas: entries of @area
 * @area: the metadata areas
 */
struct lvm_label {
	char id[LVM_ID];
	unsigned int areas;
	struct lvm_area area[LVM_AREAS];
};

/**
 * struct lvm_text - place of the current metadata text
 * @part: its bytes, in order: the second part is used if the text continues at the area's start
 * @checksum: CRC of the text
 */
struct lvm_text {
	struct lvm_area part[2];
	uint32_t checksum;
};

/**
 * struct lvm_group - the logical volumes of a volume group
 * @sequence: number of the metadata's version; grows with each change
 * @volumes: entries of @volume
 * @volume: the volumes whose segments are linear or striped; @volume.below is NULL
 * @others: number of logical volumes of other kinds, or beyond the limits
 */
struct lvm_group {
	uint64_t sequence;
	unsigned int volumes;
	struct volume *volume;
	unsigned int others;
};

uint32_t lvm_checksum(const void *data, size_t bytes);
bool lvm_read_label(const unsigned char *sector, uint64_t number, struct lvm_label *label);
bool lvm_find_text(const unsigned char *header, const struct lvm_area *area,
		   struct lvm_text *text);
bool lvm_parse(const char *text, size_t bytes, const char *id, struct lvm_group *group);
void lvm_free(struct lvm_group *group);

#endif /* HELPER_ONDISK_LVM_METADATA_H */
