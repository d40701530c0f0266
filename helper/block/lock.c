// SPDX-License-Identifier: GPL-2.0-only
#include "block/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "block/answer_timeout.h"
#include "block/dm.h"
#include "lib/error.h"

/* Seconds to wait for another run that starts a device. */
#define LOCK_SECONDS	40
#define LOCK_PAUSE_US	(50 * 1000)

/* FNV-1a, 64 bits: its offset basis and prime. */
#define HASH_START	0xcbf29ce484222325ULL
#define HASH_FACTOR	0x100000001b3ULL

/* Lock of lock_name(); -1: none. */
static int held = -1;
/* Lock of lock_all(); -1: none. */
static int all = -1;

/*
 * The byte of the file that stands for a name. After a hash collision one run only waits for the
 * other.
 */
static off_t byte_of(const char *name)
{
	uint64_t hash = HASH_START;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * HASH_FACTOR;
	return (off_t)(hash >> 2);
}

/*
 * Lock a device name against other runs of this command until this process ends. Two changes at
 * once, each built from its own look-up, would undo each other or act on outdated checks. Waits; a
 * ^C ends the wait.
 *
 * The file is device-mapper's own node: it needs no writable directory and no cleanup. The lock is
 * per name, because another device may take long if its origin does not answer. If the node cannot
 * be opened, no device exists or the caller lacks the rights; the next step reports that.
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

	/* The descriptor stays open: the kernel drops the lock when the process ends. */
	if (fd >= 0)
		fcntl(fd, F_OFD_SETLKW, &lock);
	held = fd;
}

/* Drop the last lock of lock_name(), for a command that from now on only reads. */
void lock_release(void)
{
	if (held >= 0)
		close(held);
	held = -1;
}

/* Fails after LOCK_SECONDS. */
static int wait_for_all(int fd)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		/* No device has an empty name. */
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
				    "another 'nearcache' has been starting a device for %d seconds: its devices may not answer (see ps, dmesg); stop it, or try again",
				    LOCK_SECONDS);
		usleep(LOCK_PAUSE_US);
	}
	return 0;
}

/*
 * Keep other runs of this command from starting devices, until dm_resume() has made a table live or
 * this process ends. Without it two devices on one origin (which may have two names) could each
 * check before the other exists. Call it after lock_name() and after any slow step: the origin is
 * read before, so that an origin that does not answer does not block other runs. Fails if another
 * run holds the lock for LOCK_SECONDS.
 */
int lock_all(const struct device *origin)
{
	int fd;

	/* A second lock of this process would wait for the first one. */
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

bool lock_holds_all(void)
{
	return all >= 0;
}

void unlock_all(void)
{
	struct flock lock = { .l_whence = SEEK_SET, .l_type = F_UNLCK };

	if (all < 0)
		return;
	/* Unlock first: a child may share the open descriptor. */
	fcntl(all, F_OFD_SETLK, &lock);
	close(all);
	all = -1;
}
