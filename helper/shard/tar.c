// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses tar as WebDataset uses it: consecutive files form a sample if their keys are equal, which
 * are their paths up to the first dot of the file name. Directories, links and files without a key
 * belong to no sample, but do not end the sample before them.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "shard/reader.h"
#include "shard/tar_header.h"

/* Maximum bytes of a pax header, enough for several extended attributes of up to 64 KiB. */
#define PAX_MAX		(1U << 20)
/*
 * Most zeros behind an archive that are searched for other data. Writers pad to 10 KiB, to the
 * record size of a tape, or to an alignment of their storage of some MiB.
 */
#define PADDING_MAX	(32U << 20)

/**
 * struct tar - state of the scan
 * @scan: the file
 * @at: offset of the next header, which is a member's header or an extension header before it
 * @start: offset of the next member's headers, extension headers included
 * @name: name of the next member, from its extension headers, or NULL
 * @size: size of the next member, from its extension headers, bytes
 * @sized: @size is valid
 * @announced: an extension header of the next member was read
 */
struct tar {
	struct index_scan *scan;
	uint64_t at;
	uint64_t start;
	char *name;
	uint64_t size;
	bool sized;
	bool announced;
};

static void forget_member(struct tar *tar)
{
	free(tar->name);
	tar->name = NULL;
	tar->sized = false;
	tar->announced = false;
}

/* Finds the end of the member whose header is at @tar->at. Fails if the file is shorter. */
static int find_end(const struct tar *tar, uint64_t size, uint64_t *end)
{
	const struct index_scan *scan = tar->scan;
	uint64_t data = tar->at + TAR_BLOCK;

	*end = data + size + (-size % TAR_BLOCK);
	if (scan_has(scan, data, size) && *end <= scan->size)
		return 0;
	return scan_damage(scan, tar->at,
			   "a member of %llu bytes reaches beyond the end of the file at %llu: was it cut off?",
			   (unsigned long long)size,
			   (unsigned long long)scan->size);
}

/*
 * Returns the @size bytes behind the header at @tar->at, with a NUL appended; the caller frees
 * them. Returns NULL after recording an error, also if @size is more than @most.
 */
static char *read_body(const struct tar *tar, uint64_t size, uint64_t most)
{
	char *body;

	if (size > most) {
		scan_damage(tar->scan, tar->at,
			    "%llu bytes of name or attributes, more than %llu",
			    (unsigned long long)size, (unsigned long long)most);
		return NULL;
	}
	body = malloc(size + 1);
	if (!body) {
		fail_memory();
		return NULL;
	}
	body[size] = '\0';
	if (!scan_read(tar->scan, tar->at + TAR_BLOCK, body, size))
		return body;
	free(body);
	return NULL;
}

static int take_name(struct tar *tar, const char *name, size_t length)
{
	if (length > SCAN_NAME_MAX)
		return scan_damage(tar->scan, tar->at,
				   "a name of %zu bytes, more than %u", length,
				   SCAN_NAME_MAX);
	free(tar->name);
	tar->name = strndup(name, length);
	return tar->name ? 0 : fail_memory();
}

static int take_size(struct tar *tar, const struct pax_record *record)
{
	tar->sized = record->value_length;
	if (!tar->sized || pax_number(record, &tar->size))
		return 0;
	return scan_damage(tar->scan, tar->at, "size '%.*s' is not a number",
			   (int)(record->value_length < 40 ?
				 record->value_length : 40), record->value);
}

static int take_record(struct tar *tar, const struct pax_record *record,
		       bool global)
{
	bool name = pax_is(record, "path"), size = pax_is(record, "size");

	if (pax_is(record, "GNU.sparse."))
		return scan_damage(tar->scan, tar->at,
				   "a sparse member: parts of the file are not in the archive; pack it without --sparse");
	if (!name && !size)
		return 0;
	/* A global header would give all members the same name or size. */
	if (global)
		return scan_damage(tar->scan, tar->at,
				   "a global header with the %s of a member",
				   name ? "path" : "size");
	/* An empty value cancels the name or size of earlier extension headers. */
	if (size)
		return take_size(tar, record);
	return take_name(tar, record->value, record->value_length);
}

