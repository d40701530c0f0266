// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/fingerprint_fs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/sha256.h"

/* Most bytes per fsprint_look(), and size of a buffer with room to align both ends of the read. */
#define LOOK_MAX	65536U
#define BUFFER		(3 * LOOK_MAX)

/**
 * struct fsprint - state of a fingerprint
 * @dev: open device
 * @volume: the volume whose bytes the parsers see
 * @depth: number of volumes around @volume
 * @entered: number of volumes that were looked into
 * @left: bytes that may still be read
 * @reads: reads of volumes inside that may still be made
 * @over: a limit of bytes or reads is exceeded: no further volumes
 * @fd: from partition_table_open(), -1 before the first table
 * @align: alignment of offset and length of a read in bytes, at most LOOK_MAX
 * @buffer: data of the last read of the device
 * @data: data of the last fsprint_look(), LOOK_MAX bytes
 * @hash: SHA-256 so far
 * @more: as @hash, of the data that only NEARCACHE_FP_MORE covers
 * @to: @hash or @more
 * @more_left: bytes that may still be read for @more
 * @result: the result so far
 */
struct fsprint {
	const struct device *dev;
	const struct volume *volume;
	unsigned int depth;
	unsigned int entered;
	uint64_t left;
	unsigned int reads;
	bool over;
	int fd;
	uint64_t align;
	unsigned char *buffer;
	unsigned char *data;
	struct sha256_ctx hash;
	struct sha256_ctx more;
	struct sha256_ctx *to;
	uint64_t more_left;
	struct fsprint_result *result;
};

static void add_place(struct fsprint_places *list, uint64_t offset)
{
	uint64_t place = offset / FSPRINT_PLACE;

	if (list->places && list->place[list->places - 1] == place)
		return;
	if (list->places < FSPRINT_PLACES)
		list->place[list->places++] = place;
}

/*
 * Count reads of a volume inside; false: there were too many. The device itself has no limit: each
 * parser has its own, and a change would make recorded fingerprints differ.
 */
static bool spend_reads(struct fsprint *print, unsigned int reads)
{
	if (!print->depth)
		return true;
	print->over |= print->reads < reads;
	if (print->over)
		return false;
	print->reads -= reads;
	return true;
}

/* Read a range of the device, at most LOOK_MAX bytes, to @data. */
static int read_range(struct fsprint *print, void *data, uint64_t offset, uint64_t bytes)
{
	const struct volume *device = print->volume;
	uint64_t first = offset - offset % print->align;
	uint64_t last = offset + bytes + print->align - 1;

	while (device->below)
		device = device->below;
	last -= last % print->align;
	if (last > device->size)
		last = device->size;
	if (device_read(print->dev, print->buffer, last - first, first))
		return fail_code();
	memcpy(data, print->buffer + (offset - first), bytes);
	add_place(&print->result->metadata, offset);
	add_place(&print->result->metadata, offset + bytes - 1);
	return 0;
}

/*
 * Read @bytes, at most 65536, of the volume. Returns the data, valid until the next call. Returns
 * NULL if the range exceeds the volume or lies on another device, if too much was read already, and
 * after an error, which is recorded with fail().
 */
const void *fsprint_look(struct fsprint *print, uint64_t offset, size_t bytes)
{
	uint64_t size = print->volume->size, place, run;
	size_t done;

	if (offset > size || bytes > size - offset || fail_code())
		return NULL;
	print->over |= bytes > print->left;
	if (print->over)
		return NULL;
	print->left -= bytes;
	for (done = 0; done < bytes; done += run) {
		if (!volume_place(print->volume, offset + done, &place, &run) ||
		    !spend_reads(print, 1))
			return NULL;
		if (run > bytes - done)
			run = bytes - done;
		if (read_range(print, print->data + done, place, run))
			return NULL;
	}
	return print->data;
}

void fsprint_add_data(struct fsprint *print, const void *data, size_t bytes)
{
	sha256_update(print->to, bytes, data);
}

void fsprint_add_number(struct fsprint *print, uint64_t number)
{
	unsigned char text[8];
	unsigned int i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = number >> 8 * i;
	fsprint_add_data(print, text, sizeof(text));
}

/*
 * Hash a range of the volume, in parts; @offset and @bytes are in bytes. If a part cannot be read
 * (see fsprint_look()), hash the part's offset instead of its data, and ignore the further parts.
 */
void fsprint_add(struct fsprint *print, uint64_t offset, uint64_t bytes)
{
	fsprint_add_number(print, bytes);
	while (bytes && !fail_code()) {
		size_t part = bytes < LOOK_MAX ? bytes : LOOK_MAX;
		const void *data = fsprint_look(print, offset, part);

		if (!data) {
			fsprint_add_number(print, offset);
			return;
		}
		fsprint_add_data(print, data, part);
		offset += part;
		bytes -= part;
	}
}

/*
 * As fsprint_add(), for data that only NEARCACHE_FP_MORE covers. It has a limit of its own: the
 * fingerprints of former versions must not change because this data used up the others.
 */
void fsprint_add_more(struct fsprint *print, uint64_t offset, uint64_t bytes)
{
	const uint64_t left = print->left;
	const unsigned int reads = print->reads;

	if (print->over || bytes > print->more_left)
		return;
	print->more_left -= bytes;
	print->left = bytes;
	print->reads = FSPRINT_READS;
	print->to = &print->more;
	fsprint_add(print, offset, bytes);
	print->to = &print->hash;
	print->over = false;
	print->left = left;
	print->reads = reads;
}

