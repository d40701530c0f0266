// SPDX-License-Identifier: GPL-2.0-only
#include "lock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "dm.h"

/* FNV-1a, 64 bits: its offset basis and prime. */
#define HASH_START	0xcbf29ce484222325ULL
#define HASH_FACTOR	0x100000001b3ULL

/* The last lock; -1: none. */
static int held = -1;

/* The byte of the file that stands for a name; two names of one only wait. */
static off_t byte_of(const char *name)
{
	uint64_t hash = HASH_START;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * HASH_FACTOR;
	return (off_t)(hash >> 2);
}

/**
 * lock_name() - keep other runs of this command off a device, to the end
 * @name: dm name, which need not exist
 *
 * A change is made from what was looked up: two of them at once would undo each
 * other, or act on checks that no longer hold.  Waits; a ^C ends that.
 *
 * device-mapper's own node is the file: it needs no directory that can be
 * written and no cleaning up.  By name, because another device may take long,
 * with an origin that does not answer.  Where it cannot be opened, no device
 * exists yet or the rights are missing, and whoever goes on says so.
 */
void lock_name(const char *name)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = byte_of(name),
		.l_len = 1,
	};
	int fd = open(DM_CONTROL_NODE, O_RDWR | O_CLOEXEC);

	/* Stays open: the end of the process gives the lock back. */
	if (fd >= 0)
		fcntl(fd, F_OFD_SETLKW, &lock);
	held = fd;
}

/* Let others at the device that was locked last: all that is left is to look on. */
void lock_release(void)
{
	if (held >= 0)
		close(held);
	held = -1;
}

/**
 * lock_all() - keep other runs of this command from starting devices, to the end
 *
 * Two devices on one origin, which may have two names, must not look at each other
 * before either is there.  After lock_name(), and after what may take long.
 */
void lock_all(void)
{
	static bool locked;

	/* No device has that name.  A second lock would wait for the first one. */
	if (!locked)
		lock_name("");
	locked = true;
}
