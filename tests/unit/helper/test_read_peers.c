// SPDX-License-Identifier: GPL-2.0-only
/* cluster/read_peers.c: each byte of the ranges is read, in aligned reads, until an error or a signal. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "block/device.h"
#include "block/signals.h"
#include "cluster/read_peers.h"
#include "lib/error.h"
#include "unit.h"

#define MIB	(1ULL << 20)
#define SIZE	(16 * MIB + 2048)
#define GRAIN	512

/* How often each sector was read; a read of @broken fails. */
static unsigned char times[SIZE / GRAIN];
static uint64_t broken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	(void)number;
	(void)role;
	*dev = (struct device){ .fd = 1000, .size = SIZE };
	return 0;
}

void device_close(struct device *dev)
{
	(void)dev;
}

void *device_buffer(size_t bytes)
{
	return aligned_alloc(4096, bytes);
}

ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	size_t i, got = bytes > 8192 ? bytes / 8192 * 4096 : bytes;

	assert_int_equal(fd, 1000);
	assert_true(!(offset % 4096) && (!(bytes % 4096) || offset + bytes == SIZE));
	assert_true(bytes <= MIB + 8192);
	if ((uint64_t)offset <= broken && broken < (uint64_t)offset + bytes) {
		errno = EIO;
		return -1;
	}
	memset(buffer, 0, bytes);
	pthread_mutex_lock(&lock);
	for (i = 0; i < got / GRAIN; i++)
		times[offset / GRAIN + i]++;
	pthread_mutex_unlock(&lock);
	return (ssize_t)got;
}

static struct homes homes = { .name = "vol", .size = SIZE };
static struct range pieces[] = { { 0, 3 * MIB }, { 5 * MIB + 512, 512 },
				 { 8 * MIB + 1024, 2 * MIB + 8192 }, { 16 * MIB, 2048 } };

static struct peer_reading reading_of(size_t count)
{
	struct peer_reading reading = { .piece = pieces, .pieces = count, .quiet = true };
	size_t i;

	memset(times, 0, sizeof(times));
	broken = UINT64_MAX;
	for (i = 0; i < count; i++)
		reading.bytes += pieces[i].length;
	return reading;
}

static void each_byte(void **state)
{
	struct peer_reading reading = reading_of(4);
	uint64_t at, sum = 0;
	size_t i;

	(void)state;
	assert_int_equal(read_peers(&homes, &reading), 0);
	assert_true(!reading.stopped && reading.done == reading.bytes);
	for (i = 0; i < 4; i++)
		for (at = pieces[i].start; at < pieces[i].start + pieces[i].length; at += GRAIN)
			assert_true(times[at / GRAIN]);
	for (i = 0; i < sizeof(times); i++)
		sum += times[i] * GRAIN;
	/* A read that is not aligned is wider: by less than two pages at each of its ends. */
	assert_true(sum <= reading.bytes + 4 * 2 * 8192);
	reading = reading_of(0);
	assert_int_equal(read_peers(&homes, &reading), 0);
}

static void error_named(void **state)
{
	struct peer_reading reading = reading_of(4);

	(void)state;
	/* No read of another chunk is so wide that it has this sector. */
	broken = 8 * MIB + 2048;
	assert_int_equal(read_peers(&homes, &reading), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "'vol' at byte 8389632"));
	assert_true(reading.done < reading.bytes);
	fail_reset();
}

/* At this rate the second read is due in an hour. */
static void signal_ends(void **state)
{
	struct peer_reading reading = reading_of(4);
	sigset_t before;

	(void)state;
	reading.bandwidth = 256;
	signals_hold(&before);
	raise(SIGTERM);
	assert_int_equal(read_peers(&homes, &reading), 0);
	signals_release(&before);
	assert_true(reading.stopped && reading.done < reading.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte), cmocka_unit_test(error_named),
		cmocka_unit_test(signal_ends),
	};

	return RUN(tests);
}
