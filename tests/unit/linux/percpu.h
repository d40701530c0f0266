/* SPDX-License-Identifier: GPL-2.0-only */
/* Simulated processors.  Wherever another processor may run in between, the macros call
 * unit_elsewhere(), and the test runs another task there.
 */
#ifndef UNIT_LINUX_PERCPU_H
#define UNIT_LINUX_PERCPU_H

#include <linux/compiler.h>
#include <linux/slab.h>

#define UNIT_CPUS	3

extern int unit_cpu;
void unit_elsewhere(void);

#define __percpu
#define __aligned(bytes)
#define alloc_percpu(type)	((type *)kvcalloc(UNIT_CPUS, sizeof(type), GFP_KERNEL))
#define free_percpu		free
#define per_cpu_ptr(counts, cpu)	(unit_elsewhere(), &(counts)[cpu])
/* @counter is in a struct nc_hit_counts: each processor has one. */
#define this_cpu_inc(counter) \
	(unit_elsewhere(), (void)(++*(__typeof__(counter) *)((char *)&(counter) + \
					unit_cpu * sizeof(struct nc_hit_counts))))

#define smp_mb()		unit_elsewhere()
#define WARN_ON(what)		((what) ? (abort(), 1) : 0)

#endif /* UNIT_LINUX_PERCPU_H */
