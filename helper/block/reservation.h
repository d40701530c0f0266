/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Persistent reservations of a block device, as SCSI and NVMe have them.  A node registers a key, and
 * a node that has registered one may reserve the device: then only nodes with a key can write to it.
 * Registrations and reservations survive a reboot of the node, and of a device that stores them.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_BLOCK_RESERVATION_H
#define HELPER_BLOCK_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/device.h"

/* Highest number of keys to read. */
#define RESERVATION_KEYS	64U

/**
 * struct reservation - the keys that are registered with a device, and its reservation
 * @generation: counts the registrations and removals of keys, by any node
 * @held: the device is reserved
 * @shared: each node with a key may write; all others may only read
 * @key: if @held, the key of the node that has reserved the device; 0: all nodes with a key have
 * @keys: number of registrations: a node has one for each of its paths
 * @registered: keys of the first RESERVATION_KEYS registrations
 */
struct reservation {
	uint32_t generation;
	bool held;
	bool shared;
	uint64_t key;
	size_t keys;
	uint64_t registered[RESERVATION_KEYS];
};

bool reservation_read(const struct device *dev, struct reservation *now);
bool reservation_has_key(const struct reservation *now, uint64_t key);
bool reservation_other_key(const struct reservation *now, uint64_t key, uint64_t *other);
int reservation_register(const struct device *dev, uint64_t key);
int reservation_preempt(const struct device *dev, uint64_t key, uint64_t other);
int reservation_take(const struct device *dev, uint64_t key);
int reservation_release(const struct device *dev, uint64_t key);

#endif /* HELPER_BLOCK_RESERVATION_H */
