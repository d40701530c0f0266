// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel deletes whatever of a label lies in a range, and adds: it has no request for
 * both.  So what is pinned and is to be pinned in another way, or by another pin, too, is
 * pinned by a label of its own in between, for nothing may evict it.
 */
#include "pins/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/size.h"
#include "pins/spans.h"

/* No label that can be given has control characters. */
#define BRIDGE		"\001"
/* A process that was killed leaves it for so long, in seconds. */
#define BRIDGE_SECONDS	60

static int refuse(const struct exchange *ex, const struct nl_room *room)
{
	char needed[SIZE_TEXT], available[SIZE_TEXT];

	return fail(CODE_DEVICE,
		    "all that is pinned on '%s' would need %s (%llu bytes) of the cache, of which %s (%llu bytes) may be pinned: pin less, or unpin something",
		    ex->dev->name, size_print(room->needed, needed),
		    (unsigned long long)room->needed,
		    size_print(room->available, available),
		    (unsigned long long)room->available);
}

/* Those that come, and are there already: of a run that was killed. */
static int find_going(struct exchange *ex)
{
	size_t i;

	ex->goes = calloc(ex->which_count + ex->fresh_count + 1,
			  sizeof(*ex->goes));
	if (!ex->goes)
		return fail_memory();
	if (ex->which_count)
		memcpy(ex->goes, ex->which,
		       ex->which_count * sizeof(*ex->which));
	ex->goes_count = ex->which_count;
	for (i = 0; i < ex->fresh_count; i++)
		if (known_has(&ex->known, &ex->fresh[i]))
			ex->goes[ex->goes_count++] = ex->fresh[i];
	return 0;
}

static int find_gone(struct exchange *ex)
{
	struct spans goes = { 0 }, fresh = { 0 };
	size_t i, most = ex->known.count + 1;

	ex->gone = calloc(most, sizeof(*ex->gone));
	ex->touched = calloc(most, sizeof(*ex->touched));
	if (!ex->gone || !ex->touched)
		return fail_memory();
	if (!spans_make(&goes, ex->goes, ex->goes_count) &&
	    !spans_make(&fresh, ex->fresh, ex->fresh_count))
		for (i = 0; i < ex->known.count; i++) {
			const struct nl_range *own = &ex->known.range[i];
			bool gone = spans_hold(&goes, &own->range, own->label);

			if (gone)
				ex->gone[ex->gone_count++] = *own;
			if (gone || spans_hold(&fresh, &own->range, own->label))
				ex->touched[ex->touched_count++] = *own;
		}
	spans_free(&fresh);
	spans_free(&goes);
	return fail_code();
}

/* Those that stay come first, as they did before: of two that are alike the later counts. */
static int find_coming(struct exchange *ex)
{
	struct spans spans;
	size_t i;

	ex->come = calloc(ex->stay_count + ex->fresh_count + 1,
			  sizeof(*ex->come));
	if (!ex->come)
		return fail_memory();
	if (!spans_make(&spans, ex->goes, ex->goes_count))
		for (i = 0; i < ex->stay_count; i++) {
			const struct nl_range *stay = &ex->stay[i];

			if (spans_hold(&spans, &stay->range, stay->label) &&
			    known_has(&ex->known, stay))
				ex->come[ex->come_count++] = *stay;
		}
	spans_free(&spans);
	if (ex->fresh_count)
		memcpy(ex->come + ex->come_count, ex->fresh,
		       ex->fresh_count * sizeof(*ex->fresh));
	ex->come_count += ex->fresh_count;
	return fail_code();
}

static int prepare(struct exchange *ex)
{
	return known_read(&ex->known, ex->dev->number) || find_going(ex) ||
	       find_gone(ex) || find_coming(ex) ? fail_code() : 0;
}

/* As good as it goes: without memory for it, say, it is short that they are not pinned. */
static void bridge(struct exchange *ex)
{
	struct nl_range *pin = calloc(ex->gone_count + 1, sizeof(*pin));
	struct nl_room room;
	bool refused = true;
	size_t i, count = 0;

	for (i = 0; pin && ex->come_count && i < ex->gone_count; i++) {
		if (!(ex->gone[i].flags & NEARCACHE_RANGE_PIN))
			continue;
		pin[count] = ex->gone[i];
		pin[count].label = BRIDGE;
		pin[count++].expires = BRIDGE_SECONDS;
	}
	if (count && nl_range_add(ex->dev->number, pin, count, &room, &refused))
		fail_reset();
	else
		ex->bridged = !refused;
	free(pin);
}

