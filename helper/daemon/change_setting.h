/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read, set and print a setting that the daemon changes, by the name that it has in struct action.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_CHANGE_SETTING_H
#define HELPER_DAEMON_CHANGE_SETTING_H

#include <stdint.h>

/* Value of KNOB_READ_AHEAD and KNOB_WINDOW: bytes. */
#define KNOB_READ_AHEAD	"read-ahead"
#define KNOB_WINDOW	"window"
/* Value: 1 if checkpoint writes bypass the cache, 0 if they are cached. */
#define KNOB_CHECKPOINT	"checkpoint"
/* knob_get() and knob_set() fail for the three names below, which only occur in actions. */
/* Value: number of a prefetch job; 0: none. */
#define KNOB_PREFETCH	"prefetch"
/* Value: start of a pinned region in bytes, plus 1; 0: not pinned. */
#define KNOB_PIN	"pin"
/* Value: bytes of the recorded pass that is replayed; 0: none. */
#define KNOB_REPLAY	"replay"

int knob_get(const char *setting, const char *device, uint64_t *value);
int knob_set(const char *setting, const char *device, uint64_t value);
const char *knob_print(const char *setting, uint64_t value, char *text);

/* Size of the text of knob_print(). */
#define KNOB_TEXT	32

#endif /* HELPER_DAEMON_CHANGE_SETTING_H */
