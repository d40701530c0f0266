// SPDX-License-Identifier: GPL-2.0-only
#include "block/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "block/answer_timeout.h"
#include "block/dm.h"
#include "lib/error.h"

/* Seconds that lock_all() waits for another run, which is starting a device. */
#define LOCK_SECONDS	40
#define LOCK_PAUSE_US	(50 * 1000)

/* FNV-1a, 64 bits: its offset basis and prime. */
#define HASH_START	0xcbf29ce484222325ULL
#define HASH_FACTOR	0x100000001b3ULL

/* Most names that a run locks at a time. */
#define HELD_MAX	4

/* Descriptors that hold the locks of lock_name(), @held_count of them, the newest one last. */
static int held[HELD_MAX];
static unsigned int held_count;
/* Descriptor that holds the lock of lock_all(); -1: none. */
static int all = -1;

/*
 * Return the offset of the byte of DM_CONTROL_NODE that a run locks for @name: a hash. Two names
 * with one hash share a lock, so that their runs wait for each other without need.
 */
static off_t byte_of(const char *name)
{
	uint64_t hash = HASH_START;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * HASH_FACTOR;
	return (off_t)(hash >> 2);
}

/* Keep a descriptor for lock_release(); beyond HELD_MAX it stays open until the process ends. */
static void hold_lock(int fd)
{
	if (fd >= 0 && held_count < HELD_MAX)
		held[held_count++] = fd;
}

static struct flock lock_of(const char *name)
{
	return (struct flock){
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = byte_of(name),
		.l_len = 1,
	};
}

/*
 * Lock a device name against other runs of this command, until lock_release() or the end of the
 * process. Otherwise two runs could undo each other's change or act on outdated checks. Waits
 * without a time limit; a ^C ends the process.
 *
 * The locked file is the node of device-mapper, which needs no writable directory and no cleanup.
 * The lock is per name, because a run takes long if its origin does not answer. If the node cannot
 * be opened, nothing is locked: no dm device exists, or the next step of the run will fail.
 */
void lock_name(const char *name)
{
	struct flock lock = lock_of(name);
	int fd = open(DM_CONTROL_NODE, O_RDWR | O_CLOEXEC);

	/* The descriptor stays open: the kernel drops the lock when the process ends. */
	if (fd >= 0)
		fcntl(fd, F_OFD_SETLKW, &lock);
	hold_lock(fd);
}

/*
 * Keep other runs from changing a device, as lock_name() does, but not from this same lock: for
 * runs that only read. Return false, without the lock, if another run has that of lock_name().
 */
bool lock_try_shared(const char *name)
{
	struct flock lock = lock_of(name);
	int fd = open(DM_CONTROL_NODE, O_RDWR | O_CLOEXEC);

	lock.l_type = F_RDLCK;
	if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock)) {
		close(fd);
		return false;
	}
	hold_lock(fd);
	return true;
}

/* True between lock_name() or lock_try_shared() and lock_release(). */
bool lock_held(void)
{
	return held_count;
}

/*
 * Drop the newest lock of lock_name() or lock_try_shared(), for a process that goes on but changes
 * nothing more.
 */
void lock_release(void)
{
	if (held_count)
		close(held[--held_count]);
}

/*
 * Close the locks that this process has inherited by fork(). The parent keeps them. Otherwise this
 * process would hold them too, even after the end of the parent.
 */
void lock_leave_to_parent(void)
{
	while (held_count)
		lock_release();
	if (all >= 0)
		close(all);
	all = -1;
}

/* Lock for lock_all(). Fails with CODE_BUSY after LOCK_SECONDS. */
static int wait_for_all(int fd)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		/* No device has an empty name, so lock_name() never locks this byte. */
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
 * Keep other runs of this command from starting any device, until dm_resume() has made a table live
 * or this process ends. Otherwise two runs could each find an origin free before the device of the
 * other run exists. One lock per origin would not suffice: an origin may have two names. Call this
 * after lock_name() and after any slow step. First reads @origin, then locks: an origin that does
 * not answer must not block other runs. Fails if another run holds the lock for LOCK_SECONDS.
 */
int lock_all(const struct device *origin)
{
	int fd;

	/* This process has the lock: through another descriptor it would wait for itself. */
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
	/* Unlock first: close() keeps the lock while a child process has the same open file. */
	fcntl(all, F_OFD_SETLK, &lock);
	close(all);
	all = -1;
}
