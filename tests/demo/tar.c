// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tar.h"

/* Header of a member, POSIX.1-1988; numbers are octal text. */
struct tar_header {
	char name[TAR_NAME];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char linkname[TAR_NAME];
	char magic[6];
	char version[2];
	char uname[32];
	char gname[32];
	char devmajor[8];
	char devminor[8];
	char prefix[155];
	char pad[12];
};

_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "tar header size");

static const char zeros[TAR_BLOCK];

/* Return the sum of all bytes; the bytes of the checksum field count as spaces. */
static unsigned int header_sum(const struct tar_header *header)
{
	const unsigned char *byte = (const unsigned char *)header;
	size_t first = offsetof(struct tar_header, checksum);
	unsigned int sum = 0;
	size_t i;

	for (i = 0; i < TAR_BLOCK; i++)
		sum += i - first < sizeof(header->checksum) ? ' ' : byte[i];
	return sum;
}

/* Parse octal text, or a big-endian number if the top bit is set (large files). */
static uint64_t number(const char *field, size_t length)
{
	const unsigned char *byte = (const unsigned char *)field;
	uint64_t value = 0;
	size_t i;

	if (byte[0] & 0x80) {
		for (i = length - 8; i < length; i++)
			value = value << 8 | byte[i];
		return value;
	}
	for (i = 0; i < length && byte[i] == ' '; i++)
		;
	for (; i < length && byte[i] >= '0' && byte[i] <= '7'; i++)
		value = value << 3 | (byte[i] - '0');
	return value;
}

void tar_check_start(struct tar_check *check)
{
	memset(check, 0, sizeof(*check));
}

static int refuse(struct tar_check *check, const char *what)
{
	snprintf(check->error, sizeof(check->error),
		 "%s at byte %llu", what, (unsigned long long)check->offset);
	return -1;
}

/* Copy the long name to @name: GNU stores only the name, POSIX a record "LENGTH path=NAME\n". */
static void extended_path(struct tar_check *check, char *name)
{
	char *path = check->extended;
	char *end;

	check->extended[check->extended_used] = '\0';
	if (check->extended_type == 'x') {
		path = strstr(path, " path=");
		if (!path)
			return;
		path += strlen(" path=");
		end = strchr(path, '\n');
		if (end)
			*end = '\0';
	}
	strcpy(name, path);
}

static void count_member(struct tar_check *check,
			 const struct tar_header *header)
{
	char name[TAR_EXTENDED];
	char *base, *dot;

	snprintf(name, sizeof(name), "%.155s/%.100s", header->prefix,
		 header->name);
	if (check->extended_type)
		extended_path(check, name);
	base = strrchr(name, '/');
	dot = strchr(base ? base : name, '.');
	if (dot)
		*dot = '\0';
	if (check->members && strcmp(name, check->key))
		check->samples++;
	strcpy(check->key, name);
	check->members++;
}

static void keep_extended(struct tar_check *check, const char *data,
			  size_t length)
{
	size_t room = sizeof(check->extended) - 1 - check->extended_used;

	if (length > room)
		length = room;
	memcpy(check->extended + check->extended_used, data, length);
	check->extended_used += length;
}

/* Count a regular file.  After a header 'L' or 'x', the content is the next member's long name. */
static void feed_type(struct tar_check *check,
		      const struct tar_header *header)
{
	check->type = header->type;
	switch (header->type) {
	case '0':
	case '\0':
		count_member(check, header);
		check->extended_type = 0;
		break;
	case 'L':
	case 'x':
		check->extended_type = header->type;
		check->extended_used = 0;
		break;
	case '1' ... '6':
		check->extended_type = 0;
	}
}

static int feed_header(struct tar_check *check, const void *data)
{
	const struct tar_header *header = data;
	uint64_t size;

	if (!memcmp(header, zeros, TAR_BLOCK)) {
		check->zero_blocks++;
		return 0;
	}
	if (check->zero_blocks >= 2)
		return refuse(check, "data behind the end of the archive");
	check->zero_blocks = 0;
	if (memcmp(header->magic, "ustar", 5))
		return refuse(check, "no tar header");
	if (number(header->checksum, sizeof(header->checksum)) !=
	    header_sum(header))
		return refuse(check, "wrong tar header checksum");
	size = number(header->size, sizeof(header->size));
	if (size > 1ULL << 50)
		return refuse(check, "absurd member size");
	/* Links, directories and devices have no content. */
	if (header->type < '1' || header->type > '6')
		check->skip = (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	feed_type(check, header);
	return 0;
}

int tar_check_feed(struct tar_check *check, const void *data, size_t length)
{
	const char *byte = data;
	size_t step;

	if (length % TAR_BLOCK)
		return refuse(check, "length is no multiple of 512");
	while (length) {
		step = TAR_BLOCK;
		if (check->skip) {
			step = check->skip < length ? check->skip : length;
			check->skip -= step;
			if (check->type && check->type == check->extended_type)
				keep_extended(check, byte, step);
		} else if (feed_header(check, byte)) {
			return -1;
		}
		check->offset += step;
		byte += step;
		length -= step;
	}
	return 0;
}

int tar_check_end(struct tar_check *check)
{
	if (check->skip)
		return refuse(check, "archive is cut inside a member");
	if (check->zero_blocks < 2)
		return refuse(check, "end of the archive is missing");
	if (check->members)
		check->samples++;
	return 0;
}

long tar_write_member(FILE *file, const char *name, const void *data,
		      size_t length)
{
	size_t padding = (TAR_BLOCK - length % TAR_BLOCK) % TAR_BLOCK;
	struct tar_header header = { .type = '0' };

	if (strlen(name) > sizeof(header.name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(header.name, name, strlen(name));
	strcpy(header.mode, "0000644");
	strcpy(header.uid, "0000000");
	strcpy(header.gid, "0000000");
	snprintf(header.size, sizeof(header.size), "%011zo", length);
	strcpy(header.mtime, "00000000000");
	memcpy(header.magic, "ustar", sizeof(header.magic));
	memcpy(header.version, "00", sizeof(header.version));
	snprintf(header.checksum, sizeof(header.checksum), "%06o",
		 header_sum(&header));
	header.checksum[7] = ' ';
	if (fwrite(&header, TAR_BLOCK, 1, file) != 1 ||
	    (length && fwrite(data, length, 1, file) != 1) ||
	    (padding && fwrite(zeros, padding, 1, file) != 1))
		return -1;
	return TAR_BLOCK + length + padding;
}

long tar_write_end(FILE *file)
{
	int i;

	for (i = 0; i < 2; i++)
		if (fwrite(zeros, TAR_BLOCK, 1, file) != 1)
			return -1;
	return 2 * TAR_BLOCK;
}
