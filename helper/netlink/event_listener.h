/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the kernel module, over netlink. Functions that return int return 0, or an exit code after
 * recording an error with fail().
 */
#ifndef HELPER_NETLINK_EVENT_LISTENER_H
#define HELPER_NETLINK_EVENT_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nearcache_counters.h"

/**
 * struct nl_event - an event of a device
 * @number: device number
 * @name: name of the device
 * @event: NEARCACHE_EVENT_*
 * @has_status: @field is that of the status line, as the event of a cache has it
 */
struct nl_event {
	dev_t number;
	char name[128];
	unsigned int event;
	bool has_status;
	uint64_t field[NEARCACHE_STATUS_FIELD_COUNT];
};

int nl_events_open(int *fd);
int nl_events_read(void (*visit)(const struct nl_event *event, void *arg), void *arg, bool *lost);

#endif /* HELPER_NETLINK_EVENT_LISTENER_H */
