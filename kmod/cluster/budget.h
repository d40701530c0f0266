/* SPDX-License-Identifier: GPL-2.0-only */
/* A limit of the bytes per second that a cluster device reads at peers. */
#ifndef NEARCACHE_CLUSTER_BUDGET_H
#define NEARCACHE_CLUSTER_BUDGET_H

#include <linux/bio.h>
#include <linux/bits.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

/* Limits of a rate, bytes per second. */
#define NC_BUDGET_MIN	BIT_ULL(20)
#define NC_BUDGET_MAX	BIT_ULL(40)

/* May a read be sent? */
enum nc_budget_answer {
	NC_BUDGET_SEND,		/* yes */
	NC_BUDGET_WAITS,	/* later: the budget has it, and sends it */
	NC_BUDGET_REFUSED,	/* later, but it must not wait */
};

/**
 * struct nc_budget - the limit, and the reads that wait
 * @rate: bytes per second; 0: no limit.  Read without the lock
 * @lock: protects the fields below; taken in map, and by the work
 * @next: ktime in ns from which the next read may be sent
 * @waiting: reads that wait, with ascending nc_cluster_io.begun
 * @delayed: number of reads that have waited
 * @suspended: no read waits, because a suspend waits for all reads
 * @work: sends the reads whose time has come
 */
struct nc_budget {
	u64 rate;
	spinlock_t lock;	/* see above */
	u64 next;
	struct bio_list waiting;
	u64 delayed;
	bool suspended;
	struct delayed_work work;
};

struct nc_cluster;

void nc_budget_init(struct nc_budget *budget);
enum nc_budget_answer nc_budget_take(struct nc_cluster *c, struct bio *bio);
void nc_budget_changed(struct nc_cluster *c);
void nc_budget_suspend(struct nc_cluster *c, bool suspended);

#endif /* NEARCACHE_CLUSTER_BUDGET_H */
