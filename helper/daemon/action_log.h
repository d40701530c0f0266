/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record of the daemon's actions and their reasons: one line of JSON per action in
 * ACTIONS_FILE.  'nearcache actions' lists them.  It reverts an action by adding one of its own,
 * which the daemon reads.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_ACTION_LOG_H
#define HELPER_DAEMON_ACTION_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define ACTIONS_FILE	"/run/nearcache/actions"
/* Above this size a new file is started; the old one is kept as ACTIONS_FILE ".1". */
#define ACTIONS_BYTES	(1L << 20)

/**
 * struct action - an action of the daemon
 * @id: number, from 1
 * @time: seconds since 1970
 * @device: dm name; "": all devices
 * @setting: "read-ahead" (bytes), "window" (bytes), "checkpoint" (1: around), "prefetch" (number
 *	of a job), "pin" (start of a region of 16 MiB, plus 1), "replay" (bytes of a pass)
 * @label: of a prefetch job
 * @from: value before
 * @to: value after
 * @state: "done"; "would" (--observe); "kept", "taken-back" and "reverted" refer to action @of
 * @of: number of another action; 0: none
 * @why: evidence
 */
struct action {
	uint64_t id;
	uint64_t time;
	char device[128];
	char setting[32];
	char label[128];
	uint64_t from;
	uint64_t to;
	char state[16];
	uint64_t of;
	char why[256];
};

int action_add(struct action *action);
int action_each(uint64_t after,
		void (*visit)(const struct action *action, void *arg), void *arg);
int action_find(uint64_t id, struct action *action);

#endif /* HELPER_DAEMON_ACTION_LOG_H */
