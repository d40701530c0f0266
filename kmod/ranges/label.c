// SPDX-License-Identifier: GPL-2.0-only
/* Labels of ranges, and counters per label.  Slots store a label's 16-bit id, not its name. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "ranges/label.h"

static_assert(NEARCACHE_LABELS_MAX < U16_MAX);

static struct hlist_head *bucket_of(struct nc_labels *l, const char *name, size_t length)
{
	return &l->bucket[full_name_hash(NULL, name, length) % NC_LABELS_BUCKETS];
}

/* Return the id of a label; 0: no such label.  Context: nc_ranges.lock is held. */
u16 nc_labels_find(const struct nc_labels *l, const char *name, size_t length)
{
	const struct nc_label *label;

	hlist_for_each_entry(label, bucket_of((struct nc_labels *)l, name, length), node)
		if (strlen(label->name) == length && !memcmp(label->name, name, length))
			return label->id;
	return 0;
}

/* Return a free id.  Loops until there is one, so the caller checks @l->count first. */
static u16 free_id(struct nc_labels *l)
{
	do {
		l->next = l->next < NEARCACHE_LABELS_MAX ? l->next + 1 : 1;
	} while (l->label[l->next]);
	return l->next;
}

/* Provide zeroed counters for a new label.  Returns 0 or -ENOMEM. */
static int clear_counts(struct nc_labels *l, u16 id)
{
	struct nc_label_counts *chunk = l->chunk[id / NC_LABELS_CHUNK];
	int cpu, i;

	if (!chunk) {
		chunk = kvcalloc(nr_cpu_ids, sizeof(*chunk), GFP_KERNEL);
		if (!chunk)
			return -ENOMEM;
		/* Release: nc_labels_add() reads without a lock and must find zeros. */
		smp_store_release(&l->chunk[id / NC_LABELS_CHUNK], chunk);
		return 0;
	}
	for_each_possible_cpu(cpu)
		for (i = 0; i < NEARCACHE_LABEL_COUNTER_COUNT; i++)
			local64_set(&chunk[cpu].count[id % NC_LABELS_CHUNK][i], 0);
	return 0;
}

static int add_label(struct nc_labels *l, const char *name, size_t length)
{
	struct nc_label *label;

	if (l->count == NEARCACHE_LABELS_MAX)
		return -EMLINK;
	if (!l->label)
		l->label = kvcalloc(NEARCACHE_LABELS_MAX + 1, sizeof(*l->label), GFP_KERNEL);
	if (!l->label)
		return -ENOMEM;
	label = kzalloc(struct_size(label, name, length + 1), GFP_KERNEL);
	if (!label)
		return -ENOMEM;
	label->id = free_id(l);
	if (clear_counts(l, label->id)) {
		kfree(label);
		return -ENOMEM;
	}
	memcpy(label->name, name, length);
	label->ranges = 1;
	l->label[label->id] = label;
	hlist_add_head(&label->node, bucket_of(l, name, length));
	l->count++;
	return label->id;
}

/* Take a reference to a label for one range; create the label if needed.  Returns its id, -EMLINK
 * if there are too many labels, or -ENOMEM.  Context: nc_ranges.lock is held; may sleep.
 */
int nc_labels_take(struct nc_labels *l, const char *name, size_t length)
{
	u16 id = nc_labels_find(l, name, length);

	if (!id)
		return add_label(l, name, length);
	l->label[id]->ranges++;
	return id;
}

/* Take a further reference to a label, for one range.  Context: nc_ranges.lock is held. */
void nc_labels_hold(struct nc_labels *l, u16 id)
{
	l->label[id]->ranges++;
}

static void remove_label(struct nc_labels *l, struct nc_label *label)
{
	hlist_del(&label->node);
	l->label[label->id] = NULL;
	l->count--;
	kfree(label);
}

/* Drop a range's reference to a label.  The last reference removes the label and frees its id. */
void nc_labels_put(struct nc_labels *l, u16 id)
{
	if (!--l->label[id]->ranges)
		remove_label(l, l->label[id]);
}

