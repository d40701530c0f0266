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
			 OPTION_SHARD_FORMAT | OPTION_CONCATENATED | OPTION_STRICT)

/* Options of a verb that uses files as a whole: their index may be wrong. */
#define TARGET_OPTIONS_WHOLE	(OPTION_FROM | OPTION_STRICT)

/* The TARGET_HELP of a verb that has no --samples and --index-only. */
#define TARGET_HELP_WHOLE \
"TARGETs are files on the device, directories of them, patterns ('/data/*.tar'), or\n" \
"ranges of the device: START-END, START+LENGTH or START:LENGTH, multiples of 512,\n" \
"like 1G-2G; to name a file like 1-2 write ./1-2. --from FILE adds more TARGETs,\n" \
"one on each line or separated by NUL; - is standard input. Holes and unwritten\n" \
"parts of a file are not stored on the device: the command only counts them. The\n" \
"location of inline, compressed and not yet allocated data is unknown: it is left\n" \
"out and counted, but a named file without any other data is refused. In\n" \
"directories and patterns, anything that is not a regular file on the device is\n" \
"passed over and counted. Between file system and device there may be partitions,\n" \
"loop devices, and LVM or other linear device-mapper tables, but not RAID or\n" \
"encryption. A name with a backslash at its start and another one later is an\n" \
"escaped name, see 'index --help'.\n"

#define TARGET_HELP TARGET_HELP_WHOLE \
"\n" \
"--samples and --index-only select only that part of each shard, see 'index --help';\n" \
"--samples includes the index. In directories and patterns they pass over files that\n" \
"are no shards, and count them. --strict refuses a TARGET if a part of it would be\n" \
"left out or passed over.\n"

/**
 * enum target_use - purpose for which TARGETs are resolved
 * @TARGET_BRING: the command brings the data or keeps it
 * @TARGET_RESTORE: like TARGET_BRING, for files of pins on record, without warnings: the user saw
 *	them when pinning
 * @TARGET_READ: like TARGET_BRING, for a command that plans reads: the result keeps the order
 *	and the repetitions of the TARGETs, and a list may have sample numbers
 * @TARGET_SHOW: the command only shows or selects something: it refuses no data that it cannot
 *	locate
 * @TARGET_DROP: the command drops cached data that may be wrong. Therefore it drops unwritten data
 *	and blocks beyond the end of a file as well, which another host may have written, warns of
 *	holes, and refuses data that it cannot locate. It has no --samples and --index-only
 */
enum target_use {
	TARGET_BRING,
	TARGET_RESTORE,
	TARGET_READ,
	TARGET_SHOW,
	TARGET_DROP,
};

bool target_given(const struct arguments *args);
int target_check_words(const struct arguments *args, bool needed);
int target_resolve(const struct arguments *args, const struct dm_device *dev,
		   struct shards *shards);
int target_resolve_for(enum target_use use, const struct arguments *args,
		       const struct dm_device *dev, struct shards *shards);

#endif /* HELPER_FILES_OPERAND_H */
