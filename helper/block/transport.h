/* SPDX-License-Identifier: GPL-2.0-only */
/* How a block device is connected to this machine, from sysfs. */
#ifndef HELPER_BLOCK_TRANSPORT_H
#define HELPER_BLOCK_TRANSPORT_H

#include <sys/types.h>

/* Size of the word for a transport with NUL. */
#define TRANSPORT_WORD	24

/**
 * enum transport - the place of the drives below a device
 * @TRANSPORT_UNKNOWN: not known, as for the disks of virtual machines
 * @TRANSPORT_LOCAL: all of them are in this machine
 * @TRANSPORT_NETWORK: one of them is behind a network
 */
enum transport {
	TRANSPORT_UNKNOWN,
	TRANSPORT_LOCAL,
	TRANSPORT_NETWORK,
};

enum transport transport_of_disk(const char *folder, char *word);
enum transport transport_of(dev_t number, char *word);

#endif /* HELPER_BLOCK_TRANSPORT_H */
