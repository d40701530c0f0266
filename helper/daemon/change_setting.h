/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings that the daemon changes, by the names in its actions.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_CHANGE_SETTING_H
#define HELPER_DAEMON_CHANGE_SETTING_H

#include <stdint.h>

#define KNOB_READ_AHEAD	"read-ahead"
#define KNOB_WINDOW	"window"
#define KNOB_CHECKPOINT	"checkpoint"
/* The next three are not settings: knob_get() and knob_set() do not know them. */
/* Value: number of a job; 0: none. */
#define KNOB_PREFETCH	"prefetch"
/* Value: start of a pinned region, plus 1; 0: not pinned. */
#define KNOB_PIN	"pin"
/* Value: bytes of the pass that is replayed; 0: none. */
#define KNOB_REPLAY	"replay"

int knob_get(const char *setting, const char *device, uint64_t *value);
int knob_set(const char *setting, const char *device, uint64_t value);
const char *knob_print(const char *setting, uint64_t value, char *text);

/* Size of the text of knob_print(). */
#define KNOB_TEXT	32

#endif /* HELPER_DAEMON_CHANGE_SETTING_H */