static void end_bridge(struct exchange *ex)
{
	const struct nl_range which = { .label = BRIDGE };
	bool failed = fail_code();
	uint64_t deleted;

	if (ex->bridged &&
	    nl_range_delete(ex->dev->number, &which, 1, &deleted) && !failed)
		fail_reset();
	ex->bridged = false;
}

/*
 * Those that there is room for, where not all have it: by halves, for most go together.
 * Return: how many there is none for.
 */
static size_t add_some(dev_t number, const struct nl_range *range, size_t count)
{
	size_t half = count / 2, failed;
	struct nl_room room;
	bool refused = false;

	if (!count || (!nl_range_add(number, range, count, &room, &refused) &&
		       !refused))
		return 0;
	/* The fault of none of them: a device that was suspended. */
	if (fail_code() && fail_code() != CODE_DEVICE)
		return count;
	fail_reset();
	if (count == 1)
		return 1;
	failed = add_some(number, range, half);
	return fail_code() ? count :
			     failed + add_some(number, range + half,
					       count - half);
}

static void warn_of_missing(const struct exchange *ex, size_t failed)
{
	if (failed)
		warn("%zu of %zu pinned ranges of '%s' are not any more: the cache has no room for them, or too many overlap",
		     failed, ex->come_count, ex->dev->name);
}

static int add(struct exchange *ex)
{
	dev_t number = ex->dev->number;
	bool refused = false;

	if (!ex->come_count)
		return 0;
	if (!nl_range_add(number, ex->come, ex->come_count, &ex->room,
			  &refused) && !refused)
		return 0;
	/* Where they were before takes room, too. */
	if (ex->bridged) {
		fail_reset();
		end_bridge(ex);
		return add(ex);
	}
	if (!ex->some)
		return refused ? refuse(ex, &ex->room) : (int)fail_code();
	fail_reset();
	warn_of_missing(ex, add_some(number, ex->come, ex->come_count));
	return fail_code();
}

/* What of @touched is not there any more.  Return: whether it is again. */
static bool give_back(struct exchange *ex)
{
	struct nl_range *missing = calloc(ex->touched_count + 1,
					  sizeof(*missing));
	struct known now = { 0 };
	size_t i, count = 0, failed = 1;

	if (missing && !known_read(&now, ex->dev->number)) {
		for (i = 0; i < ex->touched_count; i++)
			if (!known_has(&now, &ex->touched[i]))
				missing[count++] = ex->touched[i];
		failed = add_some(ex->dev->number, missing, count);
	}
	known_free(&now);
	free(missing);
	return !failed;
}

/* As it was before; it had room then.  The error that led here is the one that is told. */
static void take_back(struct exchange *ex)
{
	enum exit_code code = fail_code();
	char *why = strdup(fail_message());
	bool whole;

	fail_reset();
	whole = give_back(ex);
	fail_reset();
	fail(code, "%s", why ? why : "");
	if (!whole)
		fail_add("what was pinned of the same files before is not any more: 'nearcache pin %s --refresh' pins it again",
			 ex->dev->name);
	free(why);
}

/**
 * exchange() - delete ranges, and add others
 * @ex: which; exchange_free() is due also after a failure
 *
 * What is not of @ex->stay, has the label of one of @ex->which and lies in it goes, whoever
 * added it.
 *
 * Return: 0 or the exit code; then the kernel knows what it knew before.
 */
int exchange(struct exchange *ex)
{
	if (prepare(ex))
		return fail_code();
	bridge(ex);
	if ((ex->gone_count &&
	     nl_range_delete(ex->dev->number, ex->goes, ex->goes_count,
			     &ex->deleted)) ||
	    add(ex))
		take_back(ex);
	end_bridge(ex);
	/* What came back did not go. */
	ex->deleted -= ex->come_count - ex->fresh_count < ex->deleted ?
		       ex->come_count - ex->fresh_count : ex->deleted;
	/* It is done; without these numbers, too. */
	if (!fail_code() && nl_range_room(ex->dev->number, &ex->room))
		fail_reset();
	return fail_code();
}

/**
 * exchange_undo() - take back an exchange that succeeded
 * @ex: it
 *
 * The error that led here stays, and is added to where that fails.
 */
void exchange_undo(struct exchange *ex)
{
	uint64_t deleted;

	if (ex->come_count)
		nl_range_delete(ex->dev->number, ex->come, ex->come_count,
				&deleted);
	take_back(ex);
}

/* Free all; harmless after that. */
void exchange_free(struct exchange *ex)
{
	known_free(&ex->known);
	free(ex->goes);
	free(ex->gone);
	free(ex->touched);
	free(ex->come);
	ex->goes = NULL;
	ex->gone = NULL;
	ex->touched = NULL;
	ex->come = NULL;
}
