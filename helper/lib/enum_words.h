/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns numbers of the kernel module and choices on the command line into words and back. The parse
 * functions return false for an unknown word.
 */
#ifndef HELPER_LIB_ENUM_WORDS_H
#define HELPER_LIB_ENUM_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nearcache_counters.h"

/* *_WORDS: lists of words for messages. */
#define MODE_WORDS	"read-only, writearound or writethrough"

const char *mode_word(uint64_t mode);
bool mode_parse(const char *word, enum nearcache_mode *mode);
bool mode_writes(enum nearcache_mode mode);

#define ON_CHANGE_WORDS	"drop, refuse or trust"

/*
 * Action if the content of the origin changed.
 * ON_CHANGE_DEFAULT: not given; each verb has its own default.
 * ON_CHANGE_DROP: continue with an empty cache.
 * ON_CHANGE_REFUSE: stop.
 * ON_CHANGE_TRUST: continue with the cached data, and record the origin's present state.
 */
enum on_change {
	ON_CHANGE_DEFAULT = 0,
	ON_CHANGE_DROP,
	ON_CHANGE_REFUSE,
	ON_CHANGE_TRUST,
};

bool on_change_parse(const char *word, enum on_change *result);

/* Size of a text of want_print() with NUL. */
#define WANT_TEXT	48

const char *want_print(uint32_t flags, char *text);
bool want_parse(const char *text, uint32_t *flags);

const char *class_word(uint32_t class);
const char *path_word(uint32_t path);

/*
 * Format of the samples in a shard.
 * INDEX_ANY: detect it from the content.
 * INDEX_TAR: WebDataset; a sample is the members of a tar archive with the same base name.
 * INDEX_TFRECORD: records of TensorFlow.
 * INDEX_PARQUET: row groups of Apache Parquet.
 * INDEX_MDS: samples of a MosaicML data shard.
 * INDEX_NPZ: arrays of NumPy in a zip file.
 */
enum index_format {
	INDEX_ANY,
	INDEX_TAR,
	INDEX_TFRECORD,
	INDEX_PARQUET,
	INDEX_MDS,
	INDEX_NPZ,
	INDEX_FORMATS,
};

#define INDEX_FORMAT_WORDS	"tar, tfrecord, parquet, mds or npz"

bool index_format_parse(const char *word, enum index_format *format);
const char *index_format_word(enum index_format format);
enum index_format index_format_of_path(const char *path);

#endif /* HELPER_LIB_ENUM_WORDS_H */
