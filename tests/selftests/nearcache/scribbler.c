// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read from a device with O_DIRECT while another thread continuously overwrites the buffer.  A
 * cache that fills slots from the reader's buffer would cache the overwritten data.
 *
 *	scribbler DEV READ_BYTES READS
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "device.h"

static _Atomic int done;
static size_t bytes;
static char *buffer;

static void *scribble(void *arg)
{
	unsigned char value = 0;

	while (!done)
		memset(buffer, ++value, bytes);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int fd, i;

	if (argc != 4)
		return 2;
	fd = device_open(argv[1], O_RDONLY | O_DIRECT);
	bytes = atoi(argv[2]);
	buffer = aligned_room(bytes);
	if (pthread_create(&thread, NULL, scribble, NULL))
		return 1;
	for (i = 0; i < atoi(argv[3]); i++)
		read_exactly(fd, buffer, bytes, (off_t)i * bytes);
	done = 1;
	pthread_join(thread, NULL);
	return 0;
}
