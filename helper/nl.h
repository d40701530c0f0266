/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel module's generic netlink family.  nl.c is the only user of libnl. */
#ifndef HELPER_NL_H
#define HELPER_NL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "range.h"

/**
 * struct nl_run - bytes of a device that are cached alike
 * @start: first byte
 * @length: bytes
 * @cached: are they?
 */
struct nl_run {
	uint64_t start;
	uint64_t length;
	bool cached;
};

int nl_residency(dev_t number, const struct range *range,
		 void (*visit)(const struct nl_run *run, void *arg), void *arg);

#endif /* HELPER_NL_H */
