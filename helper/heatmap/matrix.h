/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples one after another, as many as a picture has room for. */
#ifndef HELPER_HEATMAP_MATRIX_H
#define HELPER_HEATMAP_MATRIX_H

#include "heatmap/sample.h"

/**
 * struct matrix - a row for each sample, or for several
 * @grid: what the samples are of
 * @row: ascending in time
 * @rows: how many
 * @most: rows that there may be, even
 * @looks: samples of each row; the last one may have less
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

#endif /* HELPER_HEATMAP_MATRIX_H */
