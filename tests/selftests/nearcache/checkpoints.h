/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files whose content shows what a file system kept after a crash.  checkpoints.c writes them, each
 * change with fsync; checkpoints_check() finds files that are a mixture of old and new data, or
 * lost.  In the folder:
 *
 *	step-N-HASH	checkpoint N; HASH is the SHA-256 of its content.  Written as "tmp", fsync,
 *			rename, fsync of the folder.  Older ones are deleted.
 *	state		replaced by rename; all of its 8-byte words are its version
 *	lines		appended to: line N has 64 bytes
 *	db		64 blocks of 4 KiB, overwritten in place, one after another: write N is on
 *			the device before write N + 1 begins.  Sectors as in sector.h, of generation N.
 */
#ifndef NEARCACHE_TEST_CHECKPOINTS_H
#define NEARCACHE_TEST_CHECKPOINTS_H

#include <dirent.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sector.h"

#define DB_BLOCKS	64U
#define DB_SECTORS	8U
#define LINE		64U
#define STEPS_KEPT	3U
#define HASH_TEXT	(2 * SHA256_DIGEST_SIZE + 1)

/**
 * struct required - files that must be there
 * @first: oldest checkpoint that must be there
 * @last: newest one; below @first: none
 * @state: lowest version of the file "state"
 * @lines: lowest number of lines
 * @db: lowest number of the last write to "db"
 */
struct required {
	unsigned long first, last, state, lines, db;
};

/**
 * struct checked - result of checkpoints_check()
 * @mixed: files with wrong content
 * @lost: files, or changes of files, that are missing
 * @steps: whole checkpoints
 * @said: the first of the faults
 */
struct checked {
	unsigned int mixed, lost, steps;
	char said[256];
};

static inline __attribute__((format(printf, 3, 4)))
void checked_add(struct checked *c, unsigned int *counter, const char *format, ...)
{
	va_list list;

	if (!c->mixed && !c->lost) {
		va_start(list, format);
		vsnprintf(c->said, sizeof(c->said), format, list);
		va_end(list);
	}
	++*counter;
}

static inline void hash_text(const void *data, size_t bytes, char text[HASH_TEXT])
{
	unsigned char digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	unsigned int i;

	sha256_init(&ctx);
	sha256_update(&ctx, bytes, data);
	sha256_digest(&ctx, sizeof(digest), digest);
	for (i = 0; i < sizeof(digest); i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
}

static inline size_t state_bytes(unsigned long version)
{
	return (100 + version * 37 % 900) * sizeof(uint64_t);
}

static inline void line_make(char line[LINE + 1], unsigned long number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%08lu ", number);
	memset(line, 'a' + number % 26, LINE);
	memcpy(line, digits, strlen(digits));
	line[LINE - 1] = '\n';
	line[LINE] = '\0';
}

/* Block that write @n to "db" overwrites; write 0 has written all blocks. */
static inline unsigned int db_block(unsigned long n)
{
	uint64_t state = n * 0x9e3779b97f4a7c15ULL;

	return random_next(&state) % DB_BLOCKS;
}

/* Number of the last write before @n to the block that write @n overwrites. */
static inline unsigned long db_before(unsigned long n)
{
	unsigned int block = db_block(n);

	while (n && (!--n || db_block(n) != block))
		;
	return n;
}

/* Read a file of the folder; returns NULL if it does not exist.  The caller frees the content. */
static inline unsigned char *file_read(const char *dir, const char *name, size_t *bytes)
{
	unsigned char *data;
	char path[8192];
	ssize_t n;
	off_t end;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	end = lseek(fd, 0, SEEK_END);
	data = malloc(end + 1);
	n = data ? pread(fd, data, end, 0) : -1;
	close(fd);
	if (n == end) {
		*bytes = end;
		return data;
	}
	free(data);
	/* A file that cannot be read whole has no right content. */
	*bytes = 0;
	return calloc(1, 1);
}

/* Check the checkpoints: those that exist must be whole, those that are required must exist. */
static inline void steps_check(const char *dir, const struct required *need, struct checked *c)
{
	char hash[HASH_TEXT] = "", name_hash[HASH_TEXT];
	unsigned long number, found = 0, i;
	unsigned char *data;
	struct dirent *e;
	size_t bytes;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		if (sscanf(e->d_name, "step-%lu-%64s", &number, name_hash) != 2)
			continue;
		data = file_read(dir, e->d_name, &bytes);
		if (data)
			hash_text(data, bytes, hash);
		free(data);
		if (!data || strcmp(hash, name_hash)) {
			checked_add(c, &c->mixed, "%.40s has wrong content", e->d_name);
			continue;
		}
		c->steps++;
		if (number >= need->first && number <= need->last)
			found |= 1UL << (number - need->first);
	}
	if (d)
		closedir(d);
	for (i = need->first; i <= need->last; i++)
		if (!(found >> (i - need->first) & 1))
			checked_add(c, &c->lost, "checkpoint %lu is lost", i);
}

