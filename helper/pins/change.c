// SPDX-License-Identifier: GPL-2.0-only
#include "pins/change.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"
#include "lib/size.h"
#include "pins/kernel_ranges.h"
#include "pins/unpin_match.h"

/**
 * struct lists - lists for the requests of a change; free_lists() frees them
 * @before: the kernel's ranges before the change
 * @gone: spans in which ranges are deleted: those of dropped pins, and change.which
 * @drop: ranges in @gone that no pin needs; the elements belong to @before
 * @keep: ranges in @gone that a pin still needs; the elements belong to @before
 * @add: ranges of fresh pins
 */
struct lists {
	struct known before;
	struct spans gone;
	struct nl_range *drop;
	struct nl_range *keep;
	struct nl_range *add;
};

static void free_lists(struct lists *lists)
{
	known_free(&lists->before);
	spans_free(&lists->gone);
	free(lists->drop);
	free(lists->keep);
	free(lists->add);
}

static int make_gone(const struct change *change, int64_t now, struct spans *gone)
{
	struct nl_range *which, *all = NULL;
	size_t count;

	if (pins_ranges(change->pins, pin_is_dropped, now, &which, &count))
		return fail_code();
	all = reallocarray(which, count + change->count + 1, sizeof(*all));
	if (!all) {
		free(which);
		return fail_memory();
	}
	if (change->count)
		memcpy(all + count, change->which, change->count * sizeof(*all));
	spans_make(gone, all, count + change->count);
	free(all);
	return fail_code();
}

/*
 * List single ranges of the kernel to delete, instead of spans. So the request is never larger than
 * the kernel accepts, however many pins and files the caller named.
 * @stay: ranges of pins that are neither fresh nor dropped
 */
static int list_gone(struct lists *lists, const struct known *stay, struct nl_replacement *rp)
{
	const struct known *before = &lists->before;
	size_t i;

	lists->drop = calloc(before->count + 1, sizeof(*lists->drop));
	lists->keep = calloc(before->count + 1, sizeof(*lists->keep));
	if (!lists->drop || !lists->keep)
		return fail_memory();
	for (i = 0; i < before->count; i++) {
		const struct nl_range *range = &before->range[i];

		if (!spans_hold(&lists->gone, &range->range, range->label))
			continue;
		if (known_has(stay, range))
			lists->keep[rp->keep_count++] = *range;
		else
			lists->drop[rp->drop_count++] = *range;
	}
	return 0;
}

/*
 * List the ranges to delete, and those to keep. A change that only adds needs neither, nor the
 * kernel's ranges, whose number may be large: if it fails, the kernel has changed nothing.
 */
static int list_dropped(const struct change *change, int64_t now, struct lists *lists,
			struct nl_replacement *rp)
{
	const struct pins *pins = change->pins;
	struct known stay = { 0 };

	if (!lists->gone.count && !change->some)
		return 0;
	if (known_read(&lists->before, change->dev->number) ||
	    pins_ranges(pins, pin_stays, now, &stay.range, &stay.count))
		return fail_code();
	known_sort(&stay);
	list_gone(lists, &stay, rp);
	free(stay.range);
	return fail_code();
}

static int make_lists(const struct change *change, struct lists *lists, struct nl_replacement *rp)
{
	int64_t now = time(NULL);

	if (make_gone(change, now, &lists->gone) ||
	    pins_ranges(change->pins, pin_is_fresh, now, &lists->add, &rp->add_count) ||
	    list_dropped(change, now, lists, rp))
		return fail_code();
	rp->drop = lists->drop;
	rp->keep = lists->keep;
	rp->add = lists->add;
	return fail_code();
}

static int refuse_room(const struct change *change, const struct nl_room *room)
{
	char needed[SIZE_TEXT], available[SIZE_TEXT];

	return fail(CODE_DEVICE,
		    "the pins of '%s' would need %s (%llu bytes) of the cache, of which %s (%llu bytes) may be pinned: pin less, or unpin something",
		    change->dev->name, size_print(room->needed, needed),
		    (unsigned long long)room->needed,
		    size_print(room->available, available),
		    (unsigned long long)room->available);
}

/* Add all ranges, or if they do not fit, try each half. Returns how many ranges were not added. */
static size_t add_some(dev_t number, const struct nl_range *range, size_t count)
{
	struct nl_replacement rp = { .add = range, .add_count = count };
	size_t half = count / 2, failed;

	if (!count || (!nl_range_replace(number, &rp) && !rp.refused))
		return 0;
	/*
	 * CODE_DEVICE: some range does not fit. With another error, such as a suspended device, no
	 * range can be added.
	 */
	if (fail_code() && fail_code() != CODE_DEVICE)
		return count;
	fail_reset();
	if (count == 1)
		return 1;
	failed = add_some(number, range, half);
	return fail_code() ? count : failed + add_some(number, range + half, count - half);
}

