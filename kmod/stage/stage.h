/* SPDX-License-Identifier: GPL-2.0-only */
/* The structures of a stage device, and the functions of the folder's files. */
#ifndef NEARCACHE_STAGE_STAGE_H
#define NEARCACHE_STAGE_STAGE_H

#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/device-mapper.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/bio.h"
#include "dm/option.h"
#include "nearcache.h"
#include "nearcache_stage.h"
#include "stage/overlay.h"
#include "stage/ring.h"

struct dm_io_client;
struct dm_kcopyd_client;
struct nc_small_write;

#define DM_MSG_PREFIX "nearcache-stage"

/* Most writes to the log in flight; others wait.  The overlay map reserves two extents for each. */
#define NC_STAGE_WRITES_MAX	4096U
/* While nothing is to be drained, an epoch is committed at this length, in blocks: 8 MiB. */
#define NC_EPOCH_BLOCKS_IDLE	2048U
/* Copies to the origin in flight at most. */
#define NC_DRAIN_JOBS		64U
/* Descriptors that a commit writes at the same time. */
#define NC_COMMIT_BATCH		16U

/**
 * struct nc_stage_super - the superblock
 * @lock: serialises its writes
 * @block: content of the newest copy, from vmalloc()
 * @io: dm-io client, for superblocks, recovery and the fingerprint
 * @copy: the copy that was written last
 * @passing: when the copies were read, one had NEARCACHE_STAGE_PASSING, or was not intact
 *
 * @lock protects all fields but @io.
 */
struct nc_stage_super {
	struct mutex lock;	/* serialises writes of superblocks */
	struct nearcache_stage_super *block;
	struct dm_io_client *io;
	unsigned int copy;
	bool passing;
};

/**
 * struct nc_stage_commit_io - write of a descriptor
 * @bio: embedded, with @vec
 * @vec: of @bio
 * @page: the descriptor
 * @s: the stage
 */
struct nc_stage_commit_io {
	struct bio bio;
	struct bio_vec vec;
	struct page *page;
	struct nc_stage *s;
};

enum nc_commit_phase {
	NC_COMMIT_IDLE,
	NC_COMMIT_DATA,		/* the epoch is closed; its data may be in flight */
	NC_COMMIT_FLUSH,	/* a checked descriptor was written; a flush must follow */
	NC_COMMIT_BUSY,		/* a task takes a step, or a completion will take the next */
};

/**
 * struct nc_epoch_check - checksum of an epoch (checked.c)
 * @sum: as nearcache_stage_desc.data_checksum
 * @bytes: length of the epoch's data
 * @unchecked: the epoch needs an ordinary commit
 * @embedded: the bio of the epoch's only write carried the epoch's descriptor
 */
struct nc_epoch_check {
	u64 sum;
	u32 bytes;
	bool unchecked;
	bool embedded;
};

/**
 * struct nc_stage_commit - commits of epochs
 * @work: takes the steps of commits
 * @age: asks for the commit of an epoch that is old
 * @queue: of @work
 * @wait: for descriptors and commits
 * @phase: of the commit; stage.lock
 * @first: first descriptor of the epoch that is committed.  The task that takes a step owns this
 *	and the next ones up to @closed
 * @end: first descriptor of the next epoch
 * @check: checksum of the epoch that is committed
 * @checked: it gets a checked commit, or has an embedded descriptor
 * @volatile_log: the log has a volatile cache
 * @closed: time when that epoch was closed, ktime_get_ns()
 * @waiters: FLUSH and FUA bios that wait for a commit; stage.lock
 * @wanted: number of the newest epoch whose commit was requested; stage.lock
 * @io: writes of descriptors; owned by the task that takes a step
 * @pending: number of @io in flight; stage.lock
 * @failed: one of @io failed; stage.lock
 */
struct nc_stage_commit {
	struct work_struct work;
	struct delayed_work age;
	struct workqueue_struct *queue;
	wait_queue_head_t wait;
	enum nc_commit_phase phase;
	struct nc_cursor first;
	struct nc_cursor end;
	struct nc_epoch_check check;
	bool checked;
	bool volatile_log;
	u64 closed;
	struct bio_list waiters;
	u64 wanted;
	struct nc_stage_commit_io *io;
	u32 pending;
	bool failed;
};

/**
 * struct nc_drain_job - a copy of an extent to the origin
 * @s: the stage
 * @next: in nc_drain.free
 * @sector: first sector on the volume; stage.lock
 * @sectors: length of the copy; 0: the job is not in flight; stage.lock
 */
