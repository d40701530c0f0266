/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connect absent nodes of the cluster devices, and apply changes of their configuration: run
 * 'nearcache cluster join' again, for one device at a time, in its own process.
 */
#ifndef HELPER_DAEMON_KEEP_CLUSTERS_H
#define HELPER_DAEMON_KEEP_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/name.h"

/* Longest report of a device with NUL. */
#define KEEP_TEXT	4096

/**
 * struct keep_report - the last report about a device
 * @name: of the device
 * @text: what the last run printed on stderr
 */
struct keep_report {
	char name[NAME_SIZE];
	char text[KEEP_TEXT];
};

/**
 * struct keeper - the present run of 'cluster join'
 * @pid: its process; 0: none runs
 * @pipe: its stderr
 * @name: of the device
 * @text: its output so far, @used bytes
 * @refused: a node was refused in this round
 * @next: earliest time of the next round over all devices, as by watch_now()
 * @after: name of the device that this round looked at last; "": the round has not begun
 * @report: the last reports, @reports of them
 */
struct keeper {
	pid_t pid;
	int pipe;
	char name[NAME_SIZE];
	char text[KEEP_TEXT];
	size_t used;
	bool refused;
	uint64_t next;
	char after[NAME_SIZE];
	struct keep_report *report;
	size_t reports;
};

void keep_clusters(struct keeper *keeper, void (*say)(const char *text, void *arg), void *arg);
void keep_stop(struct keeper *keeper);

#endif /* HELPER_DAEMON_KEEP_CLUSTERS_H */
