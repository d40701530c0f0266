// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fingerprint of an LVM2 physical volume: hashes its label and the current metadata text, which has
 * the number of the last change, then the content of the logical volumes.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "ondisk/fingerprint_fs.h"
#include "ondisk/lvm_metadata.h"

#define PART	65536U

/* Find the label. The first one counts, as for LVM. */
static bool find_label(struct fsprint *print, struct lvm_label *label)
{
	unsigned int i;

	for (i = 0; i < LVM_LABEL_SECTORS; i++) {
		const void *sector = fsprint_look(print, i * LVM_SECTOR, LVM_SECTOR);

		if (!sector)
			return false;
		if (!lvm_read_label(sector, i, label))
			continue;
		fsprint_add(print, i * LVM_SECTOR, LVM_SECTOR);
		return true;
	}
	return false;
}

static bool read_part(struct fsprint *print, char *text, const struct lvm_area *part)
{
	uint64_t done, bytes;

	for (done = 0; done < part->bytes; done += bytes) {
		const void *data;

		bytes = part->bytes - done < PART ? part->bytes - done : PART;
		data = fsprint_look(print, part->offset + done, bytes);
		if (!data)
			return false;
		memcpy(text + done, data, bytes);
	}
	return true;
}

/* Read the current text of a metadata area; the caller frees it. NULL: no or damaged text. */
static char *read_text(struct fsprint *print, const struct lvm_area *area, size_t *bytes)
{
	const void *header = fsprint_look(print, area->offset, LVM_SECTOR);
	struct lvm_text place;
	char *text;

	if (!header || !lvm_find_text(header, area, &place))
		return NULL;
	*bytes = place.part[0].bytes + place.part[1].bytes;
	text = malloc(*bytes);
	if (!text) {
		fail_memory();
		return NULL;
	}
	if (read_part(print, text, &place.part[0]) &&
	    read_part(print, text + place.part[0].bytes, &place.part[1]) &&
	    lvm_checksum(text, *bytes) == place.checksum)
		return text;
	free(text);
	return NULL;
}

/*
 * Parse the texts of all areas, and keep the one of the latest change in @text and @group. Hash a
 * text that the parser rejects, such as one of a later LVM: its checksum is right, so a change of
 * it is a change of the volumes. Returns the number of these texts.
 */
static unsigned int find_group(struct fsprint *print, const struct lvm_label *label, char **text,
			       size_t *bytes, struct lvm_group *group)
{
	unsigned int rejected = 0;
	struct lvm_group other;
	size_t other_bytes;
	unsigned int i;

	for (i = 0; i < label->areas; i++) {
		char *other_text = read_text(print, &label->area[i], &other_bytes);

		if (!other_text)
			continue;
		if (!lvm_parse(other_text, other_bytes, label->id, &other)) {
			fsprint_add_number(print, other_bytes);
			fsprint_add_data(print, other_text, other_bytes);
			rejected++;
		} else if (!*text || other.sequence > group->sequence) {
			lvm_free(group);
			free(*text);
			*group = other;
			*text = other_text;
			*bytes = other_bytes;
			continue;
		}
		lvm_free(&other);
		free(other_text);
	}
	return rejected;
}

bool fsprint_lvm(struct fsprint *print)
{
	struct lvm_group group = { 0 };
	struct lvm_label label;
	char *text = NULL;
	size_t bytes = 0;
	unsigned int i, rejected;

	if (!find_label(print, &label))
		return false;
	rejected = find_group(print, &label, &text, &bytes, &group);
	fsprint_add_number(print, bytes);
	if (text)
		fsprint_add_data(print, text, bytes);
	for (i = 0; i < group.volumes; i++) {
		group.volume[i].below = fsprint_volume(print);
		fsprint_enter(print, &group.volume[i]);
	}
	fsprint_skip(print, group.others);
	/* Without a readable text the PV counts as one volume with unknown content. */
	if (!text || rejected)
		fsprint_skip(print, 1);
	lvm_free(&group);
	free(text);
	return true;
}