struct nc_drain_job {
	struct nc_stage *s;
	struct nc_drain_job *next;
	u64 sector;
	u32 sectors;
};

/**
 * struct nc_drain - the drain
 * @work: drains until all committed epochs are marked; the only user of @pieces, @joined, @alone,
 *	@ended, @since and @since_bytes
 * @queue: of @work
 * @kcopyd: copies from the log to the origin
 * @io: dm-io client, for discards and zeros
 * @zeros: zeros, from vmalloc()
 * @no_zeroes: the origin fails write-zeroes, but not writes of zeros
 * @pieces: newest versions within the epoch that is drained
 * @joined: the batch has more than one epoch
 * @alone: the last attempt failed: the next batch has one epoch
 * @ended: the write of a mark has failed: this table drains no more (D4)
 * @since: time of the last call of measure_copies(), ktime_get_ns()
 * @since_bytes: nc_stage_counters.drained_bytes at @since
 * @wait: for copies, for the time of the next copy, and for @stop
 * @jobs: memory of all jobs
 * @free: jobs that are not in flight; stage.lock
 * @in_flight: requests in flight: jobs, and requests that drain_work() waits for; stage.lock
 * @progress: time when the latest request ended, or began while none was in flight, ktime_get_ns();
 *	valid while @in_flight is not 0; stage.lock
 * @hangs: nc_stage.failing_since is set because no request ends; stage.lock
 * @stop: the drain must end soon, in the middle of a batch if need be
 * @log_error: a copy could not read the log; stage.lock
 * @origin_error: a copy could not write the origin; stage.lock
 * @copy_sectors: longest copy, in sectors
 * @next: time before which the rate allows no copy, ktime_get_ns()
 * @rate: nc_stage.rate for which @next was computed
 * @origin_now: for nearcache_stage_super.origin_now
 * @origin_next: the next nearcache_stage_super.origin_next
 * @block: one log block, from vmalloc(), for origin_print.c
 */
struct nc_drain {
	struct work_struct work;
	struct workqueue_struct *queue;
	struct dm_kcopyd_client *kcopyd;
	struct dm_io_client *io;
	void *zeros;
	bool no_zeroes;
	struct nc_overlay pieces;
	bool joined;
	bool alone;
	bool ended;
	u64 since;
	u64 since_bytes;
	wait_queue_head_t wait;
	struct nc_drain_job *jobs;
	struct nc_drain_job *free;
	u32 in_flight;
	u64 progress;
	bool hangs;
	bool stop;
	bool log_error;
	bool origin_error;
	u32 copy_sectors;
	u64 next;
	u64 rate;
	__le32 origin_now[NEARCACHE_STAGE_PRINT_SECTORS];
	__le32 origin_next[NEARCACHE_STAGE_PRINT_SECTORS];
	void *block;
};

/**
 * struct nc_pass - state of passed writes (pass.c); protected by stage.lock, except @work
 * @work: returns to the log, and raises the event of a new mode
 * @stopped: the stage is suspended: @work must not run
 * @begins: nc_stage.space will begin to pass writes; no write is appended until then
 * @flush_failed: the origin may have lost writes, and no writer has learned of it yet
 * @log_failed: the last return could not write the superblock
 * @reported: the mode of the last event
 * @discarded: blocks of the fingerprint that a passed discard touched, a bit for each
 * @writes: passed writes in flight
 * @flushes: passed FLUSHes in flight
 * @full: blocks by which the origin was behind when the log became full
 * @grant: blocks of writes that may still go to the log while the stage empties it
 * @window: begin of the present window (PASS_WINDOW), ktime_get_ns()
 * @busy_since: begin of the busy time that @busy does not contain yet, ktime_get_ns(); valid while
 *	@writes or @flushes is not 0
 * @busy: time in the present window with passed requests in flight, nanoseconds
 */
struct nc_pass {
	struct delayed_work work;
	bool stopped;
	bool begins;
	bool flush_failed;
	bool log_failed;
	enum nearcache_stage_mode reported;
	u32 discarded;
	u32 writes;
	u32 flushes;
	u64 full;
	u64 grant;
	u64 window;
	u64 busy_since;
	u64 busy;
};

/**
 * struct nc_stage_counters - fields of the status line; stage.lock
 */
struct nc_stage_counters {
	u64 written_bytes;
	u64 drained_bytes;
	u64 log_read_bytes;
	u64 commits;
	u64 retries;
	u64 passed_bytes;
};

