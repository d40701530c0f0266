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
"A TARGET is a file on the device, a directory of files, a pattern ('/data/*.tar'), or a\n" \
"range of the device: START-END, START+LENGTH or START:LENGTH, in multiples of 512, like\n" \
"1G-2G. Write ./1-2 for a file with such a name. --from FILE reads more TARGETs,\n" \
"separated by newlines or NUL. A file is refused if some of its data has no place of its\n" \
"own on the device: holes, inline, unwritten or compressed data. Partitions, loop\n" \
"devices, LVM and other linear device-mapper tables between file system and device are\n" \
"resolved; RAID and encryption are not.\n"

#define TARGET_HELP TARGET_HELP_WHOLE \
"\n" \
"--samples and --index-only select a part of each shard, see 'index --help'; samples\n" \
"include the index of the shard.\n"

bool target_given(const struct arguments *args);
int target_check_words(const struct arguments *args, bool needed);
int target_resolve(const struct arguments *args, const struct dm_device *dev,
		   struct shards *shards);

#endif /* HELPER_FILES_OPERAND_H */
