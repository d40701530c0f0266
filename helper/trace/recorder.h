/* SPDX-License-Identifier: GPL-2.0-only */
/* Sees what is read of a device, as long as this process lasts. */
#ifndef HELPER_TRACE_RECORDER_H
#define HELPER_TRACE_RECORDER_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/program.h"

/**
 * struct recorder - sees what is read of a device
 * @held: the program
 * @pieces: what it saw
 * @told: pieces that were told in this look
 * @visit: is told each piece: sectors; returns 0 to go on
 * @arg: for @visit
 */
struct recorder {
	struct program_held held;
	struct ring_buffer *pieces;
	unsigned int told;
	int (*visit)(uint64_t sector, uint32_t sectors, void *arg);
	void *arg;
};

int recorder_open(struct recorder *recorder, dev_t number);
int recorder_look(struct recorder *recorder);
uint64_t recorder_lost(const struct recorder *recorder);
void recorder_close(struct recorder *recorder);

#endif /* HELPER_TRACE_RECORDER_H */
