// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device-mapper target that models the network between a node and a peer; reads only:
 * <start> <length> bench-link <peer's device> <latency ns> <bytes/s> <peer's port> <node's port>.
 *
 * The answer to each read passes two ports, numbers of at most PORTS: that of the peer, which all
 * its answers leave by, and that of the node, which all answers to it arrive by.  Each port passes
 * one answer after another, at the given rate.  The second port begins to receive an answer as soon
 * as the first one sends it.  An answer that waits for the second port does not hold up the first
 * one, as a switch with enough memory.  The latency is added to the time of each read.  Requests
 * have no size.
 *
 * The message "die <ms>" lets the peer vanish, as NVMe over fabrics shows it.  Reads that have no
 * answer, and later ones, get BLK_STS_TRANSPORT after this time, when the transport's timers have
 * expired.  Reads that begin after this time get it at once.  "live" brings the peer back for new
 * reads.
 */
#include <linux/device-mapper.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>

#define DM_MSG_PREFIX "bench-link"

/* Kernels before 6.13 have no hrtimer_setup(). */
#ifndef HRTIMER_SETUP
static void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*run)(struct hrtimer *),
			  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = run;
}
#endif

#define PORTS 64

/* Time from which on a port is free, ktime in ns. */
static u64 port_free[PORTS];
static DEFINE_SPINLOCK(ports_lock);	/* protects port_free */

/**
 * struct link - one direction between two nodes
 * @dev: device of the peer
 * @latency: added to each read, ns
 * @rate: of both ports, bytes per second
 * @from: port of the peer
 * @to: port of the node that reads
 * @gone_at: ktime in ns at which reads of a dead peer fail, 0: it lives
 */
struct link {
	struct dm_dev *dev;
	u64 latency;
	u64 rate;
	u32 from;
	u32 to;
	u64 gone_at;
};

/**
 * struct answer - per-bio data
 * @timer: ends the read
 * @bytes: of the read
 * @due: @timer was started
 */
struct answer {
	struct hrtimer timer;
	u32 bytes;
	bool due;
};

static struct bio *bio_of(struct answer *answer)
{
	return dm_bio_from_per_bio_data(answer, sizeof(*answer));
}

static enum hrtimer_restart answer_arrives(struct hrtimer *timer)
{
	bio_endio(bio_of(container_of(timer, struct answer, timer)));
	return HRTIMER_NORESTART;
}

/* End the read at this time. */
static void end_at(struct answer *answer, u64 time, blk_status_t status)
{
	bio_of(answer)->bi_status = status;
	answer->due = true;
	hrtimer_setup(&answer->timer, answer_arrives, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	hrtimer_start(&answer->timer, ns_to_ktime(time), HRTIMER_MODE_ABS);
}

/* Send an answer of @bytes through both ports.  Returns the time at which it has arrived. */
static u64 pass_ports(const struct link *l, u32 bytes)
{
	u64 takes = div64_u64((u64)bytes * NSEC_PER_SEC, l->rate), begin;
	unsigned long flags;

	spin_lock_irqsave(&ports_lock, flags);
	begin = max(ktime_get_ns(), port_free[l->from]);
	port_free[l->from] = begin + takes;
	begin = max(begin, port_free[l->to]);
	port_free[l->to] = begin + takes;
	spin_unlock_irqrestore(&ports_lock, flags);
	return begin + takes;
}

static int link_map(struct dm_target *ti, struct bio *bio)
{
	struct answer *answer = dm_per_bio_data(bio, sizeof(*answer));
	struct link *l = ti->private;
	u64 gone_at = READ_ONCE(l->gone_at);

	answer->due = false;
	answer->bytes = bio->bi_iter.bi_size;
	if (bio_op(bio) != REQ_OP_READ)
		return DM_MAPIO_KILL;
	if (gone_at) {
		end_at(answer, gone_at, BLK_STS_TRANSPORT);
		return DM_MAPIO_SUBMITTED;
	}
	bio_set_dev(bio, l->dev->bdev);
	return DM_MAPIO_REMAPPED;
}

static int link_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct answer *answer = dm_per_bio_data(bio, sizeof(*answer));
	struct link *l = ti->private;
	u64 gone_at = READ_ONCE(l->gone_at);

	if (answer->due || bio_op(bio) != REQ_OP_READ)
		return DM_ENDIO_DONE;
	if (gone_at)
		end_at(answer, gone_at, BLK_STS_TRANSPORT);
	else
		end_at(answer, pass_ports(l, answer->bytes) + l->latency, *error);
	return DM_ENDIO_INCOMPLETE;
}

static int link_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			unsigned int maxlen)
{
	struct link *l = ti->private;
	unsigned int ms;

	if (argc == 1 && !strcmp(argv[0], "live"))
		WRITE_ONCE(l->gone_at, 0);
	else if (argc == 2 && !strcmp(argv[0], "die") && !kstrtouint(argv[1], 10, &ms))
		WRITE_ONCE(l->gone_at, ktime_get_ns() + (u64)ms * NSEC_PER_MSEC);
	else
		return -EINVAL;
	return 0;
}

static int link_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct link *l;

	ti->error = "Expected: <device> <latency ns> <bytes/s> <peer's port> <node's port>";
	if (argc != 5)
		return -EINVAL;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	if (kstrtou64(argv[1], 10, &l->latency) || kstrtou64(argv[2], 10, &l->rate) || !l->rate ||
	    kstrtou32(argv[3], 10, &l->from) || l->from >= PORTS ||
	    kstrtou32(argv[4], 10, &l->to) || l->to >= PORTS || l->from == l->to ||
	    dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &l->dev)) {
		kfree(l);
		return -EINVAL;
	}
	ti->per_io_data_size = sizeof(struct answer);
	ti->private = l;
	return 0;
}

static void link_dtr(struct dm_target *ti)
{
	struct link *l = ti->private;

	dm_put_device(ti, l->dev);
	kfree(l);
}

static int link_iterate(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct link *l = ti->private;

	return fn(ti, l->dev, 0, ti->len, data);
}

static struct target_type link_target = {
	.name = "bench-link",
	.version = { 1, 0, 0 },
	.module = THIS_MODULE,
	.ctr = link_ctr,
	.dtr = link_dtr,
	.map = link_map,
	.end_io = link_end_io,
	.message = link_message,
	.iterate_devices = link_iterate,
};

static int __init link_init(void)
{
	return dm_register_target(&link_target);
}

static void __exit link_exit(void)
{
	dm_unregister_target(&link_target);
}

module_init(link_init);
module_exit(link_exit);

MODULE_DESCRIPTION("device-mapper target that models a network link, for benchmarks of nearcache");
MODULE_LICENSE("GPL");