uint64_t fsprint_size(const struct fsprint *print)
{
	return print->volume->size;
}

const struct volume *fsprint_volume(const struct fsprint *print)
{
	return print->volume;
}

/* Read the partition table of the volume. False: it has none, or is not one piece of the device. */
bool fsprint_read_table(struct fsprint *print, struct partition_table *table)
{
	uint64_t place, run;

	if (fail_code() || !volume_place(print->volume, 0, &place, &run) ||
	    run != print->volume->size || !spend_reads(print, FSPRINT_TABLE_READS))
		return false;
	if (print->fd < 0)
		print->fd = partition_table_open(print->dev);
	return print->fd >= 0 &&
	       !partition_table_read(print->dev, print->fd, place, run, table) &&
	       table->partitions;
}

/*
 * True if the volume also has content that is not recognised. A volume in several pieces is not
 * probed.
 */
static bool is_mixed(struct fsprint *print)
{
	uint64_t place, run;

	if (fail_code() || !volume_place(print->volume, 0, &place, &run) ||
	    run != print->volume->size)
		return false;
	if (print->fd < 0)
		print->fd = partition_table_open(print->dev);
	return print->fd >= 0 && partition_table_mixed(print->fd, place, run);
}

static enum nearcache_fingerprint try_file_systems(struct fsprint *print)
{
	static const struct {
		enum nearcache_fingerprint type;
		bool (*take)(struct fsprint *print);
	} kind[] = {
		{ NEARCACHE_FP_EXT4, fsprint_ext4 },
		{ NEARCACHE_FP_XFS, fsprint_xfs },
		{ NEARCACHE_FP_EROFS, fsprint_erofs },
		{ NEARCACHE_FP_BTRFS, fsprint_btrfs },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
		if (kind[i].take(print))
			return kind[i].type;
	return NEARCACHE_FP_NONE;
}

/* Hash the partition table and LVM metadata on the volume, and the volumes that they describe. */
static bool add_inner(struct fsprint *print)
{
	bool partitions = fsprint_partitions(print);

	return fsprint_lvm(print) || partitions;
}

static void note_start(struct fsprint *print)
{
	uint64_t place, run;

	if (volume_place(print->volume, 0, &place, &run))
		add_place(&print->result->starts, place);
}

/* Count volumes that are not looked into. */
void fsprint_skip(struct fsprint *print, unsigned int volumes)
{
	print->result->volumes += volumes;
	print->result->unknown += volumes;
}

/* Hash the content of a volume that lies on the present one. */
void fsprint_enter(struct fsprint *print, const struct volume *volume)
{
	const struct volume *outer = print->volume;
	enum nearcache_fingerprint type;
	bool inner;

	if (print->depth == FSPRINT_DEPTH || print->entered == FSPRINT_VOLUMES || print->over) {
		fsprint_skip(print, 1);
		return;
	}
	print->entered++;
	print->result->volumes++;
	print->volume = volume;
	print->depth++;
	note_start(print);
	type = try_file_systems(print);
	fsprint_add_number(print, type);
	inner = add_inner(print);
	print->result->unknown += print->over || (!type && !inner) || is_mixed(print);
	print->depth--;
	print->volume = outer;
}

/*
 * @result->plain is as versions that did not look into partitions computed it, @result->former as
 * versions without NEARCACHE_FP_MORE did. Caches that they made have one of the two on record.
 */
static void take_all(struct fsprint *print)
{
	struct fsprint_result *result = print->result;
	unsigned char more[FSPRINT_SIZE];
	struct sha256_ctx copy;

	note_start(print);
	result->plain_type = try_file_systems(print);
	copy = print->hash;
	if (result->plain_type)
		sha256_digest(&copy, FSPRINT_SIZE, result->plain);
	result->type = add_inner(print) ? NEARCACHE_FP_VOLUMES : result->plain_type;
	copy = print->hash;
	if (result->type) {
		sha256_digest(&copy, FSPRINT_SIZE, result->former);
		result->mixed = is_mixed(print);
	}
	sha256_digest(&print->more, FSPRINT_SIZE, more);
	fsprint_add_data(print, more, FSPRINT_SIZE);
	sha256_digest(&print->hash, FSPRINT_SIZE, result->digest);
}

/*
 * Take the fingerprint of the file systems on a device. @size: bytes of the device, or fewer: its
 * size before it grew. Returns 0 or an exit code of fail(); then @result has no fingerprint.
 */
int fsprint_take(const struct device *dev, uint64_t size,
		 struct fsprint_result *result)
{
	struct volume whole = { .size = size };
	struct fsprint print = {
		.dev = dev,
		.volume = &whole,
		.left = FSPRINT_READ,
		.reads = FSPRINT_READS,
		.more_left = FSPRINT_MORE,
		.to = &print.hash,
		.fd = -1,
		.align = dev->lbs > DEVICE_ALIGN ? dev->lbs : DEVICE_ALIGN,
		.buffer = device_buffer(BUFFER),
		.data = malloc(LOOK_MAX),
		.result = result,
	};

	memset(result, 0, sizeof(*result));
	if (!print.data)
		fail_memory();
	sha256_init(&print.hash);
	sha256_init(&print.more);
	if (!fail_code())
		take_all(&print);
	if (print.fd >= 0)
		close(print.fd);
	free(print.buffer);
	free(print.data);
	if (fail_code())
		memset(result, 0, sizeof(*result));
	return fail_code();
}
