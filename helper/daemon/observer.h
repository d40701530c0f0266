/* SPDX-License-Identifier: GPL-2.0-only */
/* How devices are read, as BPF programs see it: for the daemon. */
#ifndef HELPER_DAEMON_OBSERVER_H
#define HELPER_DAEMON_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "classify.h"
#include "daemon/conf.h"

struct ring_buffer;

/**
 * struct seen - a device, since it was seen first
 * @dev: as the kernel has it: major << 20 | minor
 * @bytes: read by streams of each class
 * @stall: nanoseconds that its reads took
 */
struct seen {
	uint32_t dev;
	uint64_t bytes[NEARCACHE_CLASSES];
	uint64_t stall;
};

/**
 * struct seens - devices at a time
 * @seen: each
 * @count: how many
 * @room: that fit
 */
struct seens {
	struct seen *seen;
	size_t count;
	size_t room;
};

/**
 * struct observer - what is seen
 * @idle: programs that it loads itself are to bring nothing into the cache
 * @heat: regions are looked at, too
 * @heat_waits: its program could not be loaded so far
 * @classifier_waits: it could not be loaded so far
 * @latency_waits: the same of what measures latencies
 * @id: of the classifier that is loaded, 0: none
 * @classifies: it is ours
 * @now: at the last look
 * @before: at the look before
 * @changes: verdicts that are about to be told, NULL: none are
 * @told: is told each verdict
 * @arg: for @told
 */
struct observer {
	bool idle;
	bool heat;
	bool heat_waits;
	bool classifier_waits;
	bool latency_waits;
	uint32_t id;
	bool classifies;
	struct seens now;
	struct seens before;
	struct ring_buffer *changes;
	void (*told)(const struct change *change, void *arg);
	void *arg;
};

void observer_open(struct observer *observer);
bool observer_renew(struct observer *observer);
void observer_look(struct observer *observer);
void observer_tell(struct observer *observer);
void observer_since(const struct observer *observer, dev_t number,
		    struct seen *since);
int observer_settings_get(struct settings *settings);
int observer_settings_set(const struct settings *settings);
void observer_close(struct observer *observer);

#endif /* HELPER_DAEMON_OBSERVER_H */
