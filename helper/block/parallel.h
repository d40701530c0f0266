/* SPDX-License-Identifier: GPL-2.0-only */
/* The same for several devices: each in a process of its own, so that none waits for another. */
#ifndef HELPER_BLOCK_PARALLEL_H
#define HELPER_BLOCK_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Room for what a device says. */
#define MANY_TEXT	1024

/**
 * struct many_job - what is done for one device
 * @name: of the device
 * @data: for who does it
 * @seconds: how long that may take
 * @code: the result: its exit code
 * @message: the result: what went wrong
 * @pid: its process
 * @pipe: what it says comes from here
 */
struct many_job {
	const char *name;
	const void *data;
	unsigned int seconds;
	int code;
	char message[MANY_TEXT];
	pid_t pid;
	int pipe;
};

void many_run(struct many_job *job, size_t count,
	      int (*run)(const struct many_job *job));
int many_sum(const struct many_job *job, size_t count, const char *done);

#endif /* HELPER_BLOCK_PARALLEL_H */
