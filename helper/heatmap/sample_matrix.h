/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a picture; a row joins several samples if there are more samples than rows. Functions
 * that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_HEATMAP_SAMPLE_MATRIX_H
#define HELPER_HEATMAP_SAMPLE_MATRIX_H

#include "heatmap/sample.h"

/**
 * struct matrix - rows of one or more samples each
 * @grid: shards and cells of each sample
 * @row: ascending in time
 * @rows: entries in @row
 * @most: maximum number of rows, even
 * @looks: samples in each row; the last row may have fewer
 */
struct matrix {
	struct grid grid;
	struct sample *row;
	size_t rows;
	size_t most;
	unsigned int looks;
};

int matrix_make(struct matrix *matrix, const struct grid *grid, size_t most);
int matrix_add(struct matrix *matrix, const struct sample *sample);
void matrix_halve(struct matrix *matrix);
bool matrix_counted(const struct matrix *matrix);
double matrix_most_reads(const struct matrix *matrix);
void matrix_free(struct matrix *matrix);

#endif /* HELPER_HEATMAP_SAMPLE_MATRIX_H */