/**
 * struct nc_stage - a table of the target nearcache-stage
 * @ti: the target in device-mapper
 * @log: log device
 * @origin: origin device
 * @claim: in the list of all stages (registry.c)
 * @queue: runs @room, @space, @retry, @watch and pass.work
 * @super: the superblock
 * @generation: generation of this start
 * @seed: start value of the checksum of descriptors
 * @started: recovery has ended; the ring is valid
 * @lost: a table of this device before this one has lost writes, so this one must not start;
 *	the mutex of registry.c
 * @used: a table of this device before this one has started; the mutex of registry.c
 * @needs_log: such a table had epochs that are not marked, in the log with the uuid @needed_log, so
 *	this one must use that log; the mutex of registry.c
 * @needed_log: see @needs_log
 * @lock: protects @ring, @waiting, @pushback, @failed, @writes, @open_since, @check, @count and
 *	the fields above that name stage.lock; taken in completions.  @lock and @map_lock do not
 *	nest
 * @ring: places and entries
 * @mode: where writes go; changed by pass.c only; @lock
 * @waiting: writes that wait for room
 * @waiting_count: number of these writes
 * @waited: when a write first had to wait since the last update of @full, jiffies; 0: none; @lock
 * @full: writes wait, as @watch has found; @lock
 * @report_lock: serialises reports of conditions; taken before @lock
 * @reported: conditions that netlink listeners know (status.c); @lock, once @started
 * @pushback: a suspend without flush: hand writes that must wait back to device-mapper
 * @failed: the log has failed, or was given up
 * @given_up: the user gave up the log: it gets no new request
 * @failing_since: ktime_get_ns() when the drain began to fail; 0: the origin works; @lock
 * @tried: the drain of this table has had a result, so that @failing_since is known; @lock
 * @read_only: the origin has failed for @origin_timeout: writes fail; @lock
 * @origin_error: the negative error of the origin while it fails; 0: none.  Written by the drain,
 *	read without a lock
 * @writes: writes to the log in flight, of epochs with even and odd number
 * @open_since: time of the first write of the open epoch, nanoseconds since 1970; 0: it is empty
 * @drained_time: nearcache_stage_super.drained_time; @lock
 * @check: checksum of the open epoch
 * @map_lock: protects @overlay and @phase; taken in completions
 * @overlay: sectors whose newest version is in the log
 * @mapped: @overlay has extents; changes only after a whole insertion or removal, and is read
 *	without a lock
 * @phase: index of the counter in @readers that new reads increment
 * @readers: reads of the log in flight
 * @no_readers: wait for the reads of the old phase
 * @room: appends waiting writes
 * @space: moves the tail
 * @retry: reads that failed on the log and that the origin can serve
 * @watch: sets and clears @full, and sees whether the drain hangs; once a second while writes wait,
 *	requests of the drain are in flight, or the origin fails
 * @commit: see struct nc_stage_commit
 * @drain: see struct nc_drain
 * @pass: see struct nc_pass
 * @rate: option; 0: no limit.  These options are read without a lock
 * @max_behind: option, bytes; 0: no limit
 * @max_behind_time: option, seconds; 0: no limit
 * @map_memory: option, bytes; constant
 * @origin_timeout: option, seconds: see @read_only; 0: writes never fail because of the origin
 * @keep_retained: option: after a start, reads still get marked data from the log; constant
 * @drop_unreadable: option: end the chain at a block that cannot be read; cleared by the start
 * @on_full: option: 1: writethrough; 0: wait
 * @count: see struct nc_stage_counters; @lock
 */
struct nc_stage {
	struct dm_target *ti;
	struct dm_dev *log;
	struct dm_dev *origin;
	struct list_head claim;
	struct workqueue_struct *queue;
	struct nc_stage_super super;
	u64 generation;
	u32 seed;
	bool started;
	bool lost;
	bool used;
	bool needs_log;
	u8 needed_log[16];

	spinlock_t lock;	/* see above */
	struct nc_ring ring;
	enum nearcache_stage_mode mode;
	struct bio_list waiting;
	u32 waiting_count;
	struct mutex report_lock;	/* serialises reports of conditions */
	u32 reported;
	unsigned long waited;
	bool full;
	bool pushback;
	bool failed;
	bool given_up;
	bool read_only;
	u64 failing_since;
	bool tried;
	int origin_error;
	u32 writes[2];
	u64 open_since;
	u64 drained_time;
	struct nc_epoch_check check;

	spinlock_t map_lock;	/* see above */
	struct nc_overlay overlay;
	bool mapped;
	unsigned int phase;
	atomic_t readers[2];
	wait_queue_head_t no_readers;

	struct work_struct room;
	struct work_struct space;
	struct nc_retry retry;
	struct delayed_work watch;
	struct nc_stage_commit commit;
	struct nc_drain drain;
	struct nc_pass pass;

