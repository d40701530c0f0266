// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device-mapper target that models a drive with a volatile cache, without a device below it:
 * <start> <length> bench-drive <read ns> <read bytes/s> <write ns> <write bytes/s> <flush ns>
 * <fua ns>; a rate of 0 has no limit, and a drive with <flush ns> 0 has no volatile cache.
 *
 * Reads pass the drive one after another at their rate, and so do writes; both directions are
 * independent.  Then the latency passes, for all requests at the same time.  A write with FUA takes
 * <fua ns> more.  A FLUSH takes <flush ns>, or <write ns> if nothing was written since
 * the last one.
 *
 * Data costs no processor time if it is stamped: a block of 4 KiB with a struct stamp at its begin
 * and at its end.  The drive keeps only the number of such a block, and a read sets only both
 * stamps.  Any other data is kept in memory.
 *
 * The message "mark" sets the counters to 0.  Status: bytes read, bytes written, FLUSHes, writes
 * with FUA, and three times in ns since 1970: first write, end of the last write, end of the FLUSH
 * that followed all writes (0: there was none yet).
 */
#include <linux/device-mapper.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define DM_MSG_PREFIX "bench-drive"

/* Kernels before 6.13 have no hrtimer_setup(). */
#ifndef HRTIMER_SETUP
static void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*run)(struct hrtimer *),
			  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = run;
}
#endif

#define BLOCK 4096U
#define BLOCK_SECTORS 8U
#define BLOCK_STAMPED 1UL
#define STAMP_MAGIC 0x68636e65622d636eULL	/* "nc-bench" */

struct stamp {
	__le64 magic;
	__le64 number;
};

/**
 * struct way - requests of one direction
 * @latency: of each, ns
 * @rate: bytes per second, 0: no limit
 * @free: time from which on the next one passes, ktime in ns
 * @bytes: that have passed
 */
struct way {
	u64 latency;
	u64 rate;
	u64 free;
	u64 bytes;
};

/**
 * struct drive - a drive
 * @blocks: content of each block: twice the number of a stamped one and BLOCK_STAMPED, the address
 *	of a page, or 0 (zeros).  Not protected: nobody writes a block twice at the same time
 * @count: number of @blocks
 * @lock: protects all below
 * @way: reads and writes
 * @flush_ns: duration of a FLUSH
 * @fua_ns: added to a write with FUA
 * @dirty: a write without FUA has ended since the begin of the last FLUSH
 * @flushes: number of FLUSHes
 * @fuas: number of writes with FUA
 * @begun: number of writes that have begun
 * @ended: number of those that have ended
 * @first_write: time of the first one
 * @last_write: end of the last one
 * @flushed: number of writes that had ended when a FLUSH began which has ended
 * @last_flush: end of this FLUSH
 */
struct drive {
	unsigned long *blocks;
	u64 count;
	spinlock_t lock;	/* see above */
	struct way way[2];
	u64 flush_ns;
	u64 fua_ns;
	bool dirty;
	u64 flushes;
	u64 fuas;
	u64 begun;
	u64 ended;
	u64 first_write;
	u64 last_write;
	u64 flushed;
	u64 last_flush;
};

/**
 * struct request_end - per-bio data
 * @timer: ends the request
 * @drive: of the request
 * @covers: FLUSH: number of writes that had ended when it began
 */
struct request_end {
	struct hrtimer timer;
	struct drive *drive;
	u64 covers;
};

static struct bio *bio_of(struct request_end *end)
{
	return dm_bio_from_per_bio_data(end, sizeof(*end));
}

static void bio_ends(struct request_end *end)
{
	struct bio *bio = bio_of(end);
	struct drive *d = end->drive;
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	if (bio->bi_opf & REQ_PREFLUSH) {
		if (end->covers > d->flushed) {
			d->flushed = end->covers;
			d->last_flush = ktime_get_real_ns();
		}
	} else if (op_is_write(bio_op(bio))) {
		d->ended++;
		d->dirty |= !(bio->bi_opf & REQ_FUA);
		d->last_write = ktime_get_real_ns();
	}
	spin_unlock_irqrestore(&d->lock, flags);
	bio_endio(bio);
}

static enum hrtimer_restart timer_ends(struct hrtimer *timer)
{
	bio_ends(container_of(timer, struct request_end, timer));
	return HRTIMER_NORESTART;
}

