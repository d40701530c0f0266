// SPDX-License-Identifier: GPL-2.0-only
#include "block/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "block/timeout.h"
#include "block/dm.h"
#include "lib/error.h"

/* Seconds that starting a device may take others. */
#define LOCK_SECONDS	40
#define LOCK_PAUSE_US	(50 * 1000)

/* FNV-1a, 64 bits: its offset basis and prime. */
#define HASH_START	0xcbf29ce484222325ULL
#define HASH_FACTOR	0x100000001b3ULL

/* The last lock; -1: none. */
static int held = -1;
/* What is locked by lock_all(), -1: nothing. */
static int all = -1;

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

/* Return: 0 or the exit code, after LOCK_SECONDS. */
static int wait_for_all(int fd)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		/* No device has that name. */
		.l_start = byte_of(""),
		.l_len = 1,
	};
	unsigned int tries = LOCK_SECONDS * 1000000 / LOCK_PAUSE_US;

	while (fcntl(fd, F_OFD_SETLK, &lock)) {
		if (errno != EAGAIN && errno != EACCES)
			return fail_errno(errno,
					  "cannot lock '" DM_CONTROL_NODE "'");
		if (!tries--)
			return fail(CODE_BUSY,
				    "another 'nearcache' has been starting a device for %d seconds: its devices may not answer (ps, dmesg); end it, or try again",
				    LOCK_SECONDS);
		usleep(LOCK_PAUSE_US);
	}
	return 0;
}

/**
 * lock_all() - keep other runs of this command from starting devices
 * @origin: of the device that is to be started
 *
 * Two devices on one origin, which may have two names, must not look at each other
 * before either is there.  After lock_name(), and after what may take long: an origin that
 * does not answer stops nobody else, it is read before.  Until dm_resume() has
 * made a table live, or to the end.
 *
 * Return: 0 or the exit code: somebody else has had it for long.
 */
int lock_all(const struct device *origin)
{
	int fd;

	/* A second lock would wait for the first one. */
	if (all >= 0)
		return 0;
	if (answer_check(origin))
		return fail_code();
	fd = open(DM_CONTROL_NODE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (wait_for_all(fd))
		close(fd);
	else
		all = fd;
	return fail_code();
}

/* Whether lock_all() holds. */
bool lock_holds_all(void)
{
	return all >= 0;
}

/* End lock_all(), if it holds. */
void unlock_all(void)
{
	struct flock lock = { .l_whence = SEEK_SET, .l_type = F_UNLCK };

	if (all < 0)
		return;
	/* Also where a child has it open. */
	fcntl(all, F_OFD_SETLK, &lock);
	close(all);
	all = -1;
}
