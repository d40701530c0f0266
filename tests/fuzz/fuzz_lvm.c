// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the parsers of LVM2 metadata: the input is the text of a volume group, or chooses the
 * words of one, and the header of a metadata area is made of its last bytes. Every place in the
 * result is looked up.
 */
#include <stdlib.h>

#include "../unit/helper/lvm_unit.h"
#include "count.h"
#include "lib/error.h"

#define DEVICE	(1ULL << 40)

static void look_up(const struct volume *inner)
{
	struct volume device = { .size = DEVICE }, volume = *inner;
	uint64_t place, run, offset = 0;
	unsigned int i;

	volume.below = &device;
	for (i = 0; i < 64 && volume_place(&volume, offset, &place, &run); i++) {
		if (!run || place >= DEVICE || run > DEVICE - place || run > volume.size - offset)
			abort();
		offset += run;
	}
}

static void parse_header(const uint8_t *data, size_t bytes)
{
	static unsigned char disk[LVM_UNIT_AREA + LVM_UNIT_ROOM];
	unsigned char *header = disk + LVM_UNIT_AREA;
	size_t changed = bytes < 64 ? bytes : 64;
	struct lvm_label label;
	struct lvm_text text;

	lvm_unit_header(disk, "", 0, LVM_UNIT_TEXT);
	memcpy(header + 24, data + bytes - changed, changed);
	lvm_put(header, lvm_checksum(header + 4, 508), 4);
	memcpy(disk + 512 + 32, data + bytes - changed, changed);
	lvm_put(disk + 512 + 16, lvm_checksum(disk + 512 + 20, 492), 4);
	if (!lvm_read_label(disk + 512, 1, &label) || !label.areas)
		return;
	if (lvm_find_text(header, &label.area[0], &text) &&
	    (text.part[0].bytes + text.part[1].bytes > LVM_TEXT_MAX ||
	     text.part[0].offset < label.area[0].offset ||
	     text.part[0].bytes > label.area[0].bytes))
		abort();
}

static void parse_text(const char *text, size_t bytes)
{
	struct lvm_group group;
	unsigned int i;

	if (lvm_parse(text, bytes, LVM_UNIT_ID, &group)) {
		for (i = 0; i < group.volumes; i++)
			look_up(&group.volume[i]);
		fuzz_count("groups", 1);
		fuzz_count("volumes", group.volumes);
	}
	lvm_free(&group);
}

/* Parse a text of words that the input chooses; the first words are as LVM writes them. */
static void parse_words(const uint8_t *data, size_t bytes)
{
	static const char *const words[] = {
		"group {\nextent_size = 8\nphysical_volumes {\npv0 {\n"
		"id = \"" LVM_UNIT_DASHES "\"\npe_start = 2048\n}\n}\nlogical_volumes {\n",
		"one {\n", "segment1 {\ntype = \"striped\"\nstart_extent = 0\nextent_count = 2\n"
		"stripes = [\"pv0\", 0]\n", "stripes = [\"pv0\", 1]\n",
		"stripes = [\"pv0\", 7, \"pv0\", 99, \"pv1\", 1]\n", "start_extent = 0\n",
		"start_extent = 4503599627370495\n", "extent_count = 3\n",
		"extent_count = 4503599627370495\n",
		"stripe_size = 8\n", "stripe_size = 36028797018963967\n", "}\n", "# x\n",
		"extent_size = 9223372036854775807\n", "seqno = 18446744073709551615\n",
		"tags = [\"\\\"\"]\n",
	};
	static char text[1 << 16];
	size_t used = 0, i, length, depth = 0;

	if (bytes > 200)
		bytes = 200;
	for (i = 0; i < bytes || depth; i++, used += length) {
		const char *word = words[!i ? 0 : i < bytes ? 1 + data[i] % 15 : 11];

		/* Volumes are in the second section, and no section is below a segment. */
		if (word == words[1] && depth > 2)
			word = words[2];
		length = *word == '}' && !depth ? 0 : strlen(word);
		memcpy(text + used, word, length);
		depth += !i ? 2 : strchr(word, '{') ? 1 : length && *word == '}' ? -1 : 0;
	}
	parse_text(text, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	fail_reset();
	fuzz_count("inputs", 1);
	parse_header(data, bytes);
	parse_text((const char *)data, bytes);
	parse_words(data, bytes);
	return 0;
}
