// SPDX-License-Identifier: GPL-2.0-only
/*
 * A suspend is one ioctl, which returns when the file system is frozen and all I/O has completed.
 * A child process tells meanwhile what is left. It is a process and not a thread: it may hang if
 * its output goes to a file on the suspended device, and the parent must resume this device.
 */
#include "block/suspend_progress.h"

#include <signal.h>
#include <stdio.h>
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
					"waits until its file system has written its dirty data (this host: %s); ",
					size_print(dirty_bytes(), dirty));
	if (reads || writes)
		snprintf(text + used, size - used, "waits for %lu read%s and %lu write%s in flight",
			 reads, reads == 1 ? "" : "s", writes, writes == 1 ? "" : "s");
	else
		snprintf(text + used, size - used,
			 "waits for the flush of the origin and of the cache device");
}

static void __attribute__((noreturn)) tell_forever(const char *name, dev_t number, bool freezes,
						   pid_t parent)
{
	struct progress progress;
	char text[240];

	/* Do not outlive the parent, which may be killed, or was before prctl(). */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	progress_start(&progress, name, 0, false);
	for (;;) {
		usleep(PAUSE_US);
		describe_wait(number, freezes, text, sizeof(text));
		progress_say(&progress, text);
	}
}

/*
 * Start to tell what the suspend of a device waits for. @freezes: the suspend first freezes the
 * file system. Returns a value for suspend_progress_end(), also after a failure, which is harmless.
 */
pid_t suspend_progress_start(const char *name, dev_t number, bool freezes)
{
	pid_t parent = getpid();
	pid_t child = print_is_json() || !number ? -1 : fork();

	if (!child)
		tell_forever(name, number, freezes, parent);
	return child;
}

/* Does not wait for a child that hangs in its output: it ends when the device is resumed. */
void suspend_progress_end(pid_t child)
{
	int tries = 0;

	if (child <= 0)
		return;
	kill(child, SIGKILL);
	while (!waitpid(child, NULL, WNOHANG) && tries++ < END_TRIES)
		usleep(PAUSE_US / 10);
	/* Clear the line that the child may have drawn. */
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
