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
 * struct nc_outage - reads that the origin failed
 * @lock: protects @waiting; taken in interrupts
 * @waiting: reads as they came, to be sent again
 * @count: reads that failed and have not completed since
 * @told: the log reports the failure; cleared when a waiting read succeeds
 * @again: sends @waiting to the origin
 */
struct nc_outage {
	spinlock_t lock;	/* see above */
	struct bio_list waiting;
	atomic_t count;
	bool told;
	struct delayed_work again;
};

void nc_outage_init(struct nc_cache *c);
bool nc_outage_wait(struct nc_target *t, struct bio *bio, blk_status_t *error);
void nc_outage_answered(struct nc_target *t, struct bio *bio, bool well);
void nc_outage_suspend(struct nc_target *t);

#endif /* NEARCACHE_IO_ORIGIN_RETRY_H */
