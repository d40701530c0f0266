// SPDX-License-Identifier: GPL-2.0-only
/*
 * block/parallel_devices.c: a job that takes too long is stopped or continues, as it says, and never
 * keeps the locks of its parent.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block/lock.h"
#include "block/parallel_devices.h"
#include "lib/print.h"
#include "said.h"

static bool left_to_parent;

void lock_leave_to_parent(void)
{
	left_to_parent = true;
}

void lock_name(const char *name)
{
	(void)name;
	if (!left_to_parent)
		_exit(CODE_BUSY);
}

void print_start(bool json)
{
	(void)json;
}

static int hang_or_end(const struct many_job *job)
{
	if (job->data)
		return (fail)(CODE_DEVICE, "BROKEN");
	for (;;)
		pause();
}

static void late_jobs(void **state)
{
	struct many_job job[] = {
		{ .name = "stops", .seconds = 1, .stop = true },
		{ .name = "goes on", .seconds = 1 },
		{ .name = "ends", .data = "", .seconds = 60 },
	};
	int status;

	(void)state;
	many_run(job, 3, hang_or_end);
	assert_true(job[0].late && job[1].late && !job[2].late);
	assert_int_equal(job[0].code, CODE_BUSY);
	assert_string_equal(job[0].message, "not finished after 1 seconds; it was stopped");
	assert_int_equal(waitpid(job[0].pid, &status, 0), job[0].pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(job[1].code, CODE_BUSY);
	assert_int_equal(waitpid(job[1].pid, &status, WNOHANG), 0);
	kill(job[1].pid, SIGKILL);
	waitpid(job[1].pid, &status, 0);
	assert_int_equal(job[2].code, CODE_DEVICE);
	assert_string_equal(job[2].message, "BROKEN");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(late_jobs) };

	return RUN(tests);
}
