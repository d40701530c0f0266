/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The media of the logged devices at one moment of a recording, and states that a power cut at this
 * moment can leave: all durable writes, and any part of the pending ones (sent, not durable).
 */
#ifndef NEARCACHE_CRASH_STATE_H
#define NEARCACHE_CRASH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../log.h"

/**
 * struct state - media, concatenated
 * @image: content, with changes that state_undo() takes back
 * @sectors: size of @image
 * @writer: per sector: number of the entry that wrote its durable content
 * @pending: numbers of the entries of the pending writes, in order
 * @pending_count: their number
 * @atomic: this sector and the 7 behind it are never torn: SIZE_MAX for none
 * @undo: contents that state_undo() restores, in order
 */
struct state {
	unsigned char *image;
	uint64_t sectors;
	uint32_t *writer;
	size_t *pending, pending_count;
	uint64_t atomic;
	struct undo {
		uint64_t sector;
		unsigned char data[512];
	} *undo;
	size_t undo_count, undo_room;
};

void state_begin(struct state *s, const struct log *log, const char *base, uint64_t sectors);
void state_pass(struct state *s, const struct log *log, size_t n);
void state_cut(struct state *s, const struct log *log, size_t position, uint64_t *random);
void state_put(struct state *s, uint64_t sector, const void *data);
void state_undo(struct state *s, size_t from);
void state_end(struct state *s);

#endif /* NEARCACHE_CRASH_STATE_H */
