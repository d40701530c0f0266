// SPDX-License-Identifier: GPL-2.0-only
/* The reservation of an origin for its stage, and what happens to the retained data of the log. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/device_sysfs.h"
#include "block/reservation.h"
#include "lib/error.h"
#include "lib/print.h"
#include "open/stage_device.h"

/* The key of a log: the same after a reboot, and on another node that gets the drive. */
u64 stage_key(const unsigned char *uuid)
{
	u64 key = 0;
	unsigned int i;

	for (i = 0; i < 8; i++)
		key = key << 8 | (uuid[i] ^ uuid[i + 8]);
	return key ? key : 1;
}

bool stage_is_reserved(const struct nearcache_stage_super *sb)
{
	return le32_to_cpu(sb->flags) & NEARCACHE_STAGE_RESERVE;
}

void stage_print_key(const struct nearcache_stage_super *sb)
{
	bool reserved = stage_is_reserved(sb);
	char key[32];

	snprintf(key, sizeof(key), "0x%016llx", (unsigned long long)stage_key(sb->uuid));
	print_string("reservation_key", reserved ? "origin reserved by key" : NULL,
		     reserved ? key : NULL);
}

static bool is_ours(const struct reservation *now, u64 key)
{
	uint64_t other;

	return now->held && now->shared && now->key == key && reservation_has_key(now, key) &&
	       !reservation_other_key(now, key, &other);
}

static bool is_whole(dev_t disk, void *data)
{
	const struct device *origin = data;
	char sectors[32];

	return identity_attribute(disk, "size", sectors, sizeof(sectors)) &&
	       strtoull(sectors, NULL, 10) == origin->size / 512;
}

/* The kernel passes a reservation of a part, such as a logical volume, to the whole disk. */
static int check_whole(const struct device *origin)
{
	return identity_each_disk(origin->number, is_whole, (void *)(uintptr_t)origin) ? 0 :
	       fail(CODE_DEVICE,
		    "origin '%s' is a part of a disk, or of several, and a reservation is for all of a disk, also for parts that other nodes use: leave out --reserve, or use a whole disk, or a multipath device of one",
		    origin->path);
}

static int read_reservation(const struct device *origin, struct reservation *now)
{
	return reservation_read(origin, now) ? 0 :
	       fail(CODE_DEVICE,
		    "origin '%s' reports no persistent reservations, so it cannot be reserved for this node: leave out --reserve, or open with --no-reserve; then make sure that no other node writes to it",
		    origin->path);
}

/* For create, before it writes: this node has no key of the new log yet, so any key is another's. */
int stage_check_reservable(const struct device *origin, const struct arguments *args)
{
	struct reservation now;
	uint64_t other;

	if (!option_given(args, OPTION_RESERVE) || check_whole(origin) ||
	    read_reservation(origin, &now) || option_given(args, OPTION_PREEMPT) ||
	    !reservation_other_key(&now, 0, &other))
		return fail_code();
	return fail(CODE_BUSY,
		    "the key 0x%016llx is registered with origin '%s', by another node or for another log: close the device there, or give --preempt to take the origin from it",
		    (unsigned long long)other, origin->path);
}

static int refuse_other(const struct stage *stage, const struct reservation *now, uint64_t other)
{
	return fail(CODE_BUSY,
		    "origin '%s' %s the key 0x%016llx, by another node or for another log; the key of the log '%s' is 0x%016llx: close the device there, or take the origin from it with 'nearcache open %s --preempt': then its writes that are not on the origin are lost",
		    stage->origin.path,
		    now->held && now->key == other ? "is reserved with" : "has registered",
		    (unsigned long long)other, stage->log.path,
		    (unsigned long long)stage_key(stage->sb.uuid), stage->cache);
}

/* Without the reservation another node may have written: a drain would mix the writes of both. */
static int refuse_lost(const struct stage *stage)
{
	return fail(CODE_DEVICE,
		    "the reservation of origin '%s' with the key 0x%016llx is lost, while the log '%s' holds writes that the origin lacks: if no other node has written to the origin, 'nearcache open %s --preempt' reserves it again and goes on; otherwise --abandon-stage gives up the log",
		    stage->origin.path, (unsigned long long)stage_key(stage->sb.uuid),
		    stage->log.path, stage->cache);
}

static bool has_count(const struct nearcache_stage_super *sb)
{
	return sb->generation && sb->closed_generation == sb->generation && sb->closed_reservation;
}

/*
 * Another node may have registered a key, written, and removed the key since the close.  This node
 * registers only in an open, which records the new count, or by multipathd.
 */
