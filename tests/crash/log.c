// SPDX-License-Identifier: GPL-2.0-only
/* Read a log of the crash-log target and compute when each write becomes durable. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "logger/entry.h"

#define SECTOR		CRASH_LOG_SECTOR

static int bad(const struct log *log, const char *what)
{
	fprintf(stderr, "log: entry %zu: %s\n", log->count, what);
	return -1;
}

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* Completed writes that are not yet durable: entry of the write, entry of its completion. */
struct volatile_writes {
	struct done {
		size_t write, at;
	} *done;
	size_t count, room;
};

static void add_done(struct volatile_writes *v, size_t write, size_t at)
{
	if (v->count == v->room) {
		v->room = v->room * 2 + 1024;
		v->done = must(realloc(v->done, v->room * sizeof(*v->done)));
	}
	v->done[v->count].write = write;
	v->done[v->count++].at = at;
}

/* Make durable all writes that completed on the flushed device before entry @sent, the flush. */
static void flush_done(struct log *log, struct volatile_writes *v, size_t sent)
{
	size_t i, left = 0;

	for (i = 0; i < v->count; i++)
		if (v->done[i].at < sent &&
		    log->entry[v->done[i].write].device == log->entry[sent].device)
			log->entry[v->done[i].write].durable = log->count;
		else
			v->done[left++] = v->done[i];
	v->count = left;
}

/* Process the completion of the write or flush @head->of.  Returns -1 after an error message. */
static int add_end(struct log *log, struct volatile_writes *v, const struct crash_log_head *head)
{
	struct log_entry *of;

	if (head->of >= log->count)
		return bad(log, "completes an entry that does not exist");
	of = &log->entry[head->of];
	of->done = log->count;
	log->entry[log->count].ends = head->of;
	if (head->kind == CRASH_LOG_FAILED)
		return bad(log, "a write or a flush failed");
	if (!of->sectors)
		flush_done(log, v, head->of);
	else if (of->fua)
		of->durable = log->count;
	else
		add_done(v, head->of, log->count);
	return 0;
}

static int add(struct log *log, struct volatile_writes *v, const struct crash_log_head *head)
{
	struct log_entry *e = &log->entry[log->count];

	memset(e, 0, sizeof(*e));
	e->done = LOG_NEVER;
	e->durable = LOG_NEVER;
	e->ends = LOG_NEVER;
	e->fua = head->fua;
	e->device = head->device;
	if (head->number != log->count)
		return bad(log, "has a wrong number");
	if (head->device >= LOG_DEVICES)
		return bad(log, "has a device number that is too large");
	switch (head->kind) {
	case CRASH_LOG_WRITE:
		e->sector = head->sector;
		e->sectors = head->sectors;
		e->data = (const unsigned char *)(head + 1);
		break;
	case CRASH_LOG_FLUSH:
		break;
	case CRASH_LOG_MARK:
		e->mark = head->text;
		break;
	default:
		return add_end(log, v, head);
	}
	return 0;
}

static int parse(struct log *log)
{
	const struct crash_log_head *first = (const void *)log->map;
	struct volatile_writes v = { 0 };
	size_t at = 0, room = 0;
	int r = 0;

	while (!r && at + SECTOR <= log->bytes) {
		const struct crash_log_head *head = (const void *)(log->map + at);

		/* The log ends here: what follows is an older log or was never written. */
		if (head->magic != CRASH_LOG_MAGIC || head->log != first->log)
			break;
		at += SECTOR;
		if (head->sectors > (log->bytes - at) / SECTOR) {
			r = bad(log, "the log ends inside its data");
			break;
		}
		at += head->sectors * SECTOR;
		if (log->count == room) {
			room = room * 2 + 4096;
			log->entry = must(realloc(log->entry, room * sizeof(*log->entry)));
		}
		r = add(log, &v, head);
		log->count++;
	}
	free(v.done);
	return r;
}

/**
 * log_open() - read a log
 * @log: filled in
 * @path: log device or an image of it
 *
 * Return: 0, or -1 after an error message on stderr.
 */
int log_open(struct log *log, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(log, 0, sizeof(*log));
	if (fd < 0 || fstat(fd, &st) || st.st_size < SECTOR) {
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
	return parse(log);
}

/* Returns true if the last entry is the end mark: no entry is missing. */
bool log_complete(const struct log *log)
{
	return log->count && log->entry[log->count - 1].mark &&
	       !strcmp(log->entry[log->count - 1].mark, CRASH_LOG_END);
}

void log_close(struct log *log)
{
	free(log->entry);
	munmap((void *)log->map, log->bytes);
}
