// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the helper's index of training shards.  The samples of an accepted shard must lie in the
 * file and in order.  A refusal must name the file in its reason.  No shard may cause many more
 * reads than its size requires.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/le.h"
#include "count.h"
#include "lib/error.h"
#include "shard/sample_select.h"
#include "shards.h"
#include "shard/tar_header.h"

#define NAME	"shard.bin"
/* Limit of bytes read: each small entry of the file may make the helper read a page elsewhere. */
#define READ_MAX(size)	(1048576 + 400 * (uint64_t)(size))

#define HOLDS(what)	((what) ? (void)0 : bug(#what))

static uint64_t bytes_read;

static void __attribute__((noreturn)) bug(const char *what)
{
	fprintf(stderr, "does not hold: %s; %s\n", what, fail_message());
	abort();
}

ssize_t __real_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset);

ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	bytes_read += bytes;
	return __real_pread(fd, buffer, bytes, offset);
}

static bool inside(const struct index_range *range,
		   const struct index_range *all)
{
	return range->offset >= all->offset &&
	       range->offset - all->offset <= all->length &&
	       range->length <= all->length - (range->offset - all->offset);
}

static void check_name(const struct shard_index *index, uint64_t name)
{
	if (name == INDEX_NO_NAME)
		return;
	HOLDS(name < index->names_size);
	HOLDS(memchr(index->names + name, 0, index->names_size - name));
}

static void check_parts(const struct shard_index *index, uint64_t number)
{
	const struct index_sample *sample = &index->sample[number];
	uint64_t i, count = index_parts(index, number);

	HOLDS(sample->part <= index->parts && count <= index->parts - sample->part);
	HOLDS(index->format != INDEX_TAR || count);
	for (i = sample->part; i < sample->part + count; i++) {
		HOLDS(index->part[i].name != INDEX_NO_NAME);
		check_name(index, index->part[i].name);
		HOLDS(inside(&index->part[i].range, &sample->range));
	}
}

/* The range of the file in which samples may lie. */
static struct index_range data_of(const struct shard_index *index)
{
	struct index_range all = { 0, index->size };

	if (index->format == INDEX_PARQUET)
		all = (struct index_range){ 4, index->range[0].offset - 4 };
	else if (index->format == INDEX_NPZ)
		all.length = index->range[index->ranges - 1].offset;
	else if (index->format == INDEX_MDS)
		all = (struct index_range){ index->range[0].length,
					    index->size - index->range[0].length };
	return all;
}

/* Minimum size of a sample in the file.  It limits the number of samples. */
static unsigned int least(enum index_format format)
{
	static const unsigned int bytes[INDEX_FORMATS] = {
		[INDEX_TAR] = 512, [INDEX_TFRECORD] = 16, [INDEX_PARQUET] = 1,
		[INDEX_MDS] = 4, [INDEX_NPZ] = 46,
	};

	return bytes[format];
}

static void check_samples(const struct shard_index *index)
{
	bool ordered = index->format != INDEX_PARQUET &&
		       index->format != INDEX_NPZ;
	struct index_range all = data_of(index);
	uint64_t i, end = all.offset;

	HOLDS(index->samples <= index->size / least(index->format));
	for (i = 0; i < index->samples; i++) {
		const struct index_sample *sample = &index->sample[i];

		check_name(index, sample->name);
		HOLDS(inside(&sample->range, &all));
		HOLDS(!ordered || sample->range.offset >= end);
		/* Samples of MDS and TFRecord are contiguous. */
		HOLDS((index->format != INDEX_MDS &&
		       index->format != INDEX_TFRECORD) ||
		      sample->range.offset == end);
		end = sample->range.offset + sample->range.length;
		check_parts(index, i);
	}
	HOLDS((index->format != INDEX_MDS && index->format != INDEX_TFRECORD) ||
	      end == index->size);
}

static void check_ranges(const struct shard_index *index)
{
	const struct index_range all = { 0, index->size };
	uint64_t end = 0;
	unsigned int i;

	HOLDS(index->ranges <= INDEX_RANGES_MAX);
	HOLDS(!index->ranges == (index->format == INDEX_TAR ||
				 index->format == INDEX_TFRECORD));
	for (i = 0; i < index->ranges; i++) {
		HOLDS(index->range[i].length && inside(&index->range[i], &all));
		HOLDS(index->range[i].offset >= end);
		end = index->range[i].offset + index->range[i].length;
	}
}

