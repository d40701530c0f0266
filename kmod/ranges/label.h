/* SPDX-License-Identifier: GPL-2.0-only */
/* Labels of ranges: the names, and counters per label. */
#ifndef NEARCACHE_RANGES_LABEL_H
#define NEARCACHE_RANGES_LABEL_H

#include <asm/local64.h>
#include <linux/list.h>
#include <linux/smp.h>
#include <linux/types.h>

#include "nearcache_counters.h"

/* Labels whose counters share one allocation, a chunk. */
#define NC_LABELS_CHUNK		64U
#define NC_LABELS_CHUNKS	((NEARCACHE_LABELS_MAX + 1) / NC_LABELS_CHUNK)
#define NC_LABELS_BUCKETS	256U

/**
 * struct nc_label - a label
 * @node: entry in nc_labels.bucket
 * @id: 1 to NEARCACHE_LABELS_MAX
 * @ranges: number of ranges with this label, which are its references
 * @bytes: total length of these ranges
 * @name: name, NUL-terminated
 */
struct nc_label {
	struct hlist_node node;
	u16 id;
	u32 ranges;
	u64 bytes;
	char name[];
};

/* The counters of NC_LABELS_CHUNK labels on one CPU. */
struct nc_label_counts {
	local64_t count[NC_LABELS_CHUNK][NEARCACHE_LABEL_COUNTER_COUNT];
};

/**
 * struct nc_labels - the labels of a cache
 * @label: array of labels by id, allocated with the first label; NULL if the id is free
 * @bucket: hash table of the labels by name
 * @count: number of labels
 * @next: last id given out; the search for a free id starts behind it
 * @chunk: counters, an array by CPU per chunk; once allocated they live as long as the cache.  Not
 *	from the per-CPU allocator, whose lock may be held by a task that waits for this device
 *
 * nc_ranges.lock protects all members.  Counting reads @chunk without the lock.
 */
struct nc_labels {
	struct nc_label **label;
	struct hlist_head bucket[NC_LABELS_BUCKETS];
	u32 count;
	u32 next;
	struct nc_label_counts *chunk[NC_LABELS_CHUNKS];
};

int nc_labels_take(struct nc_labels *l, const char *name, size_t length);
u16 nc_labels_find(const struct nc_labels *l, const char *name, size_t length);
void nc_labels_hold(struct nc_labels *l, u16 id);
void nc_labels_put(struct nc_labels *l, u16 id);
u64 nc_labels_sum(const struct nc_labels *l, u16 id, enum nearcache_label_counter counter);
u64 nc_labels_memory(const struct nc_labels *l);
int nc_labels_copy(struct nc_labels *to, const struct nc_labels *from);
void nc_labels_move_counts(struct nc_labels *to, struct nc_labels *from);
void nc_labels_clear(struct nc_labels *l);
void nc_labels_destroy(struct nc_labels *l);
void nc_labels_add(struct nc_labels *l, u16 id, enum nearcache_label_counter counter, u64 n);

/* Count a hit of @bytes for a label, see nc_labels_add().  Any context. */
static inline void nc_labels_count_hit(struct nc_labels *l, u16 id, u32 bytes)
{
	struct nc_label_counts *chunk = READ_ONCE(l->chunk[id / NC_LABELS_CHUNK]);
	local64_t *count;

	if (unlikely(!chunk))
		return;
	count = chunk[get_cpu()].count[id % NC_LABELS_CHUNK];
	local64_inc(&count[NEARCACHE_LABEL_HITS]);
	local64_add(bytes, &count[NEARCACHE_LABEL_HIT_BYTES]);
	put_cpu();
}

#endif /* NEARCACHE_RANGES_LABEL_H */
