// SPDX-License-Identifier: GPL-2.0-only
/* The superblock of the log: read, checked and written, copies in turn (rule S2 of stage.md). */
#include <linux/crc32c.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "stage/stage.h"

static const u64 stage_super_offset[2] = {
	NEARCACHE_STAGE_SUPER_OFFSET_0, NEARCACHE_STAGE_SUPER_OFFSET_1,
};

static_assert(sizeof(struct nearcache_stage_super) == NEARCACHE_STAGE_SUPER_SIZE);

/* May sleep.  Return: 0 or -ENOMEM; in both cases the caller must call nc_stage_super_destroy(). */
int nc_stage_super_init(struct nc_stage *s)
{
	mutex_init(&s->super.lock);
	s->super.block = vmalloc(2 * NEARCACHE_STAGE_SUPER_SIZE);
	s->super.io = dm_io_client_create();
	if (IS_ERR(s->super.io))
		s->super.io = NULL;
	return s->super.block && s->super.io ? 0 : -ENOMEM;
}

void nc_stage_super_destroy(struct nc_stage *s)
{
	if (s->super.io)
		dm_io_client_destroy(s->super.io);
	vfree(s->super.block);
}

static int super_copy_io(struct nc_stage *s, blk_opf_t opf, unsigned int copy,
			 struct nearcache_stage_super *block)
{
	struct dm_io_region region = {
		.bdev = s->log->bdev,
		.sector = stage_super_offset[copy] >> SECTOR_SHIFT,
		.count = NEARCACHE_STAGE_SUPER_SIZE >> SECTOR_SHIFT,
	};
	struct dm_io_request request = {
		.bi_opf = opf | REQ_SYNC | REQ_META,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = block,
		.client = s->super.io,
	};

	return nc_dm_io(&request, &region);
}

static __le32 super_checksum(struct nearcache_stage_super *sb)
{
	__le32 stored = sb->checksum;
	u32 sum;

	sb->checksum = 0;
	sum = ~crc32c(~0U, sb, sizeof(*sb));
	sb->checksum = stored;
	return cpu_to_le32(sum);
}

/* Is a copy intact, and of a form that this code knows? */
static bool super_copy_intact(struct nc_stage *s, struct nearcache_stage_super *sb)
{
	u64 blocks = le64_to_cpu(sb->ring_blocks);
	u64 numbers[] = {
		le64_to_cpu(sb->sequence), le64_to_cpu(sb->generation), le64_to_cpu(sb->tail),
		le64_to_cpu(sb->tail_number), le64_to_cpu(sb->tail_epoch),
		le64_to_cpu(sb->drained_number), le64_to_cpu(sb->drained_epoch),
		le64_to_cpu(sb->start_number), le64_to_cpu(sb->committed_number),
	};
	u32 i;

	if (memcmp(sb->magic, NEARCACHE_STAGE_MAGIC, sizeof(sb->magic)) ||
	    le32_to_cpu(sb->version) != NEARCACHE_STAGE_VERSION ||
	    sb->checksum != super_checksum(sb))
		return false;
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i] > NEARCACHE_STAGE_NUMBER_MAX)
			return false;
	return blocks >= NEARCACHE_STAGE_BLOCKS_MIN && blocks <= NEARCACHE_STAGE_BLOCKS_MAX &&
	       sb->tail_number && sb->tail_epoch &&
	       le64_to_cpu(sb->drained_number) + 1 >= le64_to_cpu(sb->tail_number) &&
	       le64_to_cpu(sb->drained_epoch) + 1 >= le64_to_cpu(sb->tail_epoch) &&
	       le64_to_cpu(sb->volume_sectors) <= LLONG_MAX >> SECTOR_SHIFT;
}

/**
 * nc_stage_super_read() - read both copies, and take the newer intact one
 * @s: stage with a log device
 * @error: set on failure
 *
 * Context: may sleep.
 * Return: 0, -EIO: a copy cannot be read and the other one is not intact; -EINVAL: no intact copy,
 * or the ring does not fit on the device.
 */
int nc_stage_super_read(struct nc_stage *s, char **error)
{
	struct nearcache_stage_super *copies = s->super.block;
	bool intact[2];
	int r[2];
	u32 i;

	s->super.passing = false;
	for (i = 0; i < 2; i++) {
		r[i] = super_copy_io(s, REQ_OP_READ, i, &copies[i]);
		intact[i] = !r[i] && super_copy_intact(s, &copies[i]);
		s->super.passing |= !intact[i] ||
				    copies[i].flags & cpu_to_le32(NEARCACHE_STAGE_PASSING);
	}
	if (!intact[0] && !intact[1]) {
		*error = r[0] || r[1] ? "Cannot read the log's superblock" :
					"No log of nearcache-stage, or a log of another version";
		return r[0] || r[1] ? -EIO : -EINVAL;
	}
	i = !intact[0] || (intact[1] && le64_to_cpu(copies[1].sequence) >
				       le64_to_cpu(copies[0].sequence));
	s->super.copy = i;
	if (i)
		copies[0] = copies[1];
	if (bdev_nr_bytes(s->log->bdev) < NEARCACHE_STAGE_RING_OFFSET ||
	    le64_to_cpu(copies->ring_blocks) > (bdev_nr_bytes(s->log->bdev) -
			NEARCACHE_STAGE_RING_OFFSET) / NEARCACHE_STAGE_BLOCK) {
		*error = "Log device is smaller than its superblock says";
		return -EINVAL;
	}
	return 0;
}

