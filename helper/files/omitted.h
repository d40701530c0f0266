/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the parts of TARGETs that a command leaves out. */
#ifndef HELPER_FILES_OMITTED_H
#define HELPER_FILES_OMITTED_H

#include <stdint.h>

/**
 * struct omitted - what target_resolve() leaves out
 * @passed_over: entries of directories and patterns that are not files of the wanted kind
 * @empty_bytes: holes and unwritten data: the device has nothing of them
 * @unlocated_files: files with data whose location on the device is unknown
 * @unlocated_bytes: the length of this data
 */
struct omitted {
	uint64_t passed_over;
	uint64_t empty_bytes;
	uint64_t unlocated_files;
	uint64_t unlocated_bytes;
};

void omitted_print(const struct omitted *omitted);
void omitted_warn(const struct omitted *omitted);

#endif /* HELPER_FILES_OMITTED_H */
