// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/shards_in_use.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* opening_is_wasteful() ignores fewer wasted bytes than this. */
#define WASTE_LEAST	(16U << 20)

/*
 * A shard and the counters of its label in the last sample.
 *
 * @read: bytes read
 * @missed: bytes of @read that came from the origin
 * @used: prefetched bytes that were read
 * @wasted: prefetched bytes that were dropped unread
 * @bytes: size of the shard when it was last opened; open_bytes contains it while @open
 * @last: time of the last read, seconds
 * @open: see shards_in_use.h
 * @seen: opening_see() was called for the label in this sample
 */
struct shard {
	char *label;
	uint64_t read;
	uint64_t missed;
	uint64_t used;
	uint64_t wasted;
	uint64_t bytes;
	uint64_t last;
	bool open;
	bool seen;
};

static int by_label(const void *a, const void *b)
{
	const struct shard *one = a, *other = b;

	return strcmp(one->label, other->label);
}

static void free_shard(void *shard_)
{
	struct shard *shard = shard_;

	free(shard->label);
	free(shard);
}

/* Returns the shard with @label, or NULL if memory is short.  @fresh: this call added the shard. */
static struct shard *need_shard(struct opening *opening, const char *label, bool *fresh)
{
	struct shard key = { .label = (char *)label }, *shard;
	void *node = tfind(&key, &opening->shards, by_label);

	*fresh = !node;
	if (node)
		return *(struct shard **)node;
	shard = calloc(1, sizeof(*shard));
	if (!shard)
		return NULL;
	shard->label = strdup(label);
	if (shard->label && tsearch(shard, &opening->shards, by_label))
		return shard;
	free_shard(shard);
	return NULL;
}

/* Growth of a counter; 0 in the first sample (!@counts) and after the counter restarted. */
static uint64_t counter_grown(uint64_t *before, uint64_t now, bool counts)
{
	uint64_t more = counts && now > *before ? now - *before : 0;

	*before = now;
	return more;
}

/**
 * opening_see() - sample a label
 * @opening: the shards of its device
 * @label: the label and its counters
 * @time: seconds, of a monotonic clock
 * @room: maximum bytes of all open shards; a shard that does not fit stays closed
 *
 * Return: true if this call opened the shard, because it was read from the origin since the last
 * sample; otherwise false, also after recording an error.
 */
bool opening_see(struct opening *opening, const struct nl_label *label, uint64_t time,
		 uint64_t room)
{
	uint64_t missed = label->counter[NEARCACHE_LABEL_MISS_BYTES];
	uint64_t read = missed + label->counter[NEARCACHE_LABEL_HIT_BYTES];
	bool fresh, touched, counts;
	struct shard *shard = need_shard(opening, label->name, &fresh);

	if (!shard) {
		fail_memory();
		return false;
	}
	shard->seen = true;
	counts = !fresh || opening->begun;
	touched = counter_grown(&shard->missed, missed, counts);
	if (counter_grown(&shard->read, read, counts))
		shard->last = time;
	opening->used += counter_grown(&shard->used,
				       label->counter[NEARCACHE_LABEL_PREFETCHED_USED_BYTES], counts);
	opening->wasted += counter_grown(&shard->wasted,
					 label->counter[NEARCACHE_LABEL_PREFETCHED_WASTED_BYTES], counts);
	if (!touched || shard->open || opening->open_bytes + label->bytes > room)
		return false;
	shard->open = true;
	shard->bytes = label->bytes;
	opening->open_bytes += shard->bytes;
	return true;
}

/*
 * Give back the bytes of a shard that opening_see() opened and the caller did not prefetch.
 * If @stays, the shard stays open, so that opening_see() does not return true again while the shard
 * is read.  Otherwise the next read of the shard from the origin opens it again.
 */
void opening_shut(struct opening *opening, const char *label, bool stays)
{
	struct shard key = { .label = (char *)label }, *shard;
	void *node = tfind(&key, &opening->shards, by_label);

	if (!node)
		return;
	shard = *(struct shard **)node;
	if (shard->open)
		opening->open_bytes -= shard->bytes;
	shard->bytes = 0;
	shard->open = stays;
}

/* Returns whether @wasted exceeds @used and WASTE_LEAST.  If so, both counts restart at 0. */
bool opening_is_wasteful(struct opening *opening)
{
	if (opening->wasted < WASTE_LEAST || opening->wasted <= opening->used)
		return false;
	opening->used = 0;
	opening->wasted = 0;
	return true;
}

/*
 * Argument of close_idle().
 * @before: close shards whose last read was at or before this time, seconds
 * @gone: shards whose label no longer exists; when @gone is full, a later sample frees the rest
 */
struct closing {
	struct opening *opening;
	uint64_t before;
	struct shard *gone[64];
	size_t count;
};

static void close_idle(const void *node, VISIT visit, void *arg)
{
	struct shard *shard = *(struct shard *const *)node;
	struct closing *closing = arg;
	bool gone = !shard->seen;

	if (visit != postorder && visit != leaf)
		return;
	shard->seen = false;
	if (shard->open && (gone || shard->last <= closing->before)) {
		shard->open = false;
		closing->opening->open_bytes -= shard->bytes;
	}
	if (gone && closing->count < sizeof(closing->gone) / sizeof(closing->gone[0]))
		closing->gone[closing->count++] = shard;
}

/*
 * End a sample: close shards without reads for @idle seconds, and free shards for which
 * opening_see() was not called in this sample.
 */
void opening_close(struct opening *opening, uint64_t time, uint64_t idle)
{
	struct closing closing = { opening, time > idle ? time - idle : 0, { NULL }, 0 };

	opening->begun = true;
	twalk_r(opening->shards, close_idle, &closing);
	while (closing.count--) {
		tdelete(closing.gone[closing.count], &opening->shards, by_label);
		free_shard(closing.gone[closing.count]);
	}
}

void opening_free(struct opening *opening)
{
	tdestroy(opening->shards, free_shard);
	memset(opening, 0, sizeof(*opening));
}
