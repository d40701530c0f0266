// SPDX-License-Identifier: GPL-2.0-only
#include "shard/detect_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "shard/reader.h"

/*
 * The strongest test comes first: a magic number (Parquet, zip), a 32-bit checksum (TFRecord), a
 * sum of bytes (tar), numbers that are only plausible (MDS).
 */
static const struct {
	enum index_format format;
	bool (*is)(struct index_scan *scan);
	int (*index)(struct index_scan *scan);
} formats[] = {
	{ INDEX_PARQUET, index_parquet_is, index_parquet },
	{ INDEX_NPZ, index_npz_is, index_npz },
	{ INDEX_TFRECORD, index_tfrecord_is, index_tfrecord },
	{ INDEX_TAR, index_tar_is, index_tar },
	{ INDEX_MDS, index_mds_is, index_mds },
};

#define FORMATS	(sizeof(formats) / sizeof(formats[0]))

/* Returns the name of the compression, or NULL if none is recognized. */
static const char *find_compression(struct index_scan *scan)
{
	static const struct {
		const char *name, *magic;
		size_t bytes;
	} kind[] = {
		{ "gzip", "\x1f\x8b\x08", 3 },
		{ "zlib", "\x78\x01", 2 },
		{ "zlib", "\x78\x5e", 2 },
		{ "zlib", "\x78\x9c", 2 },
		{ "zlib", "\x78\xda", 2 },
		{ "zstd", "\x28\xb5\x2f\xfd", 4 },
		{ "bzip2", "BZh", 3 },
		{ "xz", "\xfd" "7zXZ", 6 },
		{ "lz4", "\x04\x22\x4d\x18", 4 },
		{ "snappy", "\xff\x06\x00\x00sNaPpY", 10 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
		if (scan_starts(scan, kind[i].magic, kind[i].bytes))
			return kind[i].name;
	return NULL;
}

/*
 * Called if no test accepts the file. Records an error if the file is compressed, or if @format is
 * INDEX_ANY. Otherwise returns 0, so that the parser of @format finds and reports the damage.
 */
static int refuse_format(struct index_scan *scan, enum index_format format)
{
	const char *compressed = find_compression(scan);

	if (fail_code())
		return fail_code();
	if (compressed)
		return scan_damage(scan, 0,
				   "the file is compressed (%s): its samples can only be found once it is decompressed",
				   compressed);
	if (format)
		return 0;
	if (!scan->size)
		return scan_damage(scan, 0, "the file is empty");
	return scan_damage(scan, 0,
			   "unknown format; if the file is damaged, name its format with --format " INDEX_FORMAT_WORDS);
}

/* Returns the number of the format in formats[], or FORMATS after recording an error. */
static unsigned int choose_format(struct index_scan *scan, enum index_format format)
{
	unsigned int i;

	for (i = 0; i < FORMATS && !fail_code(); i++)
		if ((!format || format == formats[i].format) &&
		    formats[i].is(scan))
			return i;
	if (!format)
		format = index_format_of_path(scan->path);
	if (fail_code() || refuse_format(scan, format))
		return FORMATS;
	for (i = 0; formats[i].format != format; i++)
		;
	return i;
}

static int run_format(struct index_scan *scan, enum index_format format)
{
	unsigned int i = choose_format(scan, format);

	if (i == FORMATS)
		return fail_code();
	scan->index->format = formats[i].format;
	if (scan->check && scan->index->format != INDEX_TFRECORD)
		return fail(CODE_USAGE,
			    "--check: '%s' has format %s; only tfrecord files have checksums of their data",
			    scan->path, index_format_word(formats[i].format));
	return formats[i].index(scan);
}

/* Begins a scan of @fd. Call scan_end() after success and failure. */
static int start_scan(struct index_scan *scan)
{
	struct stat st;

	memset(scan->index, 0, sizeof(*scan->index));
	if (fstat(scan->fd, &st))
		return fail_errno(errno, "file '%s'", scan->path);
	if (!S_ISREG(st.st_mode))
		return fail(CODE_DEVICE, "'%s' is not a regular file", scan->path);
	scan->size = scan->index->size = (uint64_t)st.st_size;
	return scan_start(scan);
}

/* Returns whether the name of a file claims that the file has @format, or with INDEX_ANY any. */
bool index_name_claims(const char *path, enum index_format format)
{
	enum index_format of_path = index_format_of_path(path);

	return of_path && (!format || format == of_path);
}

/*
 * Parses the open file @fd, which stays open; @path is its name in messages. INDEX_ANY detects
 * the format. @flags: INDEX_*. Call index_free() after success and failure.
 */
int index_open_fd(struct shard_index *index, int fd, const char *path,
		  enum index_format format, unsigned int flags)
{
	struct index_scan scan = {
		.path = path,
		.fd = fd,
		.check = flags & INDEX_CHECK,
		.concatenated = flags & INDEX_CONCATENATED,
		.index = index,
	};
	int error = start_scan(&scan);

	if (!error)
		error = run_format(&scan, format);
	scan_end(&scan);
	return error;
}

/* Like index_open_fd(), but opens @path. */
int index_open(struct shard_index *index, const char *path,
	       enum index_format format, unsigned int flags)
{
	/* Without O_NONBLOCK, opening a FIFO would block until a writer opens it. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int error;

	memset(index, 0, sizeof(*index));
	if (fd < 0)
		return fail_errno(errno, "cannot open '%s'", path);
	error = index_open_fd(index, fd, path, format, flags);
	close(fd);
	return error;
}

/* May be called twice. */
void index_free(struct shard_index *index)
{
	free(index->sample);
	free(index->part);
	free(index->names);
	memset(index, 0, sizeof(*index));
}

/* Returns the name as stored in the file, or NULL for INDEX_NO_NAME. */
const char *index_name(const struct shard_index *index, uint64_t name)
{
	return name == INDEX_NO_NAME ? NULL : index->names + name;
}

uint64_t index_parts(const struct shard_index *index, uint64_t sample)
{
	uint64_t end = sample + 1 < index->samples ?
		       index->sample[sample + 1].part : index->parts;

	return end - index->sample[sample].part;
}

/* Returns the bytes that a reader reads to open the file. */
uint64_t index_bytes(const struct shard_index *index)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < index->ranges; i++)
		bytes += index->range[i].length;
	return bytes;
}

/* Returns the bytes from the first data behind the end of the archive to the end of the file. */
uint64_t index_rest_bytes(const struct shard_index *index)
{
	return index->rest ? index->size - index->rest : 0;
}

/* Warns about a file whose index may lack samples that the user expects. */
void index_warn(const struct shard_index *index, const char *path)
{
	if (index->unended)
		warn("'%.*s' has no end-of-archive block: it may have lost members at its end",
		     PATH_SHOWN, path);
	if (index->rest)
		warn("'%.*s': %llu bytes follow the end of the archive, from byte %llu: if they are another archive, --concatenated reads it",
		     PATH_SHOWN, path, (unsigned long long)index_rest_bytes(index),
		     (unsigned long long)index->rest);
	if (index->unsearched)
		warn("'%.*s': the search for another archive stopped at byte %llu of %llu, after a long run of zeros",
		     PATH_SHOWN, path, (unsigned long long)index->unsearched,
		     (unsigned long long)index->size);
}

/* Refuses --concatenated, as it has no effect, for a shard that is not a tar archive. */
int index_check_concatenated(const struct shard_index *index, const char *path)
{
	if (index->format == INDEX_TAR)
		return 0;
	return fail(CODE_USAGE, "--concatenated: '%.*s' has format %s; it is for tar archives only",
		    PATH_SHOWN, path, index_format_word(index->format));
}
