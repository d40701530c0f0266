/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_CPUMASK_H
#define UNIT_LINUX_CPUMASK_H

#include <linux/percpu.h>

#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < UNIT_CPUS; cpu++)

#endif /* UNIT_LINUX_CPUMASK_H */