/* Add @n to a counter.  If the label was removed meanwhile, the counter is unused.  Any context. */
void nc_labels_add(struct nc_labels *l, u16 id, enum nearcache_label_counter counter, u64 n)
{
	struct nc_label_counts *chunk = READ_ONCE(l->chunk[id / NC_LABELS_CHUNK]);

	if (!chunk)
		return;
	local64_add(n, &chunk[get_cpu()].count[id % NC_LABELS_CHUNK][counter]);
	put_cpu();
}

/* Return the sum of a counter over all CPUs.  Context: nc_ranges.lock is held. */
u64 nc_labels_sum(const struct nc_labels *l, u16 id, enum nearcache_label_counter counter)
{
	struct nc_label_counts *chunk = l->chunk[id / NC_LABELS_CHUNK];
	u64 total = 0;
	int cpu;

	if (!chunk)
		return 0;
	for_each_possible_cpu(cpu)
		total += local64_read(&chunk[cpu].count[id % NC_LABELS_CHUNK][counter]);
	return total;
}

/* Return the memory of labels and counters, without names, in bytes.  Context: any; a hint. */
u64 nc_labels_memory(const struct nc_labels *l)
{
	u64 bytes = READ_ONCE(l->label) ?
		(NEARCACHE_LABELS_MAX + 1) * sizeof(*l->label) : 0;
	u32 i;

	for (i = 0; i < NC_LABELS_CHUNKS; i++)
		if (READ_ONCE(l->chunk[i]))
			bytes += sizeof(struct nc_label_counts) * nr_cpu_ids;
	return bytes + (u64)READ_ONCE(l->count) * sizeof(struct nc_label);
}

/**
 * nc_labels_copy() - copy labels with their ids and references, but with nc_label.bytes set to 0
 * @to: empty labels
 * @from: source
 *
 * Return: 0, or -ENOMEM: the caller must call nc_labels_clear() for @to.
 */
int nc_labels_copy(struct nc_labels *to, const struct nc_labels *from)
{
	struct nc_label *label;
	u32 id;

	if (!from->label)
		return 0;
	to->label = kvcalloc(NEARCACHE_LABELS_MAX + 1, sizeof(*to->label), GFP_KERNEL);
	if (!to->label)
		return -ENOMEM;
	to->next = from->next;
	for (id = 1; id <= NEARCACHE_LABELS_MAX; id++) {
		const struct nc_label *old = from->label[id];

		if (!old)
			continue;
		label = kmemdup(old, struct_size(old, name, strlen(old->name) + 1), GFP_KERNEL);
		if (!label)
			return -ENOMEM;
		label->bytes = 0;
		to->label[id] = label;
		hlist_add_head(&label->node, bucket_of(to, label->name, strlen(label->name)));
		to->count++;
	}
	return 0;
}

/* Move the counters of @from, which is not used any more, to its copy @to. */
void nc_labels_move_counts(struct nc_labels *to, struct nc_labels *from)
{
	u32 i;

	for (i = 0; i < NC_LABELS_CHUNKS; i++) {
		WRITE_ONCE(to->chunk[i], from->chunk[i]);
		WRITE_ONCE(from->chunk[i], NULL);
	}
}

/* Remove all labels.  Their counters stay, because nc_labels_add() may run concurrently. */
void nc_labels_clear(struct nc_labels *l)
{
	u32 id;

	if (!l->label)
		return;
	for (id = 1; id <= NEARCACHE_LABELS_MAX; id++)
		if (l->label[id])
			remove_label(l, l->label[id]);
	kvfree(l->label);
	l->label = NULL;
}

/* Free all labels and counters.  The caller ensures that nothing is counted any more. */
void nc_labels_destroy(struct nc_labels *l)
{
	u32 i;

	nc_labels_clear(l);
	for (i = 0; i < NC_LABELS_CHUNKS; i++) {
		kvfree(l->chunk[i]);
		l->chunk[i] = NULL;
	}
}
