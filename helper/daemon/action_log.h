/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record the daemon's actions in ACTIONS_FILE: one line of JSON per action.  'nearcache actions'
 * lists the actions.  When it reverts one, it appends an action with the state "reverted"; the
 * daemon reads the file and then leaves that setting alone for a while.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_ACTION_LOG_H
#define HELPER_DAEMON_ACTION_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define ACTIONS_FILE	"/run/nearcache/actions"
/* When ACTIONS_FILE has more bytes, it is renamed to ACTIONS_FILE ".1", and a new file begins. */
#define ACTIONS_BYTES	(1L << 20)

/**
 * struct action - an action of the daemon
 * @id: number, from 1
 * @time: seconds since 1970
 * @device: dm name; "": all devices
 * @setting: a KNOB_* of change_setting.h, which states the unit of @from and @to
 * @label: label of the prefetch job; "": the action is no prefetch
 * @from: value before
 * @to: value after
 * @state: "done", "would" (not done because of --observe), "kept" (the trial of action @of showed
 *	no harm), "taken-back" (that trial showed harm) or "reverted" (a user reverted action @of)
 * @of: number of the earlier action that this one ends or confirms; 0: none
 * @why: the numbers that led to the action, as text for the user
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