/* Write the other copy.  Context: @s->super.lock. */
static int put_super_copy(struct nc_stage *s)
{
	struct nearcache_stage_super *sb = s->super.block;
	unsigned int copy = !s->super.copy;
	int r;

	/* The log may hang. */
	if (READ_ONCE(s->given_up))
		return -EIO;
	spin_lock_irq(&s->lock);
	sb->committed_number = cpu_to_le64(s->ring.committed.number - 1);
	spin_unlock_irq(&s->lock);
	le64_add_cpu(&sb->sequence, 1);
	sb->checksum = super_checksum(sb);
	r = super_copy_io(s, REQ_OP_WRITE | REQ_FUA, copy, sb);
	if (r)
		return r;
	s->super.copy = copy;
	return 0;
}

/* Write the copy that recovery took once more, unchanged: the drives of a mirror below the log may
 * differ in it, and the other copy may be torn.  May sleep.
 */
int nc_stage_super_rewrite(struct nc_stage *s)
{
	int r;

	mutex_lock(&s->super.lock);
	r = super_copy_io(s, REQ_OP_WRITE | REQ_FUA, s->super.copy, s->super.block);
	mutex_unlock(&s->super.lock);
	return r;
}

/* Write both copies with a new generation, whose first descriptor has @number, and with the volume
 * size of the table.  May sleep.
 */
int nc_stage_super_start(struct nc_stage *s, u64 number)
{
	struct nearcache_stage_super *sb = s->super.block;
	int r;

	mutex_lock(&s->super.lock);
	s->generation = le64_to_cpu(sb->generation) + 1;
	sb->generation = cpu_to_le64(s->generation);
	sb->start_number = cpu_to_le64(number);
	sb->volume_sectors = cpu_to_le64(s->ti->len);
	sb->flags &= ~cpu_to_le32(NEARCACHE_STAGE_PASSING);
	r = put_super_copy(s) ?: put_super_copy(s);
	mutex_unlock(&s->super.lock);
	return r;
}

/* Write two fingerprints of the origin to both copies: @now, as of the newest mark, and @next, as
 * of the end of the epoch that is to be drained.  No write is passed any more.  May sleep.
 * Return: 0 or the error of the log.
 */
int nc_stage_super_expect(struct nc_stage *s, const __le32 *now, const __le32 *next)
{
	struct nearcache_stage_super *sb = s->super.block;
	int r;

	mutex_lock(&s->super.lock);
	memcpy(sb->origin_now, now, sizeof(sb->origin_now));
	memcpy(sb->origin_next, next, sizeof(sb->origin_next));
	sb->flags &= ~cpu_to_le32(NEARCACHE_STAGE_PASSING);
	r = put_super_copy(s) ?: put_super_copy(s);
	mutex_unlock(&s->super.lock);
	return r;
}

/* Mark all epochs up to @epoch, which are durable on the origin, in one copy, or in @both.  May
 * sleep.  Return: 0 or the error of the log; then a copy may have the mark nevertheless.
 */
int nc_stage_super_mark(struct nc_stage *s, u64 number, u64 epoch, u64 time, bool both)
{
	struct nearcache_stage_super *sb = s->super.block;
	int r;

	mutex_lock(&s->super.lock);
	sb->drained_number = cpu_to_le64(number);
	sb->drained_epoch = cpu_to_le64(epoch);
	sb->drained_time = cpu_to_le64(time);
	memcpy(sb->origin_now, sb->origin_next, sizeof(sb->origin_now));
	r = put_super_copy(s);
	if (!r && both)
		r = put_super_copy(s);
	mutex_unlock(&s->super.lock);
	return r;
}

/* Record a new tail in both copies.  @passing: also record that writes will be passed, so that the
 * fingerprint of the origin is not known.  May sleep.  Return: 0 or the error of the log.
 */
int nc_stage_super_move_tail(struct nc_stage *s, const struct nc_cursor *tail, bool passing)
{
	struct nearcache_stage_super *sb = s->super.block;
	int r;

	mutex_lock(&s->super.lock);
	sb->tail = cpu_to_le64(tail->place);
	sb->tail_number = cpu_to_le64(tail->number);
	sb->tail_epoch = cpu_to_le64(tail->epoch);
	if (passing) {
		sb->flags |= cpu_to_le32(NEARCACHE_STAGE_PASSING);
		memset(sb->origin_now, 0, sizeof(sb->origin_now));
		memset(sb->origin_next, 0, sizeof(sb->origin_next));
	}
	r = put_super_copy(s) ?: put_super_copy(s);
	mutex_unlock(&s->super.lock);
	return r;
}
