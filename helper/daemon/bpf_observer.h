/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Load the BPF programs that observe reads, and sample their maps.
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_BPF_OBSERVER_H
#define HELPER_DAEMON_BPF_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "classify.h"
#include "daemon/conf.h"

struct ring_buffer;

/**
 * struct seen - reads of a device: counters of the programs, or their growth between two samples
 * @dev: device number, major << 20 | minor
 * @bytes: bytes read (or written) by the streams of each NEARCACHE_CLASS_*
 * @stall: sum of the latencies of the device's reads, nanoseconds
 */
struct seen {
	uint32_t dev;
	uint64_t bytes[NEARCACHE_CLASSES];
	uint64_t stall;
};

/* A sample of all devices.  @room is the size of the array. */
struct seens {
	struct seen *seen;
	size_t count;
	size_t room;
};

/**
 * struct observer - the BPF programs and their samples
 * @idle: load the classifier with a window of 0, so that it prefetches nothing
 * @heat: also load the heat program
 * @heat_waits: the heat program could not be loaded; observer_renew() will try again
 * @classifier_waits: the same for the classifier
 * @latency_waits: the same for the latency program
 * @id: BPF id of the loaded classifier; 0: none
 * @classifies: the loaded classifier is the built-in one
 * @now: the last sample
 * @before: the sample before @now
 * @changes: ring buffer of the classifier with each change of a stream's class; NULL: none
 * @told: called for each of these changes
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

#endif /* HELPER_DAEMON_BPF_OBSERVER_H */