	u64 rate;
	u64 max_behind;
	u32 max_behind_time;
	u64 map_memory;
	u32 origin_timeout;
	bool keep_retained;
	bool drop_unreadable;
	bool on_full;
	struct nc_stage_counters count;
};

/**
 * struct nc_stage_status - fields of the status line
 */
struct nc_stage_status {
#define NC_STATUS_FIELD(name) u64 name;
	NEARCACHE_STAGE_STATUS(NC_STATUS_FIELD)
#undef NC_STATUS_FIELD
};

/* Called with a stage, which is not freed meanwhile.  May sleep, must not do I/O. */
typedef int nc_stage_visit(struct nc_stage *s, void *arg);

enum nc_stage_io_kind {
	NC_STAGE_IO_PASSED,	/* needs nothing on completion */
	NC_STAGE_IO_LOG_READ,	/* a read of the log, counted in nc_stage.readers */
	NC_STAGE_IO_WRITE,	/* a write to the log */
	NC_STAGE_IO_WAITER,	/* a FLUSH or FUA write that waits for a commit */
	NC_STAGE_IO_PAST_LOG,	/* a passed request, counted in nc_stage.pass */
};

/**
 * struct nc_stage_io - per-bio data
 * @s: the stage
 * @kind: enum nc_stage_io_kind
 * @phase: of a read of the log
 * @fua: the write had FUA
 * @entry_kind: of a write, enum nearcache_stage_kind
 * @flags: bi_flags of a read at map, for nc_bio_restore()
 * @sectors: of a write; 0: a FLUSH
 * @sector: of a write, on the volume
 * @at: of a write or read of the log: struct nc_extent.at
 * @epoch: of a write; of a waiter, the epoch that it waits for
 * @iter: bi_iter of a read at map, for nc_bio_restore()
 * @end_io: of a passed discard: bi_end_io at map
 */
struct nc_stage_io {
	struct nc_stage *s;
	u8 kind;
	u8 phase;
	bool fua;
	u8 entry_kind;
	unsigned short flags;
	u32 sectors;
	u64 sector;
	u64 at;
	union {
		u64 epoch;
		struct bvec_iter iter;
		bio_end_io_t *end_io;
	};
};

/* Sector of the log device that has the data at @at (struct nc_extent.at). */
static inline sector_t nc_stage_log_sector(const struct nc_stage *s, u64 at)
{
	return (NEARCACHE_STAGE_RING_OFFSET >> SECTOR_SHIFT) + nc_ring_sector(&s->ring, at);
}

static inline dev_t nc_stage_dev(const struct nc_stage *s)
{
	return disk_devt(dm_disk(dm_table_get_md(s->ti->table)));
}

static inline const char *nc_stage_name(const struct nc_stage *s)
{
	return dm_device_name(dm_table_get_md(s->ti->table));
}

/* write.c */
int nc_stage_write_map(struct nc_stage *s, struct bio *bio);
int nc_stage_flush_map(struct nc_stage *s, struct bio *bio);
int nc_stage_write_end(struct nc_stage *s, struct bio *bio, blk_status_t *error);
void nc_stage_room_work(struct work_struct *work);
void nc_stage_push_back(struct nc_stage *s, bool on);
void nc_stage_fail(struct nc_stage *s, const char *what, int error);
void nc_stage_give_up(struct nc_stage *s);

/* checked.c */
struct nc_small_write *nc_small_write_copy(struct nc_stage *s, struct bio *bio);
void nc_small_write_free(struct nc_small_write *w);
void nc_small_write_count(struct nc_stage *s, struct nc_small_write *w, bool first, u64 place);
void nc_small_write_submit(struct nc_stage *s, struct nc_small_write *w,
			   const struct nc_stage_io *io);
int nc_checked_verify(struct nc_stage *s, const struct nearcache_stage_desc *desc, bool rewrite,
		      void *buffer);

/* read.c */
int nc_stage_read_map(struct nc_stage *s, struct bio *bio);
int nc_stage_read_end(struct nc_stage *s, struct bio *bio, blk_status_t *error);
void nc_stage_retry_work(struct work_struct *work);
void nc_stage_wait_readers(struct nc_stage *s);

/* commit.c */
int nc_stage_commit_init(struct nc_stage *s);
void nc_stage_commit_destroy(struct nc_stage *s);
void nc_stage_commit_want(struct nc_stage *s, u64 epoch);
void nc_stage_fail_waiters(struct nc_stage *s);
void nc_stage_commit_now(struct nc_stage *s);
int nc_stage_commit_sync(struct nc_stage *s, u64 *epoch);
void nc_stage_commit_wait_idle(struct nc_stage *s);
void nc_stage_commit_started(struct nc_stage *s);
bool nc_stage_commit_rewrite(struct nc_stage *s, const struct nearcache_stage_desc *desc,
			     u64 place);