static int read_pax(struct tar *tar, uint64_t size, bool global)
{
	char *text = read_body(tar, size, PAX_MAX);
	struct pax_record record;
	uint64_t done = 0;

	if (!text)
		return fail_code();
	while (done < size && !fail_code()) {
		size_t bytes = pax_next(text + done, size - done, &record);

		if (!bytes)
			scan_damage(tar->scan, tar->at + TAR_BLOCK + done,
				    "not a record of a pax header");
		else
			take_record(tar, &record, global);
		done += bytes;
	}
	free(text);
	return fail_code();
}

static int read_long_name(struct tar *tar, uint64_t size)
{
	char *name = read_body(tar, size, SCAN_NAME_MAX + 1);

	if (name)
		take_name(tar, name, strlen(name));
	free(name);
	return fail_code();
}

/* WebDataset skips files whose path begins with a component like "__meta__". */
static bool is_meta(const char *path)
{
	size_t length = strcspn(path, "/");

	/* The regular expression $ of Python also matches before a newline at the end. */
	if (!path[length] && length && path[length - 1] == '\n')
		length--;
	return length >= 4 && !strncmp(path, "__", 2) && !strncmp(path + length - 2, "__", 2);
}

/*
 * Returns the length of the key of a file, or 0 if it has none. The rule of WebDataset, which other
 * readers share, is ^((?:.*\/|)[^.]+)[.]([^\/]*)$: the key is the path up to the first dot of the
 * file name. The last component of the key, or several of the last ones, must have no dot and at
 * least one character. So ".x" has no key, the key of "d/.x" is "d/", and "d.e/.x" has none.
 * In the expression . does not match a newline: a component behind a newline cannot be the last.
 */
static size_t sample_key(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t start = slash ? (size_t)(slash + 1 - path) : 0;
	size_t key = start + strcspn(path + start, ".");
	size_t newline = strcspn(path, "\n");

	if (!path[key] || is_meta(path))
		return 0;
	while (start && (start == key || start > newline))
		for (start--; start && path[start - 1] != '/'; start--)
			;
	return start < key && !memchr(path + start, '.', key - start) ? key : 0;
}

/* Returns whether a file belongs to the last sample. @key: from sample_key(). */
static bool goes_on(const struct shard_index *index, const char *path,
		    size_t key)
{
	const char *name;

	if (!index->samples)
		return false;
	name = index_name(index, index->sample[index->samples - 1].name);
	return strlen(name) == key && !memcmp(name, path, key);
}

static int add_file(const struct tar *tar, const char *path, uint64_t size,
		    uint64_t end)
{
	struct shard_index *index = tar->scan->index;
	struct index_range *range;
	size_t key = sample_key(path);
	uint64_t name;

	if (!key)
		return 0;
	if (!goes_on(index, path, key) &&
	    (scan_add_name(tar->scan, path, key, &name) ||
	     scan_add_sample(tar->scan, name, tar->start, 0)))
		return fail_code();
	if (scan_add_name(tar->scan, path, strlen(path), &name) ||
	    scan_add_part(tar->scan, name, tar->at + TAR_BLOCK, size))
		return fail_code();
	range = &index->sample[index->samples - 1].range;
	range->length = end - range->offset;
	return 0;
}

/* Rejects members that tar programs read in different ways. */
static int check_type(const struct tar *tar, enum tar_type type, uint64_t size)
{
	if (type == TAR_SPARSE)
		return scan_damage(tar->scan, tar->at,
				   "a sparse member: parts of the file are not in the archive; pack it without --sparse");
	if (type == TAR_CONTINUED)
		return scan_damage(tar->scan, tar->at,
				   "a member that continues a member of another volume");
	if (type >= TAR_SOFT_LINK && type <= TAR_FIFO && size)
		return scan_damage(tar->scan, tar->at,
				   "a link, device or directory (type %c) with %llu bytes of data",
				   type, (unsigned long long)size);
	return 0;
}

static int read_member(struct tar *tar, const unsigned char *block,
		       enum tar_type type, uint64_t size)
{
	char name[TAR_NAME];
	uint64_t end;