/* Account for the request.  Returns its duration. */
static u64 request_ns(struct drive *d, struct request_end *end, struct bio *bio)
{
	bool writes = op_is_write(bio_op(bio));
	struct way *way = &d->way[writes];
	u64 now = ktime_get_ns(), ns;
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	if (bio->bi_opf & REQ_PREFLUSH) {
		ns = d->dirty ? d->flush_ns : d->way[1].latency;
		d->dirty = false;
		d->flushes++;
		end->covers = d->ended;
	} else {
		way->free = max(now, way->free);
		if (way->rate)
			way->free += div64_u64((u64)bio->bi_iter.bi_size * NSEC_PER_SEC, way->rate);
		way->bytes += bio->bi_iter.bi_size;
		ns = way->free - now + way->latency;
		if (writes && !d->begun++)
			d->first_write = ktime_get_real_ns();
		if (writes && bio->bi_opf & REQ_FUA) {
			ns += d->fua_ns;
			d->fuas++;
		}
	}
	spin_unlock_irqrestore(&d->lock, flags);
	return ns;
}

/* Returns the number of a stamped block, or -1. */
static s64 stamp_number(const void *data)
{
	const struct stamp *first = data, *last = data + BLOCK - sizeof(*last);

	if (le64_to_cpu(first->magic) != STAMP_MAGIC || memcmp(first, last, sizeof(*first)))
		return -1;
	return le64_to_cpu(first->number) & (LONG_MAX >> 1);
}

static void stamp_set(void *data, u64 number)
{
	struct stamp stamp = { cpu_to_le64(STAMP_MAGIC), cpu_to_le64(number) };

	memcpy(data, &stamp, sizeof(stamp));
	memcpy(data + BLOCK - sizeof(stamp), &stamp, sizeof(stamp));
}

/*
 * Returns the page of a block, which it makes if there is none, or NULL without memory.  @whole:
 * the caller sets all of it.
 */
static void *block_page(unsigned long *block, bool whole)
{
	void *page;

	if (*block && !(*block & BLOCK_STAMPED))
		return (void *)*block;
	page = (void *)__get_free_page(whole ? GFP_NOIO : GFP_NOIO | __GFP_ZERO);
	if (!page)
		return NULL;
	if (*block)
		stamp_set(page, *block >> 1);
	*block = (unsigned long)page;
	return page;
}

/* Write the part of a block that begins at @sector. */
static bool block_write(struct drive *d, sector_t sector, const void *data, u32 bytes)
{
	unsigned long *block = &d->blocks[sector / BLOCK_SECTORS];
	s64 number = bytes == BLOCK ? stamp_number(data) : -1;
	void *page;

	if (number >= 0) {
		if (*block && !(*block & BLOCK_STAMPED))
			free_page(*block);
		*block = (unsigned long)number << 1 | BLOCK_STAMPED;
		return true;
	}
	page = block_page(block, bytes == BLOCK);
	if (page)
		memcpy(page + sector % BLOCK_SECTORS * SECTOR_SIZE, data, bytes);
	return page;
}

/* Read the part of a block that begins at @sector. */
static bool block_read(struct drive *d, sector_t sector, void *data, u32 bytes)
{
	unsigned long *block = &d->blocks[sector / BLOCK_SECTORS];
	void *page;

	if (!*block) {
		memset(data, 0, bytes);
		return true;
	}
	if (*block & BLOCK_STAMPED && bytes == BLOCK) {
		stamp_set(data, *block >> 1);
		return true;
	}
	page = block_page(block, false);
	if (page)
		memcpy(data, page + sector % BLOCK_SECTORS * SECTOR_SIZE, bytes);
	return page;
}

static blk_status_t bio_content(struct drive *d, struct bio *bio)
{
	sector_t sector = bio->bi_iter.bi_sector;
	struct bvec_iter iter;
	struct bio_vec part;

	bio_for_each_bvec(part, bio, iter) {
		void *data = bvec_virt(&part), *end = data + part.bv_len;

		while (data < end) {
			u32 bytes = min_t(u32, end - data,
					  BLOCK - sector % BLOCK_SECTORS * SECTOR_SIZE);

			if (!(bio_op(bio) == REQ_OP_READ ? block_read(d, sector, data, bytes) :
							   block_write(d, sector, data, bytes)))
				return BLK_STS_RESOURCE;
			data += bytes;
			sector += bytes / SECTOR_SIZE;
		}
	}
	return BLK_STS_OK;
}

