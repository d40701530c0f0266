/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connect absent nodes of the cluster devices, and apply changes of their configuration: run
 * 'nearcache cluster join' again for each device, in a process of its own, so that no device waits
 * for another.
 */
#ifndef HELPER_DAEMON_KEEP_CLUSTERS_H
#define HELPER_DAEMON_KEEP_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/name.h"

/*
 * Most bytes of the output of a run that are kept: the longest warnings of 'cluster join' about all
 * nodes of the largest cluster fit.
 */
#define KEEP_OUTPUT	(512UL << 10)

/**
 * struct keep_run - the runs of 'cluster join' for one device
 * @name: of the device
 * @pid: process of the present run; 0: none
 * @pipe: reads the stderr of the present run
 * @text: output of the present run so far, @used bytes without NUL; NULL: none
 * @brief: the present run does not try the nodes that are refused
 * @begun: time at which the present run began, ns as by watch_now(), like the other times
 * @hangs: the log says that the present run takes too long
 * @next: earliest time of the next run
 * @full: earliest time of the next run that also tries the nodes that are refused
 * @refused: lines about refused nodes, of the last run that tried all nodes; NULL: none
 * @report: lines of the last run; NULL: there was none
 */
struct keep_run {
	char name[NAME_SIZE];
	pid_t pid;
	int pipe;
	char *text;
	size_t used;
	bool brief;
	uint64_t begun;
	bool hangs;
	uint64_t next;
	uint64_t full;
	char *refused;
	char *report;
};

/**
 * struct keeper - the runs for all devices
 * @run: one for each device, @runs of them
 */
struct keeper {
	struct keep_run *run;
	size_t runs;
};

void keep_clusters(struct keeper *keeper, void (*say)(const char *text, void *arg), void *arg);
void keep_stop(struct keeper *keeper);

#endif /* HELPER_DAEMON_KEEP_CLUSTERS_H */
