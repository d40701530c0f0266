// SPDX-License-Identifier: GPL-2.0-only
/* Looks up which ranges a deletion request deletes. */
#include "pins/unpin_match.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

static int compare_labels(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

static int compare_spans(const void *x, const void *y)
{
	const struct span *a = x, *b = y;
	int order = compare_labels(a->label, b->label);

	return order ? order : (a->start > b->start) - (a->start < b->start);
}

static uint64_t end_of(const struct range *range)
{
	return range->length ? range->start + range->length : UINT64_MAX;
}

/*
 * Sort the ranges @which, as in nl_replacement.drop, for spans_hold(). Their labels must stay valid
 * until spans_free(), which is needed even after a failure.
 */
int spans_make(struct spans *spans, const struct nl_range *which, size_t count)
{
	struct span *span = calloc(count + 1, sizeof(*span));
	size_t i;

	*spans = (struct spans){ span, count };
	if (!span)
		return fail_memory();
	for (i = 0; i < count; i++)
		span[i] = (struct span){ which[i].label, which[i].range.start,
					 end_of(&which[i].range) };
	qsort(span, count, sizeof(*span), compare_spans);
	for (i = 1; i < count; i++)
		if (!compare_labels(span[i].label, span[i - 1].label) &&
		    span[i].reach < span[i - 1].reach)
			span[i].reach = span[i - 1].reach;
	return 0;
}

/* True if the range is inside a span with exactly this label. */
static bool spans_hold_label(const struct spans *spans, const struct range *range,
			     const char *label)
{
	const struct span key = { .label = label, .start = range->start };
	size_t low = 0, high = spans->count;

	/* Find the last span that does not start after the range. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_spans(&spans->span[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !compare_labels(spans->span[low - 1].label, label) &&
	       spans->span[low - 1].reach >= end_of(range);
}

/* True if @range (length 0: to the device's end) is in a span with @label or one for any label. */
bool spans_hold(const struct spans *spans, const struct range *range,
		const char *label)
{
	return spans_hold_label(spans, range, NULL) || spans_hold_label(spans, range, label);
}

void spans_free(struct spans *spans)
{
	free(spans->span);
	*spans = (struct spans){ 0 };
}
