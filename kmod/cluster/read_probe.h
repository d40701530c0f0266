/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads that a cluster device sends on its own, to find out how a device answers. */
#ifndef NEARCACHE_CLUSTER_READ_PROBE_H
#define NEARCACHE_CLUSTER_READ_PROBE_H

#include <linux/bio.h>
#include <linux/build_bug.h>
#include <linux/workqueue.h>

/* Largest probe, bytes: the usual limit of a read of the page cache's read-ahead. */
#define NC_PROBE_BYTES (128U << 10)
#define NC_PROBE_PAGES (NC_PROBE_BYTES / PAGE_SIZE)

static_assert(NC_PROBE_BYTES % PAGE_SIZE == 0);

/**
 * struct nc_read_probe - one read that is sent again and again
 * @bdev: device that is read
 * @ended: called at the end of the read, in any context
 * @bio: the read
 * @vec: memory of @bio
 * @page: the pages that are read into
 * @pages: number of them
 * @sector: first sector
 * @size: bytes
 * @work: sends the read
 * @begun: ktime in ns when the read was sent; 0 before that
 * @took: duration of the last read, ns; valid if not @busy
 * @error: result of the last read; valid if not @busy
 * @sent: a read was sent, and its result has not been judged
 * @busy: a read is in flight; set by the sender, cleared by the completion
 */
struct nc_read_probe {
	struct block_device *bdev;
	void (*ended)(struct nc_read_probe *probe);
	struct bio bio;
	struct bio_vec vec[NC_PROBE_PAGES];
	struct page *page[NC_PROBE_PAGES];
	u32 pages;
	sector_t sector;
	u32 size;
	struct work_struct work;
	u64 begun;
	u64 took;
	blk_status_t error;
	bool sent;
	bool busy;
};

void nc_read_probe_init(struct nc_read_probe *probe, struct block_device *bdev,
			void (*ended)(struct nc_read_probe *probe));
bool nc_read_probe_reserve(struct nc_read_probe *probe, u32 bytes, gfp_t gfp);
void nc_read_probe_trim(struct nc_read_probe *probe, u32 bytes);
bool nc_read_probe_idle(const struct nc_read_probe *probe);
u64 nc_read_probe_age(const struct nc_read_probe *probe);
void nc_read_probe_send(struct nc_read_probe *probe,
			struct workqueue_struct *queue, sector_t sector,
			u32 bytes);

#endif /* NEARCACHE_CLUSTER_READ_PROBE_H */