static int check_count(const struct stage *stage, const struct reservation *now)
{
	u32 closed = le32_to_cpu(stage->sb.closed_reservation);

	if (!has_count(&stage->sb) || closed == now->generation)
		return 0;
	return fail(CODE_DEVICE,
		    "keys were registered with origin '%s' or removed since the close (count %u, now %u), or its target has restarted, while the log '%s' holds writes that the origin lacks: if no other node has written to the origin, 'nearcache open %s --preempt' goes on; otherwise --abandon-stage gives up the log",
		    stage->origin.path, closed, now->generation, stage->log.path, stage->cache);
}

static int check_reservation(const struct stage *stage, const struct arguments *args,
			     const struct reservation *now)
{
	uint64_t key = stage_key(stage->sb.uuid), other;

	if (option_given(args, OPTION_PREEMPT))
		return 0;
	if (reservation_other_key(now, key, &other))
		return refuse_other(stage, now, other);
	/* With a new --reserve the log asks for no reservation yet: there is none to lose. */
	if (stage_log_drained(&stage->sb) || !stage_is_reserved(&stage->sb))
		return 0;
	return now->held ? check_count(stage, now) : refuse_lost(stage);
}

/* Remove all other keys, one in each round. */
static int remove_others(const struct device *origin, u64 key)
{
	struct reservation now;
	unsigned int round;
	uint64_t other;

	for (round = 0; round < RESERVATION_KEYS; round++) {
		if (read_reservation(origin, &now) || !reservation_other_key(&now, key, &other) ||
		    reservation_preempt(origin, key, other))
			return fail_code();
	}
	return fail(CODE_BUSY, "origin '%s': other nodes register new keys again and again",
		    origin->path);
}

/*
 * This run has changed the count of keys.  If the start fails, the next open must not take that for a
 * change by another node.  A crash before the record does so: then --preempt is needed.
 */
static int record_count(struct stage *stage, u32 count)
{
	struct device log = DEVICE_CLOSED;

	if (!has_count(&stage->sb) || le32_to_cpu(stage->sb.closed_reservation) == count)
		return 0;
	if (!device_open_number(&log, stage->log.number, "log device") &&
	    !stage_log_record_reservation(&log, stage->sb.uuid, count))
		stage->sb.closed_reservation = cpu_to_le32(count);
	device_close(&log);
	return fail_code();
}

/* Reserve the origin, or do so again: after a reboot, or for a path that is new. */
static int take_reservation(struct stage *stage, const struct arguments *args)
{
	const struct device *origin = &stage->origin;
	u64 key = stage_key(stage->sb.uuid);
	struct reservation now;
	uint64_t other;

	if (reservation_register(origin, key) ||
	    (option_given(args, OPTION_PREEMPT) && remove_others(origin, key)) ||
	    read_reservation(origin, &now))
		return fail_code();
	if (!now.held && (reservation_take(origin, key) || read_reservation(origin, &now)))
		return fail_code();
	if (is_ours(&now, key))
		return record_count(stage, now.generation);
	return reservation_other_key(&now, key, &other) ? refuse_other(stage, &now, other) :
	       fail(CODE_DEVICE, "origin '%s' does not keep the reservation", origin->path);
}

/* Warn of a reservation that is not the stage's: it may keep this node from writing. */
static void warn_of_reserved(const struct stage *stage)
{
	struct reservation now;

	if (!reservation_read(&stage->origin, &now) || !now.held)
		return;
	if (now.key == stage_key(stage->sb.uuid))
		warn("origin '%s' is still reserved with the key 0x%016llx of this log: 'nearcache close %s --keep', then open it with --no-reserve, which releases the origin, or with --reserve",
		     stage->origin.path, (unsigned long long)now.key, stage->cache);
	else
		warn("origin '%s' is reserved with the key 0x%016llx, and this stage does not reserve it: if this node has not registered a key, no write reaches the origin",
		     stage->origin.path, (unsigned long long)now.key);
}

/*
 * Decide whether reads may get retained data from the log: the origin must have the same data still.
 * Only the operator can know this.  A reservation is no proof: a node may register a key, write, and
 * remove the key, and counters of keys begin again when the target restarts; nor does it keep out
 * other programs of this node, or a target that restores an older state of the volume.
 */
static void judge_retained(struct stage *stage, const struct arguments *args)
{
	const struct nearcache_stage_super *sb = &stage->sb;

	if (le64_to_cpu(sb->drained_number) < le64_to_cpu(sb->tail_number))
		return;
	stage->params.keep_retained = option_given(args, OPTION_EXCLUSIVE);
	stage->retained = stage->params.keep_retained ?
		"kept: --exclusive says that only this device writes to the origin" :
		"dropped: others may have written to the origin; with --exclusive you assert that only this device does";
}

/* Record in the log whether the stage reserves its origin. */
static int record_reserve(struct stage *stage, bool reserve)
{
	struct device log = DEVICE_CLOSED;

	if (stage_is_reserved(&stage->sb) == reserve)
		return 0;
	if (!device_open_number(&log, stage->log.number, "log device") &&
	    !stage_log_record_reserve(&log, stage->sb.uuid, reserve))
		stage->sb.flags ^= cpu_to_le32(NEARCACHE_STAGE_RESERVE);
	device_close(&log);
	return fail_code();
}

