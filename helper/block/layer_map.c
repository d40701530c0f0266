// SPDX-License-Identifier: GPL-2.0-only
/* Find the bytes of a file system's block device on the nearcache device below it. */
#include "block/layer_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block/dm_pieces.h"
#include "lib/error.h"
#include "block/device_sysfs.h"

#define SECTOR	512

/**
 * struct piece_here - contiguous bytes of the upper device, and where they are on a device below
 * @device: the device below
 * @start: first byte on @device
 * @length: bytes
 * @top: first byte on the upper device
 */
struct piece_here {
	dev_t device;
	uint64_t start;
	uint64_t length;
	uint64_t top;
};

static int follow_here(struct layers *layers, const struct piece_here *here);

static struct layer_piece *add_piece(struct layers *layers,
				     const struct piece_here *here)
{
	struct layer_piece *piece = reallocarray(layers->piece,
						 layers->count + 1,
						 sizeof(*piece));

	if (!piece) {
		fail_memory();
		return NULL;
	}
	layers->piece = piece;
	piece += layers->count++;
	memset(piece, 0, sizeof(*piece));
	piece->start = here->top;
	piece->length = here->length;
	return piece;
}

static int add_below(struct layers *layers, const struct piece_here *here)
{
	struct layer_piece *piece = add_piece(layers, here);

	if (!piece)
		return fail_code();
	piece->at = here->start;
	piece->below = true;
	return 0;
}

/* Add bytes not on the lower device. @kind: kind of @here->device; NULL: nothing is below that. */
static int add_elsewhere(struct layers *layers, const struct piece_here *here,
			 const char *kind)
{
	struct layer_piece *piece = add_piece(layers, here);
	char name[64] = "a device that is gone";

	if (!piece)
		return fail_code();
	identity_kernel_name(here->device, name, sizeof(name));
	if (kind)
		snprintf(piece->why, sizeof(piece->why),
			 "it is on '%s' (%s), and the location of its data below is unknown",
			 name, kind);
	else
		snprintf(piece->why, sizeof(piece->why), "it is on '%s'", name);
	return 0;
}

static uint64_t number_of(dev_t device, const char *attribute)
{
	char text[32];

	if (!identity_attribute(device, attribute, text, sizeof(text)))
		return 0;
	return strtoull(text, NULL, 10);
}

static int follow_partition(struct layers *layers,
			    const struct piece_here *here)
{
	struct piece_here below = *here;
	unsigned int major_number, minor_number;
	char text[32];

	if (!identity_attribute(here->device, "../dev", text, sizeof(text)) ||
	    sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
		return add_elsewhere(layers, here, "partition");
	below.device = makedev(major_number, minor_number);
	below.start += number_of(here->device, "start") * SECTOR;
	return follow_here(layers, &below);
}

/* A loop device on a file is not followed: the file is on another file system. */
static int follow_loop(struct layers *layers, const struct piece_here *here,
		       const char *backing)
{
	struct piece_here below = *here;
	struct stat st;

	if (stat(backing, &st) || !S_ISBLK(st.st_mode))
		return add_elsewhere(layers, here, "loop device on a file");
	below.device = st.st_rdev;
	below.start += number_of(here->device, "loop/offset");
	return follow_here(layers, &below);
}

static int follow_piece(struct layers *layers, const struct piece_here *here,
			const struct dm_piece *piece)
{
	uint64_t end = here->start + here->length;
	uint64_t from = here->start > piece->start ? here->start : piece->start;
	uint64_t piece_end = piece->start + piece->length;
	uint64_t to = end < piece_end ? end : piece_end;
	struct piece_here below = {
		.device = here->device,
		.start = from,
		.length = to - from,
		.top = here->top + (from - here->start),
	};
	char kind[DM_TYPE + 32];

	if (from >= to)
		return 0;
	if (!piece->linear) {
		snprintf(kind, sizeof(kind), "device-mapper target '%s'",
			 piece->type);
		return add_elsewhere(layers, &below, kind);
	}
	below.device = piece->under;
	below.start = piece->offset + (from - piece->start);
	return follow_here(layers, &below);
}

static int follow_dm(struct layers *layers, const struct piece_here *here)
{
	struct dm_piece *piece;
	size_t i, count;

	if (!dm_pieces(here->device, &piece, &count))
		for (i = 0; i < count; i++)
			if (follow_piece(layers, here, &piece[i]))
				break;
	free(piece);
	return fail_code();
}

static int follow_here(struct layers *layers, const struct piece_here *here)
{
	char text[4096], kind[64];

	if (here->device == layers->lower)
		return add_below(layers, here);
	if (identity_attribute(here->device, "partition", text, sizeof(text)))
		return follow_partition(layers, here);
	if (identity_attribute(here->device, "loop/backing_file", text,
			       sizeof(text)))
		return follow_loop(layers, here, text);
	if (identity_attribute(here->device, "dm/name", text, sizeof(text)))
		return follow_dm(layers, here);
	if (identity_attribute(here->device, "md/level", text, sizeof(text))) {
		snprintf(kind, sizeof(kind), "RAID '%.40s'", text);
		return add_elsewhere(layers, here, kind);
	}
	return add_elsewhere(layers, here, NULL);
}

/*
 * Map @upper, the device of a file system, onto @lower, the nearcache device. Succeeds even if
 * nothing is on @lower. layers_free() is needed even after a failure.
 */
int layers_resolve(struct layers *layers, dev_t upper, dev_t lower)
{
	struct piece_here here = { .device = upper };

	memset(layers, 0, sizeof(*layers));
	layers->upper = upper;
	layers->lower = lower;
	here.length = number_of(upper, "size") * SECTOR;
	return follow_here(layers, &here);
}

bool layers_touch(const struct layers *layers)
{
	size_t i;

	for (i = 0; i < layers->count; i++)
		if (layers->piece[i].below)
			return true;
	return false;
}

bool layers_cover(const struct layers *layers)
{
	size_t i;

	for (i = 0; i < layers->count; i++)
		if (!layers->piece[i].below)
			return false;
	return layers->count;
}

static const struct layer_piece *piece_at(const struct layers *layers,
					  uint64_t start)
{
	size_t low = 0, high = layers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct layer_piece *piece = &layers->piece[middle];

		if (start < piece->start)
			high = middle;
		else if (start - piece->start >= piece->length)
			low = middle + 1;
		else
			return piece;
	}
	return NULL;
}

/*
 * Map the start of a range of the upper device to the lower device. On success returns true, and
 * @piece receives contiguous bytes of the lower device. Call again for the rest of the range, which
 * begins at @start + @piece->length. Returns false if byte @start is not on the lower device; @why
 * then receives the reason, as the end of a sentence. @length is not 0.
 */
bool layers_map(const struct layers *layers, uint64_t start, uint64_t length,
		struct range *piece, const char **why)
{
	const struct layer_piece *here = piece_at(layers, start);
	uint64_t skip;

	if (!here) {
		*why = "it is beyond the end of its device";
		return false;
	}
	if (!here->below) {
		*why = here->why;
		return false;
	}
	skip = start - here->start;
	piece->start = here->at + skip;
	piece->length = length < here->length - skip ? length :
						       here->length - skip;
	return true;
}

/* Harmless on a map that is already free. */
void layers_free(struct layers *layers)
{
	free(layers->piece);
	memset(layers, 0, sizeof(*layers));
}
