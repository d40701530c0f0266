/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hides differences between kernels (tested: 6.1 to 7.3).  Kbuild defines NC_HAVE_* by a probe of
 * the kernel's headers, not by version: distributions backport.  Only this file may use NC_HAVE_*.
 */
#ifndef NEARCACHE_CORE_COMPAT_H
#define NEARCACHE_CORE_COMPAT_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/dm-io.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>

/* Hits read 64-bit valid bitmaps without a lock, and every page needs a kernel address. */
#ifndef CONFIG_64BIT
#error "nearcache needs a 64-bit kernel"
#endif

/* blk_mode_t exists since 6.5; drop the #else branch together with support for 6.1 - 6.4. */
#ifdef NC_HAVE_BLK_MODE_T
#define NC_MODE_READ	BLK_OPEN_READ
#define NC_MODE_WRITE	BLK_OPEN_WRITE
#else
#define NC_MODE_READ	FMODE_READ
#define NC_MODE_WRITE	FMODE_WRITE
#endif

/*
 * dm_io() takes an I/O priority since 6.8, and in 6.1 stable kernels. Since 7.1 it also takes the
 * address of a bitmap of regions whose device does not support the operation; they are errors here.
 */
static inline int nc_dm_io(struct dm_io_request *request,
			   struct dm_io_region *region)
{
#if defined(NC_HAVE_DM_IO_UNSUP_BITS)
	unsigned long unsupported = 0;
	int r = dm_io(request, 1, region, NULL, request->notify.fn ? NULL : &unsupported, 0);

	return r ?: unsupported ? -EOPNOTSUPP : 0;
#elif defined(NC_HAVE_DM_IO_IOPRIO)
	return dm_io(request, 1, region, NULL, 0);
#else
	return dm_io(request, 1, region, NULL);
#endif
}

/* The result that dm_io() passes to the function it calls at the end of a request, as parameters,
 * and whether it is a failure. Since 7.1 it has a bitmap of regions as above.
 */
#ifdef NC_HAVE_DM_IO_UNSUP_BITS
#define NC_DM_IO_RESULT		unsigned long error, unsigned long unsupported
#define NC_DM_IO_FAILED		(error | unsupported)
#else
#define NC_DM_IO_RESULT		unsigned long error
#define NC_DM_IO_FAILED		error
#endif

/* Bios carry a write hint since 6.9; earlier kernels have none to copy. */
static inline void nc_copy_write_hint(struct bio *to, const struct bio *from)
{
#ifdef NC_HAVE_BI_WRITE_HINT
	to->bi_write_hint = from->bi_write_hint;
#endif
}

/* __assign_str() lost its source argument in 6.10. */
#ifdef NC_HAVE_ASSIGN_STR_1
#define nc_assign_node()	__assign_str(node)
#define nc_assign_reason()	__assign_str(reason)
#else
#define nc_assign_node()	__assign_str(node, node)
#define nc_assign_reason()	__assign_str(reason, reason)
#endif

/* The attributes of a dump request moved into struct genl_info in 6.7. */
#ifdef NC_HAVE_GENL_INFO_DUMP
#define nc_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#else
#define nc_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

/* Before 6.13, kthread_create_worker() also wakes the worker, as kthread_run_worker() does now. */
#ifndef NC_HAVE_KTHREAD_RUN_WORKER
#define kthread_run_worker(flags, ...)	kthread_create_worker(flags, __VA_ARGS__)
#endif

/* Kernels before 6.13 have no hrtimer_setup(). */
#ifndef NC_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*run)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = run;
}
#endif

/* Workqueue whose items run in softirq context; NULL before 6.9.  A tasklet is no substitute: the
 * kernel accesses its struct after its function returns, when that function may have freed it.
 */
#ifdef NC_HAVE_BH_WORK
#define nc_bh_wq	system_bh_wq
#else
#define nc_bh_wq	((struct workqueue_struct *)NULL)
#endif

/* Flag of a workqueue bound to processors: required since 7.2, before that unknown or ignored. */
#ifdef NC_HAVE_WQ_PERCPU
#define NC_WQ_PERCPU	WQ_PERCPU
#else
#define NC_WQ_PERCPU	0
#endif

/* The new name of system_unbound_wq.  A kernel that has both may log a use of the old one. */
#ifdef NC_HAVE_SYSTEM_DFL_WQ
#define nc_unbound_wq	system_dfl_wq
#else
#define nc_unbound_wq	system_unbound_wq
#endif

#endif /* NEARCACHE_CORE_COMPAT_H */
