// SPDX-License-Identifier: GPL-2.0-only
/* Reads that a cluster device sends on its own, to find out how a device answers. */
#include <linux/blkdev.h>
#include <linux/ktime.h>

#include "core/compat.h"
#include "cluster/read_probe.h"

static void end_read_probe(struct bio *bio)
{
	struct nc_read_probe *probe =
		container_of(bio, struct nc_read_probe, bio);

	probe->error = bio->bi_status;
	probe->took = ktime_get_ns() - READ_ONCE(probe->begun);
	bio_uninit(bio);
	/* Pairs with nc_read_probe_idle(). */
	smp_store_release(&probe->busy, false);
	probe->ended(probe);
}

/* Send the read.  May sleep for as long as the device hangs, so that it is a work of its own. */
static void send_read_probe(struct work_struct *work)
{
	struct nc_read_probe *probe =
		container_of(work, struct nc_read_probe, work);
	struct bio *bio = &probe->bio;
	u32 i, left = probe->size, part;

	bio_init(bio, probe->bdev, probe->vec, NC_PROBE_PAGES, REQ_OP_READ);
	bio->bi_iter.bi_sector = probe->sector;
	bio->bi_end_io = end_read_probe;
	for (i = 0; left; i++, left -= part) {
		part = min_t(u32, left, PAGE_SIZE);
		__bio_add_page(bio, probe->page[i], part, 0);
	}
	WRITE_ONCE(probe->begun, ktime_get_ns());
	/* A namespace that is gone has size 0, and the kernel would log each probe. */
	if (bio_end_sector(bio) > bdev_nr_sectors(probe->bdev))
		bio_io_error(bio);
	else
		submit_bio_noacct(bio);
}

/**
 * nc_read_probe_init() - prepare a probe without memory
 * @probe: probe
 * @bdev: device that it reads; its logical blocks are not larger than NC_PROBE_BYTES
 * @ended: see struct nc_read_probe
 */
void nc_read_probe_init(struct nc_read_probe *probe, struct block_device *bdev,
			void (*ended)(struct nc_read_probe *probe))
{
	probe->bdev = bdev;
	probe->ended = ended;
	INIT_WORK(&probe->work, send_read_probe);
}

/**
 * nc_read_probe_reserve() - get the memory for reads of a size
 * @probe: idle probe
 * @bytes: at most NC_PROBE_BYTES
 * @gfp: how to allocate
 *
 * Return: false if there is no memory; what was reserved before is left.
 */
bool nc_read_probe_reserve(struct nc_read_probe *probe, u32 bytes, gfp_t gfp)
{
	while (probe->pages * PAGE_SIZE < bytes) {
		probe->page[probe->pages] = alloc_page(gfp);
		if (!probe->page[probe->pages])
			return false;
		probe->pages++;
	}
	return true;
}

/* Free the memory of an idle probe that is not needed for reads of @bytes. */
void nc_read_probe_trim(struct nc_read_probe *probe, u32 bytes)
{
	while (probe->pages > DIV_ROUND_UP(bytes, PAGE_SIZE))
		__free_page(probe->page[--probe->pages]);
}

/* Has the last read ended? */
bool nc_read_probe_idle(const struct nc_read_probe *probe)
{
	/* Pairs with end_read_probe(), which stores the result first. */
	return !smp_load_acquire(&probe->busy);
}

/* For how long has the present read been in flight?  In ns; 0: no read is. */
u64 nc_read_probe_age(const struct nc_read_probe *probe)
{
	u64 begun = READ_ONCE(probe->begun);

	return nc_read_probe_idle(probe) || !begun ? 0 : ktime_get_ns() - begun;
}

/**
 * nc_read_probe_send() - begin to read
 * @probe: idle probe with memory for the read
 * @queue: runs the work that sends the read, and may wait for the device
 * @sector: sector that is read, anywhere in the first block
 * @bytes: size of the read, at least a logical block
 */
void nc_read_probe_send(struct nc_read_probe *probe,
			struct workqueue_struct *queue, sector_t sector,
			u32 bytes)
{
	u32 block = bdev_logical_block_size(probe->bdev);
	sector_t end;

	probe->size = round_down(bytes, block);
	/* If the device is gone, and has no sectors left, the read gets an error. */
	end = bdev_nr_sectors(probe->bdev) ?: probe->size >> SECTOR_SHIFT;
	sector = min(sector, end - (probe->size >> SECTOR_SHIFT));
	probe->sector = round_down(sector, block >> SECTOR_SHIFT);
	probe->begun = 0;
	probe->sent = true;
	probe->busy = true;
	queue_work(queue, &probe->work);
}
