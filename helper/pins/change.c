// SPDX-License-Identifier: GPL-2.0-only
/* Applies a change of pins to the kernel's ranges and to the record. */
#include "pins/change.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"
#include "lib/size.h"
#include "pins/known.h"

/**
 * struct lists - ranges of a change, for free_lists()
 * @drop: matches the ranges to delete
 * @keep: ranges of pins that stay
 * @add: ranges of fresh pins
 */
struct lists {
	struct nl_range *drop;
	struct nl_range *keep;
	struct nl_range *add;
};

static void free_lists(struct lists *lists)
{
	free(lists->drop);
	free(lists->keep);
	free(lists->add);
}

/* Name each range of a dropped pin: other ranges with its label may stay. */
static int make_lists(const struct change *change, struct lists *lists,
		      struct nl_replacement *rp)
{
	const struct pins *pins = change->pins;
	int64_t now = time(NULL);
	struct nl_range *drop;

	if (pins_ranges(pins, pin_is_dropped, now, &lists->drop, &rp->drop_count) ||
	    pins_ranges(pins, pin_is_fresh, now, &lists->add, &rp->add_count) ||
	    pins_ranges(pins, pin_stays, now, &lists->keep, &rp->keep_count))
		return fail_code();
	drop = reallocarray(lists->drop, rp->drop_count + change->count + 1, sizeof(*drop));
	if (!drop)
		return fail_memory();
	if (change->count)
		memcpy(drop + rp->drop_count, change->which, change->count * sizeof(*drop));
	rp->drop_count += change->count;
	lists->drop = drop;
	rp->drop = drop;
	rp->add = lists->add;
	rp->keep = lists->keep;
	return 0;
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

/* Add the ranges that fit, by halving, since usually most fit. Returns how many were not added. */
static size_t add_some(dev_t number, const struct nl_range *range, size_t count)
{
	struct nl_replacement rp = { .add = range, .add_count = count };
	size_t half = count / 2, failed;

	if (!count || (!nl_range_replace(number, &rp) && !rp.refused))
		return 0;
	/*
	 * CODE_DEVICE: this range does not fit. Another error, such as a suspended device, concerns
	 * all ranges.
	 */
	if (fail_code() && fail_code() != CODE_DEVICE)
		return count;
	fail_reset();
	if (count == 1)
		return 1;
	failed = add_some(number, range, half);
	return fail_code() ? count : failed + add_some(number, range + half, count - half);
}

/* After the kernel refused all of @rp: delete the ranges to delete, then add those that fit. */
static int replace_some(const struct change *change, struct nl_replacement *rp)
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
	if (failed)
		warn("%zu of %zu pinned ranges of '%s' are no longer pinned: the cache has no room for them, or too many overlap",
		     failed, count, change->dev->name);
	return fail_code() ? (int)fail_code() : nl_range_room(number, &rp->room);
}

static int replace_change(const struct change *change, struct nl_replacement *rp)
{
	int error = nl_range_replace(change->dev->number, rp);

	if (!error && !rp->refused)
		return 0;
	if (change->some && (!error || error == CODE_DEVICE))
		return replace_some(change, rp);
	return error ? error : refuse_room(change, &rp->room);
}

/*
 * Undo the change in the kernel: delete the added ranges and restore the earlier ones. The error
 * that led here is still reported.
 */
static void undo_change(const struct change *change, const struct nl_replacement *rp,
			const struct known *before)
{
	struct nl_replacement back = {
		.drop = rp->add, .drop_count = rp->add_count,
		.add = before->range, .add_count = before->count,
	};
	enum exit_code code = fail_code();
	char *why = strdup(fail_message());
	bool failed;

	fail_reset();
	failed = nl_range_replace(change->dev->number, &back) || back.refused;
	fail_reset();
	fail(code, "%s", why ? why : "");
	if (failed)
		fail_add("the kernel has the change, but the record does not: 'nearcache pin %s --refresh' restores the recorded pins",
			 change->dev->name);
	free(why);
}

/*
 * Change the kernel's ranges, then the record. If the record cannot be changed, undo the kernel's
 * change.
 */
static int replace_both(const struct change *change, struct nl_replacement *rp)
{
	struct known before;

	if (!known_read(&before, change->dev->number) && !replace_change(change, rp) &&
	    pins_commit(change->pins, change->dev->name))
		undo_change(change, rp, &before);
	known_free(&before);
	return fail_code();
}

static int apply_change(struct change *change,
			int (*how)(const struct change *change, struct nl_replacement *rp))
{
	struct nl_replacement rp = { 0 };
	struct lists lists = { 0 };

	if (!make_lists(change, &lists, &rp))
		how(change, &rp);
	change->room = rp.room;
	change->deleted = rp.deleted;
	free_lists(&lists);
	return fail_code();
}

/* Change only the kernel's ranges. A failure leaves them unchanged. */
int change_kernel(struct change *change)
{
	return apply_change(change, replace_change);
}

/* Change the kernel's ranges and the record. A failure leaves both unchanged. */
int change_both(struct change *change)
{
	const char *name = change->dev->name;

	if (pins_prepare(change->pins, name))
		return fail_code();
	if (apply_change(change, replace_both))
		pins_abandon(name);
	return fail_code();
}
