/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run one job per device, each in its own process, so that no device waits for another.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_PARALLEL_DEVICES_H
#define HELPER_BLOCK_PARALLEL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Size of the error message of a job with NUL. */
#define MANY_TEXT	1024

/**
 * struct many_job - the job for one device
 * @name: device name
 * @data: for the function that runs the job
 * @seconds: many_run() waits this long
 * @stop: kill a job that takes longer: it must leave nothing half done when it is killed. Without
 *	@stop it continues in the background
 * @late: the job took longer, set by many_run()
 * @code: exit code, set by many_run()
 * @message: error message, set by many_run()
 * @pid: process of the job
 * @pipe: the parent reads @message from here
 */
struct many_job {
	const char *name;
	const void *data;
	unsigned int seconds;
	bool stop;
	bool late;
	int code;
	char message[MANY_TEXT];
	pid_t pid;
	int pipe;
};

void many_run(struct many_job *job, size_t count,
	      int (*run)(const struct many_job *job));
int many_sum(const struct many_job *job, size_t count, const char *done);

#endif /* HELPER_BLOCK_PARALLEL_DEVICES_H */
