/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads that wait for a failed origin. */
#ifndef NEARCACHE_IO_ORIGIN_RETRY_H
#define NEARCACHE_IO_ORIGIN_RETRY_H

#include <linux/bio.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct nc_cache;
struct nc_target;

/**
 * struct nc_origin_retry - reads that the origin failed
 * @lock: protects @waiting; taken in interrupts
 * @waiting: reads to be sent again, restored to their state before the first attempt
 * @count: reads that failed at least once and have not completed since
 * @reported: a failure was logged, so log no other failure until a waiting read succeeds
 * @again: sends @waiting to the origin
 */
struct nc_origin_retry {
	spinlock_t lock;	/* see above */
	struct bio_list waiting;
	atomic_t count;
	bool reported;
	struct delayed_work again;
};

void nc_origin_retry_init(struct nc_cache *c);
bool nc_origin_retry_wait(struct nc_target *t, struct bio *bio, blk_status_t *error);
void nc_origin_retry_answered(struct nc_target *t, struct bio *bio, bool well);
void nc_origin_retry_suspend(struct nc_target *t);

#endif /* NEARCACHE_IO_ORIGIN_RETRY_H */
