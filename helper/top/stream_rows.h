/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of the section of streams: one for each stream, or one for the streams of several processes
 * that have the same parent process and name, such as the workers of a data loader.
 */
#ifndef HELPER_TOP_STREAM_ROWS_H
#define HELPER_TOP_STREAM_ROWS_H

#include "top/model.h"
#include "top/view.h"

/**
 * struct stream_row - a row
 * @device: device of the streams
 * @stream: the stream, or the sum of the streams; its pid is then that of the parent process
 * @processes: number of processes
 * @mixed: the streams have different classes
 */
struct stream_row {
	const struct top_device *device;
	struct top_stream stream;
	unsigned int processes;
	bool mixed;
};

struct stream_rows {
	struct stream_row *row;
	size_t count;
};

int stream_rows_make(const struct top_model *model, const struct view *view,
		     struct stream_rows *rows);
void stream_rows_free(struct stream_rows *rows);

#endif /* HELPER_TOP_STREAM_ROWS_H */
