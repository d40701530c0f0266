/* SPDX-License-Identifier: GPL-2.0-only */
/* What the daemon changes, by the names that its actions have. */
#ifndef HELPER_DAEMON_KNOB_H
#define HELPER_DAEMON_KNOB_H

#include <stdint.h>

#define KNOB_READ_AHEAD	"read-ahead"
#define KNOB_WINDOW	"window"
#define KNOB_CHECKPOINT	"checkpoint"
/* Its values are numbers of jobs, 0: none; it is no setting that knob_get() knows. */
#define KNOB_PREFETCH	"prefetch"
/* Its values are where a region begins that is pinned, plus 1; 0: not pinned. It is none, either. */
#define KNOB_PIN	"pin"
/* Its values are bytes of a pass that is brought, 0: none is. It is none, either. */
#define KNOB_REPLAY	"replay"

int knob_get(const char *setting, const char *device, uint64_t *value);
int knob_set(const char *setting, const char *device, uint64_t value);
const char *knob_print(const char *setting, uint64_t value, char *text);

/* Room that knob_print() needs. */
#define KNOB_TEXT	32

#endif /* HELPER_DAEMON_KNOB_H */
