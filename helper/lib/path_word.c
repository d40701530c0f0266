// SPDX-License-Identifier: GPL-2.0-only
#include "lib/path_word.h"

#include "latency.h"

/**
 * path_word() - the word for a way
 * @path: enum latency_path
 *
 * Return: the word, "unknown" for a newer one.
 */
const char *path_word(uint32_t path)
{
	static const char *const words[PATHS] = {
		[PATH_HIT] = "hit",
		[PATH_MISS] = "miss",
		[PATH_JOIN] = "join",
		[PATH_ORIGIN] = "origin",
		[PATH_WRITE] = "write",
	};

	return path < PATHS ? words[path] : "unknown";
}
