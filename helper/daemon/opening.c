// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/opening.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* Bytes: less says nothing. */
#define WASTE_LEAST	(16U << 20)

/**
 * struct shard - a label
 * @label: it
 * @read: bytes read of its ranges, as of the last look
 * @missed: of these, from the origin
 * @used: bytes prefetched and read
 * @wasted: bytes prefetched and dropped unread
 * @bytes: of its ranges, when it was opened
 * @last: when something was read of it
 * @open: its bytes count
 * @seen: in this look
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

/* Return: the shard, or NULL: no memory. */
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

/* What was counted before somebody looked does not count, nor does what was counted anew. */
static uint64_t counter_grown(uint64_t *before, uint64_t now, bool counts)
{
	uint64_t more = counts && now > *before ? now - *before : 0;

	*before = now;
	return more;
}

/**
 * opening_see() - what was read of a label so far
 * @opening: of its device
 * @label: it
 * @time: seconds, of a clock that does not go back
 * @room: bytes that all open shards may have; one that does not fit stays closed
 *
 * Return: whether it is open from now on: it was touched first.
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

/**
 * opening_shut() - a shard is not brought after all
 * @opening: of its device
 * @label: it
 * @stays: nor is it to be, while it is read; else it is tried again
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

/**
 * opening_is_wasteful() - is more of what was prefetched dropped than read?
 * @opening: of a device
 *
 * Return: whether it is, which is forgotten then.
 */
bool opening_is_wasteful(struct opening *opening)
{
	if (opening->wasted < WASTE_LEAST || opening->wasted <= opening->used)
		return false;
	opening->used = 0;
	opening->wasted = 0;
	return true;
}

/**
 * struct closing - what is to be closed
 * @opening: it
 * @before: shards that were read last then, or before
 * @gone: labels that are no more; more than that are found at the next look
 * @count: how many
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

/**
 * opening_close() - a look is over; a label that was not seen is forgotten
 * @opening: of a device
 * @time: as for opening_see()
 * @idle: seconds without reads after which a shard is closed
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