/* The file must have valid headers, lengths and checksums where the index says so. */
static void check_content(const struct shard_index *index,
			  const unsigned char *file, bool checked)
{
	uint64_t i;

	for (i = 0; index->format == INDEX_TAR && i < index->parts; i++) {
		const unsigned char *header =
			file + index->part[i].range.offset - TAR_BLOCK;

		HOLDS(index->part[i].range.offset % TAR_BLOCK == 0);
		HOLDS(tar_is_sound(header) && strchr("07", header[SHARD_TAR_TYPE]));
	}
	for (i = 0; index->format == INDEX_TFRECORD && i < index->samples; i++) {
		const unsigned char *at = file + index->sample[i].range.offset;
		uint64_t bytes = index->sample[i].range.length - 16;

		HOLDS(get_le64(at) == bytes);
		HOLDS(get_le32(at + 8) == shard_masked_crc(at, 8));
		HOLDS(!checked || get_le32(at + 12 + bytes) ==
				  shard_masked_crc(at + 12, bytes));
	}
	for (i = 0; index->format == INDEX_NPZ && i < index->samples; i++) {
		const unsigned char *at = file + index->sample[i].range.offset;
		const char *name = index_name(index, index->sample[i].name);

		HOLDS(!memcmp(at, "PK\3\4", 4));
		HOLDS(!memcmp(at + 30, name, strlen(name)));
	}
}

static void check_selection(const struct shard_index *index, const char *list)
{
	struct index_selection selection;
	uint64_t i, end = 0;

	if (index_select(&selection, index, NAME, list)) {
		HOLDS(fail_code() == CODE_USAGE);
		HOLDS(strstr(fail_message(), "--samples"));
	} else {
		HOLDS(selection.spans);
		for (i = 0; i < selection.spans; i++) {
			const struct index_span *span = &selection.span[i];

			HOLDS(span->first < span->end);
			HOLDS(span->end <= index->samples);
			HOLDS(!i || span->first > end);
			end = span->end;
		}
		fuzz_count("shards_selected", 1);
	}
	index_select_free(&selection);
}

static void check_refused(const struct shard_index *index, int error,
			  unsigned int flags)
{
	HOLDS(error == fail_code());
	HOLDS(strstr(fail_message(), "'" NAME "'"));
	HOLDS(error == CODE_DEVICE ||
	      (error == CODE_USAGE && flags & SHARDS_CHECK &&
	       index->format != INDEX_TFRECORD));
}

static void try_file(const struct shards_head *head, const unsigned char *file,
		     size_t bytes, int fd)
{
	enum index_format format = head->format % INDEX_FORMATS;
	bool check = head->flags & SHARDS_CHECK;
	struct shard_index index;
	char list[SHARDS_LIST + 1] = "";
	int error;

	bytes_read = 0;
	fail_reset();
	error = index_open_fd(&index, fd, NAME, format,
			      (check ? INDEX_CHECK : 0) |
			      (head->flags & SHARDS_CONCATENATED ? INDEX_CONCATENATED : 0));
	HOLDS(bytes_read <= READ_MAX(bytes));
	fuzz_count("fuzz_inputs", 1);
	fuzz_count("shards_taken", !error);
	if (error) {
		check_refused(&index, error, head->flags);
	} else {
		HOLDS(!fail_code() && index.size == bytes);
		HOLDS(format == INDEX_ANY || format == index.format);
		HOLDS(index.format == INDEX_TAR || (!index.unended && !index.rest));
		HOLDS(index.rest < bytes || !bytes);
		HOLDS(!index.rest || !(head->flags & SHARDS_CONCATENATED));
		check_ranges(&index);
		check_samples(&index);
		check_content(&index, file, check);
		memcpy(list, head->list, SHARDS_LIST);
		check_selection(&index, list);
	}
	index_free(&index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct shards_head head;
	unsigned char *file;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	size -= sizeof(head);
	file = malloc(size + 1);
	memcpy(file, data + sizeof(head), size);
	shards_seal(file, size, head.flags);
	if (fd < 0)
		fd = memfd_create("shard", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, file, size, 0) != (ssize_t)size)
		abort();
	try_file(&head, file, size, fd);
	free(file);
	return 0;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed);

/* shards_make() generates every other input; libFuzzer mutates the rest. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed)
{
	uint64_t random = seed;

	if (room <= sizeof(struct shards_head) || shards_random(&random, 2))
		return LLVMFuzzerMutate(data, size, room);
	return shards_make(data, room, &random);
}
