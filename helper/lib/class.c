// SPDX-License-Identifier: GPL-2.0-only
#include "lib/class.h"

#include "nearcache_classify.h"

/**
 * class_word() - the word for how a stream is read or written
 * @class: enum nearcache_class
 *
 * Return: the word.
 */
const char *class_word(uint32_t class)
{
	static const char *const words[] = {
		[NEARCACHE_CLASS_UNKNOWN] = "unknown",
		[NEARCACHE_CLASS_SEQUENTIAL] = "sequential",
		[NEARCACHE_CLASS_STRIDED] = "strided",
		[NEARCACHE_CLASS_CHECKPOINT] = "checkpoint",
		[NEARCACHE_CLASS_SCATTERED] = "scattered",
		[NEARCACHE_CLASS_SHUFFLED] = "shuffled",
		[NEARCACHE_CLASS_LOOPING] = "looping",
		[NEARCACHE_CLASS_RANDOM] = "random",
	};

	return words[class < NEARCACHE_CLASSES ? class : NEARCACHE_CLASS_UNKNOWN];
}
