// SPDX-License-Identifier: GPL-2.0-only
/*
 * A suspend is one ioctl, which returns when the file system is frozen and all I/O has completed.
 * Meanwhile a child process reports the I/O and the dirty data that are left. A thread would not
 * do: the child hangs if its output goes to a file on the suspended device, and the parent must be
 * able to resume this device.
 * The parent forks before mlockall(), which gives it its own copy of each page that it may write:
 * after a later fork() its writes would allocate memory while the device is suspended.
 */
#include "block/dm.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block/device_sysfs.h"
#include "lib/print.h"
#include "lib/progress.h"
#include "lib/size.h"

#define PAUSE_US	(100 * 1000)
/* Pauses in which the parent waits for the end of the killed child. */
#define END_TRIES	10

/*
 * Memory of both processes. @progress: the parent starts it before it sets @started and ends it
 * after it has killed the child; between the two only the child uses it. @freezes: the suspend
 * first freezes the file system.
 */
struct shared {
	struct progress progress;
	bool freezes;
	atomic_bool started;
};

static struct shared *shared;
static pid_t child = -1;

/* Return the dirty bytes of all file systems, which is all that the kernel tells everybody. */
static uint64_t dirty_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long sum = 0, kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Dirty: %lu", &kib) == 1 ||
		    sscanf(line, "Writeback: %lu", &kib) == 1)
			sum += kib;
	if (file)
		fclose(file);
	return (uint64_t)sum << 10;
}

static void describe_wait(dev_t number, bool freezes, char *text, size_t size)
{
	char inflight[64], dirty[SIZE_TEXT];
	unsigned long reads = 0, writes = 0;
	size_t used = 0;

	if (identity_attribute(number, "inflight", inflight, sizeof(inflight)))
		sscanf(inflight, "%lu %lu", &reads, &writes);
	if (freezes)
		used = (size_t)snprintf(text, size,
					"the file system writes its dirty data (%s dirty on this host)",
					size_print(dirty_bytes(), dirty));
	if (reads || writes)
		snprintf(text + used, size - used, "%s%lu read%s and %lu write%s are in flight",
			 freezes ? "; " : "", reads, reads == 1 ? "" : "s", writes,
			 writes == 1 ? "" : "s");
	else if (!freezes)
		snprintf(text, size, "waits for the flush of the origin and of the cache device");
}

/* Keep only the errors: an open file would keep the locks of the parent after its end. */
static void drop_descriptors(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || close_range(3, ~0U, 0))
		_exit(0);
}

static void __attribute__((noreturn)) tell_forever(dev_t number, pid_t parent)
{
	char text[240];

	/* Do not outlive the parent, which may be killed, or was before prctl(). */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	drop_descriptors();
	for (;;) {
		usleep(PAUSE_US);
		if (!atomic_load(&shared->started))
			continue;
		describe_wait(number, shared->freezes, text, sizeof(text));
		progress_say(&shared->progress, text);
	}
}

/*
 * Fork the child, which prints nothing before suspend_progress_start(). If fork() fails, no
 * progress is printed. The caller then calls mlockall(), and at the end suspend_progress_end().
 */
void suspend_progress_prepare(dev_t number)
{
	pid_t parent = getpid();

	if (print_is_json() || !number)
		return;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		shared = NULL;
		return;
	}
	/* If fork() fails, the result is -1, which suspend_progress_end() ignores. */
	child = fork();
	if (!child)
		tell_forever(number, parent);
}

/* Tell from now on what the suspend of device @name waits for, if a child is prepared. */
void suspend_progress_start(const char *name, bool freezes)
{
	if (child <= 0)
		return;
	progress_start(&shared->progress, name, 0, false);
	shared->freezes = freezes;
	atomic_store(&shared->started, true);
}

/*
 * End the child, if there is one, and clear the line that it has drawn. Does not wait for a child
 * that hangs in its output: it ends when the device is resumed.
 */
void suspend_progress_end(void)
{
	int tries = 0;

	if (child > 0) {
		kill(child, SIGKILL);
		while (!waitpid(child, NULL, WNOHANG) && tries++ < END_TRIES)
			usleep(PAUSE_US / 10);
		progress_end(&shared->progress);
	}
	child = -1;
	if (shared)
		munmap(shared, sizeof(*shared));
	shared = NULL;
}
