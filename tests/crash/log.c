// SPDX-License-Identifier: GPL-2.0-only
/* Reading a log of dm-log-writes. */
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define LOG_MAGIC	0x6a736677736872ULL
#define LOG_VERSION	1
#define SECTOR		512U

enum { LOG_FLUSH = 1, LOG_FUA = 2, LOG_DISCARD = 4, LOG_MARK = 8 };

struct disk_super {
	uint64_t magic, version, entries;
	uint32_t sector_size;
};

struct disk_entry {
	uint64_t sector, sectors, flags, data_length;
};

static int bad(const struct log *log, size_t n, const char *what)
{
	fprintf(stderr, "log: entry %zu of %zu: %s\n", n, log->count, what);
	return -1;
}

static int parse(struct log *log)
{
	size_t at = SECTOR, n;

	for (n = 0; n < log->count; n++) {
		struct log_entry *e = &log->entry[n];
		struct disk_entry disk;
		uint64_t flags;

		if (at + SECTOR > log->bytes)
			return bad(log, n, "the log ends before it");
		memcpy(&disk, log->map + at, sizeof(disk));
		flags = le64toh(disk.flags);
		e->sector = le64toh(disk.sector);
		e->sectors = le64toh(disk.sectors);
		e->flush = flags & LOG_FLUSH;
		e->fua = flags & LOG_FUA;
		e->discard = flags & LOG_DISCARD;
		if (flags & LOG_MARK)
			e->mark = (const char *)log->map + at + sizeof(disk);
		at += SECTOR;
		if (e->discard || !e->sectors)
			continue;
		if (e->sectors > (log->bytes - at) / SECTOR)
			return bad(log, n, "the log ends inside its data");
		e->data = log->map + at;
		at += e->sectors * SECTOR;
	}
	return 0;
}

/**
 * log_open() - read a log
 * @log: filled in
 * @path: log device or an image of it
 *
 * Return: 0 or -1, told on stderr.
 */
int log_open(struct log *log, const char *path)
{
	struct disk_super super;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(log, 0, sizeof(*log));
	if (fd < 0 || fstat(fd, &st) || st.st_size < 2 * SECTOR) {
		perror(path);
		return -1;
	}
	log->bytes = st.st_size;
	log->map = mmap(NULL, log->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (log->map == MAP_FAILED) {
		perror(path);
		return -1;
	}
	memcpy(&super, log->map, sizeof(super));
	if (le64toh(super.magic) != LOG_MAGIC || le64toh(super.version) != LOG_VERSION ||
	    le32toh(super.sector_size) != SECTOR) {
		fprintf(stderr, "%s: no log of version %d with sectors of %u bytes\n", path,
			LOG_VERSION, SECTOR);
		return -1;
	}
	log->count = le64toh(super.entries);
	log->entry = calloc(log->count + 1, sizeof(*log->entry));
	if (!log->entry)
		return -1;
	return parse(log);
}

void log_close(struct log *log)
{
	free(log->entry);
	munmap((void *)log->map, log->bytes);
}
