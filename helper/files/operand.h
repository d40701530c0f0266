/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TARGETs of a verb, "NAME [TARGET...]": ranges of the device, files, directories, patterns of
 * names, or a list of them.
 *
 * A verb with TARGETs has TARGET_OPTIONS among its options and TARGET_HELP in its help. It
 * calls target_check_words() before it changes anything, then target_resolve(). Both return 0,
 * or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_OPERAND_H
#define HELPER_FILES_OPERAND_H

#include "cli/options.h"
#include "block/dm.h"
#include "files/shard_ranges.h"

/* Options that a verb with TARGETs adds to its own. */
#define TARGET_OPTIONS	(OPTION_FROM | OPTION_SAMPLES | OPTION_INDEX_ONLY | \
			 OPTION_SHARD_FORMAT | OPTION_CONCATENATED)

/* The TARGET_HELP of a verb that has no --samples and --index-only. */
#define TARGET_HELP_WHOLE \
"TARGETs are files on the device, directories of them, patterns ('/data/*.tar'), or\n" \
"ranges of the device: START-END, START+LENGTH or START:LENGTH, multiples of 512,\n" \
"like 1G-2G; to name a file like 1-2 write ./1-2. --from FILE adds more TARGETs,\n" \
"one on each line or separated by NUL; - is standard input. A file is refused\n" \
"if some of its data has no location of its own on the device: holes, inline,\n" \
"unwritten or compressed data. Between file system and device there may be\n" \
"partitions, loop devices, and LVM or other linear device-mapper tables, but not\n" \
"RAID or encryption.\n"

#define TARGET_HELP TARGET_HELP_WHOLE \
"\n" \
"--samples and --index-only select only that part of each shard, see 'index --help';\n" \
"--samples includes the index.\n"

bool target_given(const struct arguments *args);
int target_check_words(const struct arguments *args, bool needed);
int target_resolve(const struct arguments *args, const struct dm_device *dev,
		   struct shards *shards);

#endif /* HELPER_FILES_OPERAND_H */