static int drive_map(struct dm_target *ti, struct bio *bio)
{
	struct request_end *end = dm_per_bio_data(bio, sizeof(*end));
	struct drive *d = ti->private;
	u64 ns;

	end->drive = d;
	bio->bi_iter.bi_sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	ns = request_ns(d, end, bio);
	bio->bi_status = bio_content(d, bio);
	if (!ns) {
		bio_ends(end);
		return DM_MAPIO_SUBMITTED;
	}
	hrtimer_setup(&end->timer, timer_ends, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&end->timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
	return DM_MAPIO_SUBMITTED;
}

static int drive_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			 unsigned int maxlen)
{
	struct drive *d = ti->private;

	if (argc != 1 || strcmp(argv[0], "mark"))
		return -EINVAL;
	spin_lock_irq(&d->lock);
	d->way[0].bytes = 0;
	d->way[1].bytes = 0;
	d->flushes = 0;
	d->fuas = 0;
	d->begun -= d->ended;
	d->ended = 0;
	d->flushed = 0;
	d->first_write = 0;
	d->last_write = 0;
	spin_unlock_irq(&d->lock);
	return 0;
}

static void drive_status(struct dm_target *ti, status_type_t type, unsigned int flags,
			 char *result, unsigned int maxlen)
{
	struct drive *d = ti->private;
	unsigned int sz = 0;

	spin_lock_irq(&d->lock);
	if (type == STATUSTYPE_INFO)
		DMEMIT("%llu %llu %llu %llu %llu %llu %llu", d->way[0].bytes, d->way[1].bytes,
		       d->flushes, d->fuas, d->first_write, d->last_write,
		       d->flushed == d->begun ? d->last_flush : 0);
	else if (type == STATUSTYPE_TABLE)
		DMEMIT("%llu %llu %llu %llu %llu %llu", d->way[0].latency, d->way[0].rate,
		       d->way[1].latency, d->way[1].rate, d->flush_ns, d->fua_ns);
	else
		*result = '\0';
	spin_unlock_irq(&d->lock);
}

static int drive_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct drive *d;
	u64 *to[6];
	int i;

	ti->error = "Expected: <read ns> <bytes/s> <write ns> <bytes/s> <flush ns> <fua ns>";
	if (argc != ARRAY_SIZE(to))
		return -EINVAL;
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	d->count = DIV_ROUND_UP(ti->len, BLOCK_SECTORS);
	d->blocks = vzalloc(array_size(d->count, sizeof(*d->blocks)));
	if (!d->blocks) {
		kfree(d);
		return -ENOMEM;
	}
	to[0] = &d->way[0].latency;
	to[1] = &d->way[0].rate;
	to[2] = &d->way[1].latency;
	to[3] = &d->way[1].rate;
	to[4] = &d->flush_ns;
	to[5] = &d->fua_ns;
	for (i = 0; i < ARRAY_SIZE(to); i++) {
		if (!kstrtou64(argv[i], 10, to[i]))
			continue;
		vfree(d->blocks);
		kfree(d);
		return -EINVAL;
	}
	spin_lock_init(&d->lock);
	ti->per_io_data_size = sizeof(struct request_end);
	ti->num_flush_bios = d->flush_ns ? 1 : 0;
	ti->flush_supported = true;
	ti->private = d;
	return 0;
}

static void drive_dtr(struct dm_target *ti)
{
	struct drive *d = ti->private;
	u64 i;

	for (i = 0; i < d->count; i++)
		if (!(d->blocks[i] & BLOCK_STAMPED))
			free_page(d->blocks[i]);
	vfree(d->blocks);
	kfree(d);
}

static struct target_type drive_target = {
	.name = "bench-drive",
	.version = { 1, 0, 0 },
	.module = THIS_MODULE,
	.ctr = drive_ctr,
	.dtr = drive_dtr,
	.map = drive_map,
	.message = drive_message,
	.status = drive_status,
};

static int __init drive_init(void)
{
	return dm_register_target(&drive_target);
}

static void __exit drive_exit(void)
{
	dm_unregister_target(&drive_target);
}

module_init(drive_init);
module_exit(drive_exit);

MODULE_DESCRIPTION("device-mapper target that models a drive, for benchmarks of nearcache");
MODULE_LICENSE("GPL");
