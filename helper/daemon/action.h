/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the daemon did, and why: a line of JSON for each action in ACTIONS_FILE.  'nearcache
 * actions' lists it, and takes an action back by an action of its own, which the daemon heeds.
 */
#ifndef HELPER_DAEMON_ACTION_H
#define HELPER_DAEMON_ACTION_H

#include <stdbool.h>
#include <stdint.h>

#define ACTIONS_FILE	"/run/nearcache/actions"
/* Bytes after which the file is begun anew; the one before is kept as ACTIONS_FILE ".1". */
#define ACTIONS_BYTES	(1L << 20)

/**
 * struct action - something that was done
 * @id: its number, from 1
 * @time: when, seconds since 1970
 * @device: dm name; "": all of them
 * @setting: what was changed: "read-ahead" (bytes), "window" (bytes), "checkpoint" (1: around),
 *	"prefetch" (number of a job), "pin" (where a region of 16 MiB begins, plus 1),
 *	"replay" (bytes of a pass)
 * @label: of a prefetch
 * @from: what it was
 * @to: what it is since
 * @state: "done"; "would" (--observe); "kept", "taken-back" and "reverted" are about the action @of
 * @of: number of that, 0: none
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

#endif /* HELPER_DAEMON_ACTION_H */