static inline void state_check(const char *dir, const struct required *need, struct checked *c)
{
	size_t bytes = 0, i;
	unsigned char *data = file_read(dir, "state", &bytes);
	uint64_t version = 0, word;

	if (!data) {
		if (need->state)
			checked_add(c, &c->lost, "state is lost");
		return;
	}
	if (bytes >= sizeof(version))
		memcpy(&version, data, sizeof(version));
	if (bytes != state_bytes(version)) {
		checked_add(c, &c->mixed, "state %lu has %zu bytes", version, bytes);
		bytes = 0;
	}
	for (i = 0; i < bytes; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		if (word != version) {
			checked_add(c, &c->mixed, "state %lu has data of %lu", version, word);
			break;
		}
	}
	free(data);
	if (version < need->state)
		checked_add(c, &c->lost, "state is %lu, was %lu", version, need->state);
}

static inline void lines_check(const char *dir, const struct required *need, struct checked *c)
{
	size_t bytes = 0, i;
	unsigned char *data = file_read(dir, "lines", &bytes);
	static const char zeros[LINE];
	char line[LINE + 1];

	for (i = 0; data && i < bytes; i += LINE) {
		/* ext4 may record the size of a file before the data that was not flushed. */
		if (i / LINE >= need->lines && !memcmp(data + i, zeros, bytes - i < LINE ? bytes - i : LINE))
			break;
		line_make(line, i / LINE);
		if (memcmp(data + i, line, bytes - i < LINE ? bytes - i : LINE)) {
			checked_add(c, &c->mixed, "line %zu is wrong", i / LINE);
			break;
		}
	}
	free(data);
	if (bytes / LINE < need->lines)
		checked_add(c, &c->lost, "%zu lines, were %lu", bytes / LINE, need->lines);
}

/* Number of the write that a sector of "db" has, or ULONG_MAX if it is not valid. */
static inline unsigned long db_write(const struct sector *s, unsigned int number)
{
	struct sector right;

	sector_make(&right, number, s->generation);
	return memcmp(s, &right, SECTOR) ? -1UL : s->generation;
}

static inline void db_check(const char *dir, const struct required *need, struct checked *c)
{
	unsigned long last = 0, n, right[DB_BLOCKS] = { 0 };
	unsigned int i, block, count = DB_BLOCKS * DB_SECTORS;
	size_t bytes = 0;
	unsigned char *data = file_read(dir, "db", &bytes);
	const struct sector *s = (const void *)data;

	if (!data || bytes != count * SECTOR) {
		checked_add(c, &c->mixed, "db has %zu bytes", bytes);
		free(data);
		return;
	}
	for (i = 0; i < count; i++) {
		n = db_write(s + i, i);
		if (n == -1UL) {
			checked_add(c, &c->mixed, "sector %u of db has foreign data", i);
			free(data);
			return;
		}
		if (n > last)
			last = n;
	}
	for (n = 1; n <= last; n++)
		right[db_block(n)] = n;
	for (i = 0; i < count; i++) {
		block = i / DB_SECTORS;
		n = db_write(s + i, i);
		/* Only the last write may be there in part, unless it is known to have ended. */
		if (n == right[block] || (n == db_before(last) && block == db_block(last) &&
					  last > need->db))
			continue;
		checked_add(c, &c->mixed, "db has write %lu, but its sector %u is of %lu, not %lu",
			    last, i, n, right[block]);
		break;
	}
	free(data);
	if (last < need->db)
		checked_add(c, &c->lost, "db has write %lu, had %lu", last, need->db);
}

/* Check the files of folder @dir. */
static inline void checkpoints_check(const char *dir, const struct required *need,
				     struct checked *c)
{
	memset(c, 0, sizeof(*c));
	steps_check(dir, need, c);
	state_check(dir, need, c);
	lines_check(dir, need, c);
	db_check(dir, need, c);
}

#endif /* NEARCACHE_TEST_CHECKPOINTS_H */
