// SPDX-License-Identifier: GPL-2.0-only
/* Refreshes the pins of one device or of all. */
#include "pins/refresh.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/error.h"
#include "block/parallel_devices.h"
#include "lib/print.h"
#include "pins/record_owner.h"
#include "block/signals.h"

/* Time limit for one device in refresh_all(), seconds: mapping its files may take long. */
#define REFRESH_SECONDS	120U

static void add_missing(const struct nl_run *run, void *arg)
{
	uint64_t *missing = arg;

	if (!run->cached)
		*missing += run->length;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/*
 * Count the pinned bytes that are not cached, for example because they were overwritten,
 * invalidated or damaged. Bytes of overlapping pins count once.
 */
static int count_missing(const struct dm_device *dev, const struct pins *pins,
			 uint64_t *missing)
{
	struct range *piece, rest;
	uint64_t end, done = 0;
	size_t i, count;

	*missing = 0;
	if (pins_pieces(pins, NULL, &piece, &count))
		return fail_code();
	qsort(piece, count, sizeof(*piece), by_start);
	for (i = 0; i < count && !fail_code(); i++) {
		end = piece[i].start + piece[i].length;
		if (end <= done)
			continue;
		rest.start = piece[i].start > done ? piece[i].start : done;
		rest.length = end - rest.start;
		done = end;
		nl_residency(dev->number, &rest, add_missing, missing);
	}
	free(piece);
	return fail_code();
}

/*
 * Find files that moved, are gone or are new in a pinned folder, pin missing ranges, prefetch
 * missing data. @dev passed refresh_need_live(). @keep_gone: keep the pins of files that are gone,
 * also in later refreshes.
 */
int refresh_device(const struct dm_device *dev, struct pins *pins, bool keep_gone,
		   struct refreshed *refreshed)
{
	const struct nl_job wishes = { .label = RESTORE_LABEL };

	memset(refreshed, 0, sizeof(*refreshed));
	if (restore_refresh(dev, pins, keep_gone, &refreshed->restored) ||
	    count_missing(dev, pins, &refreshed->missing))
		return fail_code();
	return restore_load(dev, pins, NULL, &wishes, &refreshed->job);
}

/* Print a number that is usually 0: then only in JSON. */
static void print_found(const char *key, const char *label, uint64_t number)
{
	print_number(key, number ? label : NULL, number);
}

/* Print the fields of a result. The caller has called print_record(). */
void refresh_print(const struct refreshed *refreshed)
{
	print_number("pins", "pinned", refreshed->restored.pins);
	print_number("moved", "moved", refreshed->restored.moved);
	print_found("gone", "gone", refreshed->restored.gone);
	print_found("added", "new in folders", refreshed->restored.added);
	print_found("pinned_again", "pinned again", refreshed->restored.again);
	print_found("unrecorded_ranges", "unrecorded ranges", refreshed->restored.unrecorded);
	print_found("unrecorded_left", "unrecorded ranges left", refreshed->restored.left);
	print_found("unchecked", "not looked up", refreshed->restored.unchecked);
	print_bytes("missing_bytes", "missing", refreshed->missing);
}

/* Print the list of files that are gone. */
void refresh_print_gone(const struct pins *pins)
{
	size_t i;

	print_table("gone_files");
	for (i = 0; i < pins->count; i++) {
		const struct pin *pin = &pins->pin[i];

		if (!pin->gone)
			continue;
		print_record(NULL, NULL);
		print_string("state", "pin", pin->dropped ? "dropped" : "kept");
		print_string("path", "gone file", pin->path);
		print_end();
	}
	print_end();
}

/* Fail if the kernel cannot change the ranges of the device now. */
int refresh_need_live(const struct dm_device *dev)
{
	if (dm_need_table(dev) || dm_need_running(dev))
		return fail_code();
	return 0;
}

/* For the child processes of refresh_all(). */
static bool keep_all_gone;

/* Runs in a child process, and returns the result in @job->data, which is shared memory. */
static int refresh_one(const struct many_job *job)
{
	struct refreshed *refreshed = (struct refreshed *)job->data;
	struct pins pins = { 0 };
	struct dm_device dev;
	sigset_t before;

	if (dm_need_ours(job->name, &dev))
		return fail_code();
	/* A ^C goes to the whole process group and could leave pins that are not on record. */
	signals_hold(&before);
	if (!refresh_need_live(&dev) && !record_open(&pins, &dev) &&
	    pins.count && !record_require(&pins, &dev) &&
	    !refresh_device(&dev, &pins, keep_all_gone, refreshed))
		restore_tell_gone(&pins);
	signals_release(&before);
	pins_free(&pins);
	dm_device_free(&dev);
	return fail_code();
}

static void report_all(const struct many_job *job, size_t count, bool dry_run)
{
	size_t i;

	print_table("devices");
	for (i = 0; i < count; i++) {
		const struct refreshed *refreshed = job[i].data;
		const char *state = dry_run ? "would refresh" : "refreshed";

		print_record(NULL, NULL);
		print_string("name", "name", job[i].name);
		print_string("state", "state", job[i].code ? "failed" : state);
		refresh_print(refreshed);
		print_number("job", "job", refreshed->job);
		print_string("reason", "reason",
			     *job[i].message ? job[i].message : NULL);
		print_end();
	}
	print_end();
	print_flag("dry_run", NULL, dry_run);
}

static int refresh_list(const struct dm_device *list, size_t count,
			bool dry_run)
{
	size_t i, bytes = (count + 1) * sizeof(struct refreshed);
	struct many_job *job = calloc(count + 1, sizeof(*job));
	struct refreshed *refreshed;

	refreshed = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!job || refreshed == MAP_FAILED) {
		fail_memory();
		goto out;
	}
	for (i = 0; i < count; i++) {
		job[i].name = list[i].name;
		job[i].data = &refreshed[i];
		job[i].seconds = REFRESH_SECONDS;
	}
	if (!dry_run)
		many_run(job, count, refresh_one);
	report_all(job, count, dry_run);
	many_sum(job, count, "refreshed");
out:
	if (refreshed != MAP_FAILED)
		munmap(refreshed, bytes);
	free(job);
	return fail_code();
}

/*
 * Refresh all open devices in parallel, so that a device that fails or is slow does not delay the
 * others. Skips pass-through devices, which have no cache. @keep_gone: see refresh_device().
 * @dry_run: only list the devices.
 */
int refresh_all(bool keep_gone, bool dry_run)
{
	struct dm_device *list;
	size_t count;

	keep_all_gone = keep_gone;
	if (dm_all(&list, &count))
		return fail_code();
	refresh_list(list, count, dry_run);
	dm_device_free_all(list, count);
	return fail_code();
}