/* super.c */
int nc_stage_super_init(struct nc_stage *s);
void nc_stage_super_destroy(struct nc_stage *s);
int nc_stage_super_read(struct nc_stage *s, char **error);
int nc_stage_super_rewrite(struct nc_stage *s);
int nc_stage_super_start(struct nc_stage *s, u64 number);
int nc_stage_super_expect(struct nc_stage *s, const __le32 *now, const __le32 *next);
int nc_stage_super_mark(struct nc_stage *s, u64 number, u64 epoch, u64 time, bool both);
int nc_stage_super_move_tail(struct nc_stage *s, const struct nc_cursor *tail, bool passing);

/* recover.c */
int nc_stage_recover(struct nc_stage *s);
u32 nc_stage_seed(const struct nearcache_stage_super *sb);
__le32 nc_stage_desc_checksum(u32 seed, struct nearcache_stage_desc *desc);

/* origin_print.c */
int nc_origin_print_expect(struct nc_stage *s);
u32 nc_origin_print_blocks(const struct nc_stage *s, u64 sector, u32 sectors);
int nc_origin_print_take(struct nc_stage *s, u32 unknown);
int nc_origin_print_check(struct nc_stage *s, bool *changed);

/* origin_error.c */
void nc_origin_error_find(struct nc_stage *s);

/* space.c */
void nc_space_work(struct work_struct *work);
void nc_space_check(struct nc_stage *s);

/* pass.c */
void nc_pass_init(struct nc_stage *s);
void nc_pass_start(struct nc_stage *s);
void nc_pass_stop(struct nc_stage *s);
void nc_pass_option(struct nc_stage *s);
void nc_pass_consider(struct nc_stage *s, bool too_far);
bool nc_pass_admits(const struct nc_stage *s, const struct nc_stage_io *io);
void nc_pass_admitted(struct nc_stage *s, const struct nc_stage_io *io);
void nc_pass_marked(struct nc_stage *s, u64 blocks);
void nc_pass_begin(struct nc_stage *s);
void nc_pass_write(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io);
void nc_pass_flush(struct nc_stage *s, struct bio *bio, struct nc_stage_io *io);
bool nc_pass_fails_flush(struct nc_stage *s);
void nc_pass_inherit(struct nc_stage *s, struct nc_stage *other);
void nc_pass_end(struct nc_stage *s, const struct nc_stage_io *io, blk_status_t error);
int nc_pass_sync(struct nc_stage *s);

/* drain.c */
int nc_drain_init(struct nc_stage *s);
void nc_drain_destroy(struct nc_stage *s);
void nc_drain_start(struct nc_stage *s);
void nc_drain_stop(struct nc_stage *s);
void nc_drain_kick(struct nc_stage *s);

/* drain_watch.c */
void nc_drain_check_timeout(struct nc_stage *s);
void nc_drain_watch_work(struct work_struct *work);
void nc_drain_look(struct nc_stage *s);
void nc_drain_set_retrying(struct nc_stage *s, bool on);

/* registry.c */
int nc_stage_claim(struct nc_stage *s);
int nc_stage_check_predecessor(struct nc_stage *s);
void nc_stage_unclaim(struct nc_stage *s);
void nc_stage_inherit(struct nc_stage *s);
void nc_stage_started(struct nc_stage *s);
bool nc_stages_exist(void);
int nc_stages_each(dev_t after, nc_stage_visit *visit, void *arg);

/* table_line.c */
extern const struct nc_option nc_stage_options[];
extern const u32 nc_stage_options_count;
int nc_stage_parse(struct nc_stage *s, unsigned int argc, char **argv);
int nc_stage_message(struct nc_stage *s, unsigned int argc, char **argv, char *result,
		     unsigned int maxlen);
void nc_stage_print(struct nc_stage *s, char *result, size_t room);

/* status.c */
void nc_stage_event(struct nc_stage *s);
void nc_stage_report(struct nc_stage *s);
void nc_stage_waits(struct nc_stage *s);
bool nc_stage_look_full(struct nc_stage *s);
void nc_stage_watch_stop(struct nc_stage *s);
void nc_stage_status_read(struct nc_stage *s, struct nc_stage_status *st);
void nc_stage_status(struct nc_stage *s, char *result, size_t room);

#endif /* NEARCACHE_STAGE_STAGE_H */
