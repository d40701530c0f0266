/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces the part of the kernel's interface that the recovery of a stage uses, for fuzz_stage.c.
 * There is one thread.  Bios are never sent.
 */
#ifndef NEARCACHE_FUZZ_STAGE_KERNEL_H
#define NEARCACHE_FUZZ_STAGE_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/vmalloc.h>
#include <stdlib.h>
#include <string.h>
#include <asm/byteorder.h>

/* In place of linux/spinlock.h, core/bio.h and core/compat.h. */
#define UNIT_LINUX_SPINLOCK_H
#define NEARCACHE_CORE_BIO_H
#define NEARCACHE_CORE_COMPAT_H

typedef u64 sector_t;
typedef u32 blk_opf_t;
typedef u8 blk_status_t;

#define SECTOR_SHIFT		9
#define SECTOR_SIZE		512
#define HZ			250
#define NSEC_PER_MSEC		1000000L
#define GFP_NOWAIT		0
#define likely(x)		(x)
#define fallthrough		__attribute__((fallthrough))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof(*(a)))
#define container_of(p, type, m)	((type *)((char *)(p) - offsetof(type, m)))
#define round_up(n, to)		(((n) + (to) - 1) / (to) * (to))
#define vzalloc(bytes)		calloc(1, bytes)
#define kmalloc(bytes, gfp)	malloc(bytes)
#define cond_resched()		((void)0)
#define memalloc_noio_save()	0U
#define memalloc_noio_restore(flags)	((void)(flags))
/* The flush of passed writes. */
#define blkdev_issue_flush(bdev)	((void)(bdev), 0)
#define WARN_ON_ONCE(x)		({ if (x) abort(); 0; })
#define IS_ERR(p)		((unsigned long)(p) >= -4095UL)
#define cpu_to_le32		__cpu_to_le32
#define cpu_to_le64		__cpu_to_le64
#define le64_add_cpu(p, n)	(*(p) = cpu_to_le64(le64_to_cpu(*(p)) + (n)))

typedef struct mutex spinlock_t;

#define spin_lock_irq		mutex_lock
#define spin_unlock_irq		mutex_unlock

typedef struct {
	int counter;
} atomic_t, wait_queue_head_t;

struct work_struct {
	int unused;
};

struct delayed_work {
	int unused;
};

struct workqueue_struct;
struct page;

struct nc_retry {
	int unused;
};

struct bio_vec {
	u32 bv_len;
};

struct bvec_iter {
	sector_t bi_sector;
	u32 bi_size;
};

struct bio;
typedef void (bio_end_io_t)(struct bio *bio);

struct bio {
	blk_opf_t bi_opf;
	u16 bi_ioprio;
	blk_status_t bi_status;
	struct bvec_iter bi_iter;
	void (*bi_end_io)(struct bio *bio);
};

struct bio_list {
	struct bio *head;
};

#define bio_for_each_segment(bv, bio, iter) \
	for ((bv).bv_len = 0, (iter) = (bio)->bi_iter; (iter).bi_size; abort())
#define memcpy_from_bvec(to, bv)	memset(to, 0, (bv)->bv_len)
#define bio_init(bio, bdev, vec, n, opf)	((bio)->bi_opf = (opf))
#define bio_uninit(bio)			((void)(bio))
#define bio_endio(bio)			((void)(bio))
#define bio_clone_blkg_association(a, b)	((void)(a))
#define submit_bio_noacct(bio)		abort()
#define alloc_page(gfp)			((struct page *)malloc(4096))
#define __free_page(page)		free(page)
#define page_address(page)		((void *)(page))
#define ktime_get_real_ns()		0ULL
#define ktime_get_ns()			0ULL
#define virt_to_page(p)			((struct page *)(p))
#define offset_in_page(p)		0
#define __bio_add_page(bio, page, bytes, offset)	((void)(page))

enum { REQ_OP_READ = 0, REQ_OP_WRITE = 1, REQ_META = 2, REQ_SYNC = 4, REQ_PREFLUSH = 8,
       REQ_FUA = 16, REQ_PRIO = 32, REQ_BACKGROUND = 64 };

struct block_device {
	u64 bytes;
};

#define bdev_nr_bytes(b)	((b)->bytes)
#define bdev_write_cache(b)	((void)(b), true)
#define bdev_logical_block_size(b)	((void)(b), 512U)
#define BIT(n)			(1UL << (n))
#define GENMASK(high, low)	(~0UL >> (63 - (high)) & ~0UL << (low))
#define __ffs(x)		__builtin_ctzl(x)

struct dm_dev {
	struct block_device *bdev;
	char name[16];
};

struct dm_target {
	void *table;
	sector_t len;
	char *error;
};

#define dm_table_get_md(t)	(t)
#define dm_disk(m)		(m)
#define disk_devt(d)		((void)(d), (dev_t)0)
#define dm_device_name(md)	((void)(md), "253:0")

#include "dm_io.h"

#define dm_io_client_create()	((struct dm_io_client *)malloc(sizeof(struct dm_io_client)))
#define dm_io_client_destroy	free
int nc_dm_io(struct dm_io_request *request, struct dm_io_region *region);
u32 crc32c(u32 crc, const void *data, size_t bytes);

/* Counts the messages of the module. */
void fuzz_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define DMERR		fuzz_log
#define DMWARN		fuzz_log
#define DMINFO		fuzz_log

#endif /* NEARCACHE_FUZZ_STAGE_KERNEL_H */
