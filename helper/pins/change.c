// SPDX-License-Identifier: GPL-2.0-only
#include "pins/change.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pins/exchange.h"
#include "lib/error.h"

/**
 * struct lists - of an exchange, to be freed
 * @which: what goes
 * @fresh: what comes
 * @stay: what stays
 */
struct lists {
	struct nl_range *which;
	struct nl_range *fresh;
	struct nl_range *stay;
};

static void free_lists(struct lists *lists)
{
	free(lists->which);
	free(lists->fresh);
	free(lists->stay);
}

/* Pins that are dropped go one by one: in their ranges others of their label may stay. */
static int make_lists(const struct change *change, struct lists *lists,
		      struct exchange *ex)
{
	const struct pins *pins = change->pins;
	int64_t now = time(NULL);
	struct nl_range *which;

	if (pins_ranges(pins, pin_is_dropped, now, &lists->which,
			&ex->which_count) ||
	    pins_ranges(pins, pin_is_fresh, now, &lists->fresh,
			&ex->fresh_count) ||
	    pins_ranges(pins, pin_stays, now, &lists->stay, &ex->stay_count))
		return fail_code();
	which = reallocarray(lists->which, ex->which_count + change->count + 1,
			     sizeof(*which));
	if (!which)
		return fail_memory();
	if (change->count)
		memcpy(which + ex->which_count, change->which,
		       change->count * sizeof(*which));
	ex->which_count += change->count;
	lists->which = which;
	ex->which = which;
	ex->fresh = lists->fresh;
	ex->stay = lists->stay;
	return 0;
}

static int apply(struct change *change, bool on_record)
{
	struct exchange ex = { .dev = change->dev, .some = change->some };
	const char *name = change->dev->name;
	struct lists lists = { 0 };

	if (!make_lists(change, &lists, &ex) && !exchange(&ex) && on_record &&
	    pins_commit(change->pins, name))
		exchange_undo(&ex);
	change->room = ex.room;
	change->deleted = ex.deleted;
	exchange_free(&ex);
	free_lists(&lists);
	return fail_code();
}

/**
 * change_kernel() - tell the kernel what changed, but write nothing down
 * @change: what
 *
 * Return: 0 or the exit code; then the kernel knows what it knew before.
 */
int change_kernel(struct change *change)
{
	return apply(change, false);
}

/**
 * change_both() - tell the kernel what changed, and write it down
 * @change: what
 *
 * Return: 0 or the exit code; then all is as it was before.
 */
int change_both(struct change *change)
{
	const char *name = change->dev->name;

	if (pins_prepare(change->pins, name))
		return fail_code();
	if (apply(change, true))
		pins_abandon(name);
	return fail_code();
}
