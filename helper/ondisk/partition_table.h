/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads partition tables of all kinds that libblkid knows (GPT, MBR and others). */
#ifndef HELPER_ONDISK_PARTITION_TABLE_H
#define HELPER_ONDISK_PARTITION_TABLE_H

#include <stdbool.h>

#include "block/device.h"

/* Partitions beyond this number are only counted; a GPT has 128. */
#define PARTITIONS_MAX	256

/**
 * struct partition - an entry of a partition table
 * @number: number of the partition, from 1
 * @start: bytes from the start of the volume that has the table
 * @size: bytes
 * @type: its type as in the table: a number, or a UUID; "" if unknown
 * @id: its UUID; "" if it has none
 * @container: it only holds logical partitions, which are entries of their own
 */
struct partition {
	unsigned int number;
	uint64_t start;
	uint64_t size;
	char type[40];
	char id[40];
	bool container;
};

/**
 * struct partition_table - a partition table
 * @kind: "gpt", "dos" ...; "" if there is none
 * @partitions: entries of @partition
 * @partition: the partitions, in the order of libblkid
 * @more: number of further partitions
 */
struct partition_table {
	char kind[16];
	unsigned int partitions;
	struct partition partition[PARTITIONS_MAX];
	unsigned int more;
};

bool partition_table_mixed(int fd, uint64_t offset, uint64_t size);
int partition_table_open(const struct device *dev);
int partition_table_read(const struct device *dev, int fd, uint64_t offset, uint64_t size,
			 struct partition_table *table);

#endif /* HELPER_ONDISK_PARTITION_TABLE_H */