/*
 * List the ranges that restore_before() has to add: those that the change deleted, and those that
 * restore_before() itself deletes, because they are inside a range of @added.
 */
static void list_lost(const struct lists *lists, const struct nl_replacement *rp,
		      const struct spans *added, struct nl_replacement *back, struct nl_range *lost)
{
	const struct known *before = &lists->before;
	size_t i, next = 0;

	back->add = lost;
	for (i = 0; i < before->count; i++) {
		const struct nl_range *range = &before->range[i];
		/* @lists->drop and @before have the same order and share labels. */
		bool dropped = next < rp->drop_count && lists->drop[next].label == range->label;

		next += dropped;
		if (dropped || spans_hold(added, &range->range, range->label))
			lost[back->add_count++] = *range;
	}
}

/* List the kernel's ranges inside @added: never more than a request may have. */
static void list_added(const struct known *now, const struct spans *added,
		       struct nl_replacement *back, struct nl_range *drop)
{
	size_t i;

	back->drop = drop;
	for (i = 0; i < now->count; i++)
		if (spans_hold(added, &now->range[i].range, now->range[i].label))
			drop[back->drop_count++] = now->range[i];
}

static bool restore_before(const struct change *change, const struct lists *lists,
			   const struct nl_replacement *rp)
{
	struct nl_range *lost = calloc(lists->before.count + 1, sizeof(*lost)), *drop = NULL;
	struct nl_replacement back = { 0 };
	struct known now = { 0 };
	struct spans added = { 0 };
	bool done = false;

	if (lost && !known_read(&now, change->dev->number) &&
	    !spans_make(&added, rp->add, rp->add_count))
		drop = calloc(now.count + 1, sizeof(*drop));
	if (drop) {
		list_added(&now, &added, &back, drop);
		list_lost(lists, rp, &added, &back, lost);
		done = !nl_range_replace(change->dev->number, &back) && !back.refused;
	}
	free(drop);
	free(lost);
	spans_free(&added);
	known_free(&now);
	return done;
}

/* Undo the change in the kernel. Returns the recorded error that made this necessary. */
static int undo_change(const struct change *change, const struct lists *lists,
		       const struct nl_replacement *rp)
{
	enum exit_code code = fail_code();
	char *why = strdup(fail_message());
	bool done;

	fail_reset();
	done = restore_before(change, lists, rp);
	fail_reset();
	fail(code, "%s", why ? why : "");
	if (!done)
		fail_add("the kernel's pins differ from the record: 'nearcache pin %s --refresh' restores the recorded pins",
			 change->dev->name);
	free(why);
	return code;
}

/* The kernel refused @rp as a whole: delete what @rp deletes, then add those ranges that fit. */
static int replace_some(const struct change *change, const struct lists *lists,
			struct nl_replacement *rp)
{
	dev_t number = change->dev->number;
	size_t count = rp->add_count, failed;

	fail_reset();
	rp->add_count = 0;
	nl_range_replace(number, rp);
	rp->add_count = count;
	if (fail_code())
		return fail_code();
	failed = add_some(number, rp->add, count);
	if (fail_code() || nl_range_room(number, &rp->room))
		return undo_change(change, lists, rp);
	if (failed)
		warn("%zu of %zu pinned ranges of '%s' are no longer pinned: the cache has no room for them, or too many overlap",
		     failed, count, change->dev->name);
	return 0;
}

static int replace_ranges(const struct change *change, const struct lists *lists,
			  struct nl_replacement *rp)
{
	int error = nl_range_replace(change->dev->number, rp);

	if (!error && !rp->refused)
		return 0;
	if (change->some && (!error || error == CODE_DEVICE))
		return replace_some(change, lists, rp);
	return error ? error : refuse_room(change, &rp->room);
}

/* Change the kernel's ranges. With @record, commit the record too. */
static int apply_change(struct change *change, bool record)
{
	struct nl_replacement rp = { 0 };
	struct lists lists = { 0 };

	if (!make_lists(change, &lists, &rp) && !replace_ranges(change, &lists, &rp) && record)
		pins_commit(change->pins, change->dev->name);
	change->room = rp.room;
	change->deleted = rp.deleted;
	free_lists(&lists);
	return fail_code();
}

/* Change only the kernel's ranges. A failure leaves them unchanged. */
int change_kernel(struct change *change)
{
	return apply_change(change, false);
}

/* Change the kernel's ranges and the record. A failure leaves both unchanged. */
int change_both(struct change *change)
{
	const char *name = change->dev->name;

	if (pins_prepare(change->pins, name))
		return fail_code();
	if (apply_change(change, true))
		pins_abandon(change->pins, name);
	return fail_code();
}
