// SPDX-License-Identifier: GPL-2.0-only
/* Run one job per device, each in a process of its own, with a time limit. */
#include "block/parallel_devices.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/wait_data.h"
#include "block/lock.h"
#include "lib/print.h"

static void __attribute__((noreturn))
child(const struct many_job *job, int (*run)(const struct many_job *job),
      int pipe)
{
	/* Drop the output of the job: only the parent reports results. */
	if (!freopen("/dev/null", "w", stdout))
		_exit(CODE_DEVICE);
	print_start(false);
	/* This process may outlive the parent, whose locks must not stay. */
	lock_leave_to_parent();
	fail_reset();
	lock_name(job->name);
	run(job);
	if (write(pipe, fail_message(), strnlen(fail_message(),
						MANY_TEXT - 1)) < 0)
		_exit(CODE_DEVICE);
	_exit((int)fail_code());
}

static void start_job(struct many_job *job, int (*run)(const struct many_job *job))
{
	int pipes[2];

	job->pipe = -1;
	job->pid = pipe(pipes) ? -1 : fork();
	if (!job->pid) {
		close(pipes[0]);
		child(job, run, pipes[1]);
	}
	if (job->pid < 0) {
		job->code = CODE_MEMORY;
		snprintf(job->message, MANY_TEXT, "cannot start: %s",
			 strerror(errno));
		return;
	}
	close(pipes[1]);
	job->pipe = pipes[0];
}

static long seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* End the wait for a job whose time is over. */
static void give_up_job(struct many_job *job)
{
	job->code = CODE_BUSY;
	job->late = true;
	if (job->stop)
		kill(job->pid, SIGKILL);
	snprintf(job->message, MANY_TEXT, "not finished after %u seconds; %s", job->seconds,
		 job->stop ? "it was stopped" : "it continues in the background");
}

/* Wait for a job up to its time limit. */
static void finish_job(struct many_job *job, long begin)
{
	size_t used = 0;
	ssize_t n = 1;
	int status;

	while (n > 0 && used < MANY_TEXT - 1) {
		long left = begin + (long)job->seconds - seconds_now();

		if (!wait_data(job->pipe, left > 0 ? (uint64_t)left * 1000 : 0)) {
			give_up_job(job);
			return;
		}
		n = read_again(job->pipe, job->message + used, MANY_TEXT - 1 - used);
		if (n > 0)
			used += (size_t)n;
	}
	job->message[used] = '\0';
	waitpid(job->pid, &status, 0);
	job->code = WIFEXITED(status) ? WEXITSTATUS(status) : CODE_DEVICE;
}

/* Run @run for all jobs at once, each in a child process. Sets @code and @message of each job. */
void many_run(struct many_job *job, size_t count,
	      int (*run)(const struct many_job *job))
{
	long begin = seconds_now();
	size_t i;

	fflush(stdout);
	for (i = 0; i < count; i++)
		start_job(&job[i], run);
	for (i = 0; i < count; i++) {
		if (job[i].pipe < 0)
			continue;
		finish_job(&job[i], begin);
		close(job[i].pipe);
	}
}

/*
 * If jobs failed, record how many, and the message of the first one that failed. Returns the exit
 * code of that job, or 0 if none failed. @done: the action in the error, like "opened".
 */
int many_sum(const struct many_job *job, size_t count, const char *done)
{
	size_t i, failed = 0, first = 0;

	for (i = count; i; i--)
		if (job[i - 1].code) {
			failed++;
			first = i - 1;
		}
	if (!failed)
		return 0;
	return fail((enum exit_code)job[first].code,
		    "%zu of %zu devices were not %s; '%s': %s", failed, count,
		    done, job[first].name, job[first].message);
}
