// SPDX-License-Identifier: GPL-2.0-only
/* Wait for the other end of a pipe, whatever signals arrive meanwhile. */
#include "lib/wait_data.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "lib/periodic_wait.h"

#define MS	1000000ULL

/* Wait until @fd has data or its writer has closed it. Returns false after @milliseconds. */
bool wait_data(int fd, uint64_t milliseconds)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	uint64_t end = watch_now() + milliseconds * MS, now;
	int ready;

	do {
		now = watch_now();
		/* Round up: before the end, poll() must not return at once. */
		ready = poll(&one, 1, now < end ? (int)((end - now + MS - 1) / MS) : 0);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/* As read(2), but a signal does not end it. */
ssize_t read_again(int fd, void *buffer, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buffer, size);
	while (n < 0 && errno == EINTR);
	return n;
}
