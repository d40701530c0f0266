// SPDX-License-Identifier: GPL-2.0-only
/* Test whether a device answers, in a child process that may hang. */
#include "block/answer_timeout.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/wait_data.h"

/* Runs in a child process: read the device, then write the error message to @pipe ("" if none). */
static void __attribute__((noreturn))
ask(const struct device *dev, int pipe)
{
	struct device own = DEVICE_CLOSED;
	char said[512] = "";
	void *buffer;

	/*
	 * Close all inherited files. Otherwise a hanging child would hold the locks of the parent,
	 * and readers of the parent's pipes would see no end of file.
	 */
	if (dup2(pipe, STDIN_FILENO) < 0 ||
	    !freopen("/dev/null", "w", stdout) ||
	    !freopen("/dev/null", "w", stderr))
		_exit(CODE_DEVICE);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	buffer = device_buffer(DEVICE_ALIGN);
	if (!buffer || device_open(&own, dev->path, dev->role) ||
	    device_read(&own, buffer, DEVICE_ALIGN, 0))
		snprintf(said, sizeof(said), "%s", fail_message());
	/* The message fits into the pipe, so the write does not block. */
	_exit(write(STDIN_FILENO, said, sizeof(said)) < 0);
}

static int await_answer(const struct device *dev, int pipe)
{
	char said[512];

	if (!wait_data(pipe, ANSWER_SECONDS * 1000))
		return fail(CODE_DEVICE,
			    "%s '%s' does not answer within %d seconds: is it connected?",
			    dev->role, dev->path, ANSWER_SECONDS);
	if (read_again(pipe, said, sizeof(said)) != (ssize_t)sizeof(said))
		return fail(CODE_DEVICE, "cannot read %s '%s'", dev->role,
			    dev->path);
	return *said ? fail(CODE_DEVICE, "%s", said) : 0;
}

/* Fail unless the device can be read within ANSWER_SECONDS. @dev: only path and role are used. */
int answer_check(const struct device *dev)
{
	int pipes[2];
	pid_t child;

	if (pipe(pipes))
		return fail_errno(errno, "cannot read '%s'", dev->path);
	child = fork();
	if (!child)
		ask(dev, pipes[1]);
	close(pipes[1]);
	if (child < 0)
		fail_errno(errno, "cannot read '%s'", dev->path);
	else
		await_answer(dev, pipes[0]);
	close(pipes[0]);
	if (child > 0) {
		/* Do not wait for a hanging child: it ends once the device completes the read. */
		kill(child, SIGKILL);
		waitpid(child, NULL, fail_code() ? WNOHANG : 0);
	}
	return fail_code();
}
