/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TARGETs of a verb, "NAME [TARGET...]": ranges of the device, files, directories,
 * patterns of names, or a list of them.
 *
 * A verb that takes them has TARGET_OPTIONS among its options and TARGET_HELP in its
 * help; it calls target_check_words() before it touches anything, then
 * target_resolve().
 */
#ifndef HELPER_FILES_OPERAND_H
#define HELPER_FILES_OPERAND_H

#include "cli/options.h"
#include "block/dm.h"
#include "files/range_set.h"

/* What a verb with TARGETs takes beside its own. */
#define TARGET_OPTIONS	(OPTION_FROM | OPTION_SAMPLES | OPTION_INDEX_ONLY | \
			 OPTION_SHARD_FORMAT)

/* Of a verb without --samples and --index-only. */
#define TARGET_HELP_WHOLE \
"TARGETs are files on the device, directories of them, patterns ('/data/*.tar'), or\n" \
"ranges of the device: START-END, START+LENGTH or START:LENGTH, multiples of 512,\n" \
"like 1G-2G; a file of such a name is written ./1-2. --from FILE reads more of\n" \
"them, one on each line or with NUL between; - is standard input. A file is\n" \
"refused if some of it has no place of its own on the device: holes, inline,\n" \
"unwritten or compressed data. Partitions, loop devices, and LVM or other linear\n" \
"device-mapper tables between file system and device are seen through, RAID and\n" \
"encryption are not.\n"

#define TARGET_HELP TARGET_HELP_WHOLE \
"\n" \
"--samples and --index-only mean only that part of each shard, see 'index --help';\n" \
"samples are taken with the index.\n"

bool target_given(const struct arguments *args);
int target_check_words(const struct arguments *args, bool needed);
int target_resolve(const struct arguments *args, const struct dm_device *dev,
		   struct shards *shards);

#endif /* HELPER_FILES_OPERAND_H */
