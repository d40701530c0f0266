/* SPDX-License-Identifier: GPL-2.0-only */
/* Record the reads that a device receives while this process runs. */
#ifndef HELPER_TRACE_RECORDER_H
#define HELPER_TRACE_RECORDER_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/program.h"

/**
 * struct recorder - records the reads of a device
 * @held: the BPF program
 * @pieces: ring buffer into which the program writes one struct piece for each read
 * @told: pieces handled in this call of recorder_look()
 * @visit: called for each piece, in sectors of 512 bytes; returns 0 to continue, or an exit code
 *	recorded with fail()
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
