// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write to a device while another thread continuously overwrites the buffer.
 *
 *	scribble_write DEV WRITE_BYTES WRITES [FILE | DEV]
 *
 * The writes are direct and sequential, from anonymous memory or from a shared mapping of FILE.
 * With DEV as the last word, the buffer is a mapping of DEV itself, written back after each change.
 * The content that DEV gets is undefined, but cache device and origin must get the same content.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"

static _Atomic int done;
static _Atomic unsigned long passes;
static size_t bytes;
static char *buffer;

static void *scribble(void *arg)
{
	unsigned char value = 0;

	while (!done) {
		memset(buffer, ++value, bytes);
		passes++;
	}
	return NULL;
}

static char *mapping(int fd)
{
	void *map;

	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		exit(1);
	return map;
}

static char *file_mapping(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, bytes)) {
		perror(path);
		exit(1);
	}
	return mapping(fd);
}

/* Wait until the other thread has overwritten the buffer once more, then write the buffer back. */
static void write_back(void)
{
	unsigned long before = passes;

	while (passes == before)
		sched_yield();
	if (msync(buffer, bytes, MS_SYNC)) {
		perror("msync");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	bool self = argc > 4 && !strcmp(argv[4], argv[1]);
	pthread_t thread;
	int fd, i;

	if (argc < 4)
		return 2;
	fd = device_open(argv[1], self ? O_RDWR : O_RDWR | O_DIRECT);
	bytes = atoi(argv[2]);
	if (self)
		buffer = mapping(fd);
	else
		buffer = argc > 4 ? file_mapping(argv[4]) : aligned_room(bytes);
	if (pthread_create(&thread, NULL, scribble, NULL))
		return 1;
	for (i = 0; i < atoi(argv[3]); i++)
		if (self)
			write_back();
		else
			write_exactly(fd, buffer, bytes, (off_t)i * bytes);
	done = 1;
	pthread_join(thread, NULL);
	return 0;
}