	if (tar->sized)
		size = tar->size;
	/* A hard link's header has the size of the link's target, but no data follows. */
	if (type == TAR_HARD_LINK)
		size = 0;
	if (check_type(tar, type, size) || find_end(tar, size, &end))
		return fail_code();
	tar_name(block, name);
	if ((type == TAR_FILE || type == TAR_FILE_OLD ||
	     type == TAR_CONTIGUOUS) &&
	    add_file(tar, tar->name && *tar->name ? tar->name : name, size, end))
		return fail_code();
	forget_member(tar);
	tar->at = end;
	return 0;
}

/*
 * Reads an extension header, which describes the next member or all members. Returns false if
 * @type is no extension header; otherwise true, also after recording an error.
 */
static bool read_extension(struct tar *tar, enum tar_type type, uint64_t size)
{
	uint64_t end;

	if (type != TAR_PAX && type != TAR_PAX_SUN && type != TAR_PAX_GLOBAL &&
	    type != TAR_LONG_NAME && type != TAR_LONG_LINK)
		return false;
	if (find_end(tar, size, &end))
		return true;
	if (type == TAR_LONG_NAME)
		read_long_name(tar, size);
	else if (type != TAR_LONG_LINK)
		read_pax(tar, size, type == TAR_PAX_GLOBAL);
	tar->announced = type != TAR_PAX_GLOBAL || tar->announced;
	tar->at = end;
	return true;
}

static int read_header(struct tar *tar, const unsigned char *block)
{
	const char *why;
	uint64_t size;

	if (!tar_is_sound(block))
		return scan_damage(tar->scan, tar->at,
				   "the checksum of a header is wrong");
	why = tar_size(block, &size);
	if (why)
		return scan_damage(tar->scan, tar->at,
				   "the size of a member %s", why);
	if (!tar->announced)
		tar->start = tar->at;
	if (read_extension(tar, tar_type(block), size))
		return fail_code();
	return read_member(tar, block, tar_type(block), size);
}

bool index_tar_is(struct index_scan *scan)
{
	const unsigned char *block;

	if (!scan_has(scan, 0, TAR_BLOCK))
		return false;
	block = scan_look(scan, 0, TAR_BLOCK);
	return block && !tar_is_end(block) && tar_is_sound(block);
}

/*
 * Called at a block of zeros, which ends an archive. Searches for data behind the zeros. Returns
 * true if the scan goes on there; otherwise notes the data, or the end of the search, in the index.
 */
static bool read_on(struct tar *tar)
{
	struct index_scan *scan = tar->scan;
	uint64_t at = tar->at, end = at + PADDING_MAX;
	const unsigned char *block = NULL;

	/* An extension header without its member is damage, which the caller reports. */
	if (tar->announced)
		return false;
	for (; at < end && scan_has(scan, at, TAR_BLOCK); at += TAR_BLOCK) {
		block = scan_look(scan, at, TAR_BLOCK);
		if (!block || !tar_is_end(block))
			break;
	}
	if (!block || !scan_has(scan, at, TAR_BLOCK))
		return false;
	if (at == end) {
		scan->index->unsearched = at;
		return false;
	}
	if (scan->concatenated)
		tar->at = at;
	else
		scan->index->rest = at;
	return scan->concatenated;
}

int index_tar(struct index_scan *scan)
{
	struct tar tar = { .scan = scan };
	unsigned char block[TAR_BLOCK];

	for (;;) {
		const unsigned char *next;

		/*
		 * Like tar, accept an archive that ends behind a member without a block of zeros.
		 */
		scan->index->unended = tar.at == scan->size;
		if (scan->index->unended)
			break;
		next = scan_look(scan, tar.at, TAR_BLOCK);
		if (!next || (tar_is_end(next) && !read_on(&tar)))
			break;
		next = scan_look(scan, tar.at, TAR_BLOCK);
		if (!next)
			break;
		memcpy(block, next, TAR_BLOCK);
		if (read_header(&tar, block))
			break;
	}
	if (!fail_code() && tar.announced)
		scan_damage(scan, tar.at,
			    "the archive ends after an extension header without its member");
	forget_member(&tar);
	return fail_code();
}
