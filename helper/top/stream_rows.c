// SPDX-License-Identifier: GPL-2.0-only
#include "top/stream_rows.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "top/sample_difference.h"

/* Number of the process that adopts processes whose parent has ended: not the parent of workers. */
#define INIT	1U

static int compare_numbers(uint64_t one, uint64_t other)
{
	return one < other ? 1 : one > other ? -1 : 0;
}

/* By device, parent and name: processes that may form a group are next to each other. */
static int by_parent(const void *a_, const void *b_)
{
	const struct stream_row *a = a_, *b = b_;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return compare_numbers(b->stream.parent, a->stream.parent) ?:
	       strcmp(a->stream.command, b->stream.command);
}

/*
 * By device, group and name, then by what a row of the group has in common, then by process. The group is
 * in @stream.parent.
 */
static int by_group(const void *a_, const void *b_)
{
	const struct stream_row *a = a_, *b = b_;

	return by_parent(a, b) ?:
	       compare_numbers(b->stream.key.writes, a->stream.key.writes) ?:
	       compare_numbers(b->stream.key.set.label, a->stream.key.set.label) ?:
	       compare_numbers(b->stream.key.pid, a->stream.key.pid) ?:
	       since_order(&a->stream, &b->stream);
}

/*
 * Sets @stream.parent to the group: the own pid if this process has workers of its name, as those are in this
 * group as well; else the parent. A process without a parent that is known forms a group of its own.
 */
static void find_groups(struct stream_rows *rows)
{
	uint32_t *group = calloc(rows->count + 1, sizeof(*group));
	size_t i;

	if (!group) {
		fail_memory();
		return;
	}
	qsort(rows->row, rows->count, sizeof(*rows->row), by_parent);
	for (i = 0; i < rows->count; i++) {
		const struct top_stream *stream = &rows->row[i].stream;
		struct stream_row worker = rows->row[i];

		worker.stream.parent = stream->key.pid;
		group[i] = stream->parent <= INIT ||
			   bsearch(&worker, rows->row, rows->count, sizeof(*rows->row), by_parent) ?
			   stream->key.pid : stream->parent;
	}
	for (i = 0; i < rows->count; i++)
		rows->row[i].stream.parent = group[i];
	free(group);
	qsort(rows->row, rows->count, sizeof(*rows->row), by_group);
}

/* Returns the end of the group that begins at @first, and counts its processes. */
static size_t group_end(const struct stream_rows *rows, size_t first, unsigned int *processes)
{
	size_t i = first, j;

	*processes = 0;
	for (; i < rows->count && !by_parent(&rows->row[first], &rows->row[i]); i++) {
		/* A process has few streams, which need not be next to each other. */
		for (j = first; j < i; j++)
			if (rows->row[j].stream.key.pid == rows->row[i].stream.key.pid)
				break;
		*processes += j == i;
	}
	return i;
}

/* True if a row shows the streams of both: they differ in process, class and place only. */
static bool is_common(const struct stream_row *a, const struct stream_row *b)
{
	return a->stream.key.writes == b->stream.key.writes &&
	       a->stream.key.set.label == b->stream.key.set.label;
}

static void add_stream(struct stream_row *sum, const struct stream_row *row, bool other_process)
{
	struct top_stream *to = &sum->stream;
	const struct top_stream *from = &row->stream;

	sum->processes += other_process;
	if (sum->processes > 1)
		to->key.pid = sum->stream.parent;
	sum->mixed |= to->class != from->class;
	to->accesses += from->accesses;
	to->runs += from->runs;
	to->bytes += from->bytes;
	to->since_accesses += from->since_accesses;
	to->since_bytes += from->since_bytes;
	if (to->key.set.place != from->key.set.place)
		to->key.set.place = 0;
	if (to->key.set.cgroup != from->key.set.cgroup)
		to->key.set.cgroup = 0;
}

/* Replaces the rows of each group of several processes by their sums. */
static void merge_groups(struct stream_rows *rows)
{
	size_t first, i, end, kept = 0;
	unsigned int processes;

	for (first = 0; first < rows->count; first = end) {
		size_t begin = kept;
		uint32_t last = 0;

		end = group_end(rows, first, &processes);
		for (i = first; i < end; i++) {
			struct stream_row row = rows->row[i];
			uint32_t pid = row.stream.key.pid;

			if (processes > 1 && kept > begin && is_common(&rows->row[kept - 1], &row)) {
				add_stream(&rows->row[kept - 1], &row, pid != last);
			} else {
				rows->row[kept++] = row;
			}
			last = pid;
		}
	}
	rows->count = kept;
}

/*
 * Compares two streams by their sort keys @one and @other, then by bytes in the last interval,
 * then by all bytes, each largest first; then by pid, smallest first; finally by key, so that the
 * order of equal streams does not change from frame to frame.
 */
static int sorted_by(const struct stream_row *a, const struct stream_row *b, uint64_t one,
		     uint64_t other)
{
	return compare_numbers(one, other) ?:
	       compare_numbers(a->stream.since_bytes, b->stream.since_bytes) ?:
	       compare_numbers(a->stream.bytes, b->stream.bytes) ?:
	       compare_numbers(b->stream.key.pid, a->stream.key.pid) ?:
	       since_order(&a->stream, &b->stream);
}

static int by_rate(const void *a, const void *b)
{
	return sorted_by(a, b, 0, 0);
}

static int by_bytes(const void *a_, const void *b_)
{
	const struct stream_row *a = a_, *b = b_;

	return sorted_by(a, b, a->stream.bytes, b->stream.bytes);
}

static int by_accesses(const void *a_, const void *b_)
{
	const struct stream_row *a = a_, *b = b_;

	return sorted_by(a, b, a->stream.accesses, b->stream.accesses);
}

static int by_process(const void *a_, const void *b_)
{
	const struct stream_row *a = a_, *b = b_;

	return sorted_by(a, b, b->stream.key.pid, a->stream.key.pid);
}

/* Adds the streams that @view shows. */
static void take_streams(const struct top_model *model, const struct view *view,
			 struct stream_rows *rows)
{
	size_t i, s;

	for (i = 0; i < model->devices; i++)
		for (s = 0; s < model->device[i].streams; s++)
			if (view->ended || !model->device[i].stream[s].ended)
				rows->row[rows->count++] = (struct stream_row){
					.device = &model->device[i],
					.stream = model->device[i].stream[s],
					.processes = 1,
				};
}

/* The caller frees @rows with stream_rows_free(), also after an error. */
int stream_rows_make(const struct top_model *model, const struct view *view,
		     struct stream_rows *rows)
{
	static int (*const order[])(const void *a, const void *b) = {
		[SORT_RATE] = by_rate,
		[SORT_BYTES] = by_bytes,
		[SORT_ACCESSES] = by_accesses,
		[SORT_PROCESS] = by_process,
	};
	size_t i, count = 0;

	for (i = 0; i < model->devices; i++)
		count += model->device[i].streams;
	rows->count = 0;
	rows->row = calloc(count + 1, sizeof(*rows->row));
	if (!rows->row)
		return fail_memory();
	take_streams(model, view, rows);
	if (!view->processes) {
		find_groups(rows);
		merge_groups(rows);
	}
	qsort(rows->row, rows->count, sizeof(*rows->row), order[view->sort]);
	return fail_code();
}

void stream_rows_free(struct stream_rows *rows)
{
	free(rows->row);
	rows->row = NULL;
	rows->count = 0;
}