/*
 * Reserve the origin, then record this in the log if it is new.  If the record came first, an
 * interruption would leave a log whose reservation seems to be lost.
 */
static int begin_reserving(struct stage *stage, const struct arguments *args)
{
	struct reservation before;

	if (check_whole(&stage->origin) || read_reservation(&stage->origin, &before) ||
	    check_reservation(stage, args, &before))
		return fail_code();
	if (option_given(args, OPTION_DRY_RUN)) {
		stage->sb.flags |= cpu_to_le32(NEARCACHE_STAGE_RESERVE);
		return 0;
	}
	return take_reservation(stage, args) || record_reserve(stage, true) ? fail_code() : 0;
}

/* The origin has no reservations any more, or has not answered: then the reservation may be lost. */
static int check_unread(const struct stage *stage, const struct arguments *args)
{
	return stage_log_drained(&stage->sb) || option_given(args, OPTION_FORCE) ? 0 :
	       fail(CODE_DEVICE,
		    "the reservation of origin '%s' cannot be read, while the log '%s' holds writes that the origin lacks: repeat the command, or add --force if no other node has written to the origin",
		    stage->origin.path, stage->log.path);
}

/*
 * Record that the stage does not reserve its origin any more, then release the reservation; for the
 * order see begin_reserving().  The origin may have lost its support for reservations.  After an
 * interruption the next --no-reserve releases the reservation.
 */
static int end_reserving(struct stage *stage, const struct arguments *args)
{
	struct reservation before;

	if (stage_is_reserved(&stage->sb) &&
	    (reservation_read(&stage->origin, &before) ? check_reservation(stage, args, &before) :
							 check_unread(stage, args)))
		return fail_code();
	if (option_given(args, OPTION_DRY_RUN)) {
		stage->sb.flags &= ~cpu_to_le32(NEARCACHE_STAGE_RESERVE);
		return 0;
	}
	return record_reserve(stage, false) ||
	       reservation_release(&stage->origin, stage_key(stage->sb.uuid)) ? fail_code() : 0;
}

/*
 * Reserve the origin if the log or --reserve asks for it, and judge the retained data.  The device does
 * not exist yet, and the caller holds lock_all().  A dry run only checks.  If the start fails later,
 * the reservation stays for the next attempt.
 */
int stage_reserve(struct stage *stage, const struct arguments *args)
{
	bool ends = option_given(args, OPTION_NO_RESERVE);
	bool reserves = stage_is_reserved(&stage->sb) || option_given(args, OPTION_RESERVE);

	if (!reserves && option_given(args, OPTION_PREEMPT))
		return fail(CODE_USAGE,
			    "--preempt: the stage '%s' does not reserve its origin: leave it out, or give --reserve as well",
			    stage->name);
	if (ends ? end_reserving(stage, args) : reserves && begin_reserving(stage, args))
		return fail_code();
	if (ends ? !option_given(args, OPTION_DRY_RUN) : !reserves)
		warn_of_reserved(stage);
	judge_retained(stage, args);
	return 0;
}

/*
 * The generation counter of the keys of an origin that this node has reserved, for a later open; 0:
 * none.  @origin: may be closed, if it is gone.
 */
u32 stage_reservation(const struct nearcache_stage_super *sb, const struct device *origin)
{
	struct reservation now;

	return stage_is_reserved(sb) && origin->fd >= 0 && reservation_read(origin, &now) &&
	       is_ours(&now, stage_key(sb->uuid)) ? now.generation : 0;
}

static bool find_reserved(const struct nearcache_stage_super *sb, struct device *origin)
{
	dev_t number;

	if (identity_find((const char *)sb->origin_id, 0, &number) != 1)
		return false;
	device_open_number(origin, number, "origin");
	return origin->fd >= 0;
}

/*
 * Release the origin of a log that has no more writes for it.  @origin: found here if not open.  A
 * failure only causes a warning, as no data depends on it; an error that the caller has recorded stays.
 */
void stage_unreserve(const struct nearcache_stage_super *sb, const struct device *origin)
{
	enum exit_code before = fail_code();
	struct device found = DEVICE_CLOSED;

	/* An interruption may have left a key, and no record of it. */
	if (!stage_is_reserved(sb) && origin->fd < 0)
		return;
	if (origin->fd < 0 && find_reserved(sb, &found))
		origin = &found;
	if (origin->fd < 0 || reservation_release(origin, stage_key(sb->uuid)))
		warn("the origin '%s' stays reserved with the key 0x%016llx: give --preempt when its next stage is created or opened",
		     origin->fd < 0 ? (const char *)sb->origin_id : origin->path,
		     (unsigned long long)stage_key(sb->uuid));
	if (!before)
		fail_reset();
	device_close(&found);
}
