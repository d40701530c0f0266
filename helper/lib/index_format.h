/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats of training shards, and their words on the command line. */
#ifndef HELPER_LIB_INDEX_FORMAT_H
#define HELPER_LIB_INDEX_FORMAT_H

#include <stdbool.h>

/**
 * enum index_format - how a shard stores its samples
 * @INDEX_ANY: as the content says
 * @INDEX_TAR: WebDataset: the members of a tar archive that share a base name
 * @INDEX_TFRECORD: records of TensorFlow
 * @INDEX_PARQUET: row groups of Apache Parquet
 * @INDEX_MDS: samples of a MosaicML data shard
 * @INDEX_NPZ: arrays of NumPy in a zip file
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

#endif /* HELPER_LIB_INDEX_FORMAT_H */
