// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/sample_matrix.h"

#include <stdlib.h>

#include "lib/error.h"

/* Makes an empty matrix. @most is even. The caller calls matrix_free() also after a failure. */
int matrix_make(struct matrix *matrix, const struct grid *grid, size_t most)
{
	*matrix = (struct matrix){
		.grid = *grid,
		.row = calloc(most, sizeof(*matrix->row)),
		.most = most,
		.looks = 1,
	};
	return matrix->row ? 0 : fail_memory();
}

/* Joins each two consecutive rows, so that half of the rows remain. */
void matrix_halve(struct matrix *matrix)
{
	struct sample *row = matrix->row;
	size_t i;

	for (i = 0; i < matrix->rows; i++) {
		struct sample moved = row[i];

		if (i % 2) {
			sample_join(&row[i / 2], &moved, &matrix->grid);
			sample_free(&row[i]);
		} else {
			row[i] = (struct sample){ 0 };
			row[i / 2] = moved;
		}
	}
	matrix->rows = (matrix->rows + 1) / 2;
	matrix->looks *= 2;
}

/* Joins a sample into the last row or starts a row with it. Without room calls matrix_halve(). */
int matrix_add(struct matrix *matrix, const struct sample *sample)
{
	size_t rows = matrix->rows;

	if (!rows || matrix->row[rows - 1].looks >= matrix->looks) {
		if (rows == matrix->most)
			matrix_halve(matrix);
		if (sample_make(&matrix->row[matrix->rows], &matrix->grid)) {
			sample_free(&matrix->row[matrix->rows]);
			return fail_code();
		}
		matrix->rows++;
	}
	sample_join(&matrix->row[matrix->rows - 1], sample, &matrix->grid);
	return 0;
}

bool matrix_counted(const struct matrix *matrix)
{
	size_t i;

	for (i = 0; i < matrix->rows; i++)
		if (matrix->row[i].counted)
			return true;
	return false;
}

/* Returns the reads of the cell that was read most. */
double matrix_most_reads(const struct matrix *matrix)
{
	size_t i, c, cells = matrix->grid.shards->count * matrix->grid.cells;
	double most = 0;

	for (i = 0; i < matrix->rows; i++)
		for (c = 0; c < cells; c++)
			if (matrix->row[i].reads[c] > most)
				most = matrix->row[i].reads[c];
	return most;
}

/* May be called twice. */
void matrix_free(struct matrix *matrix)
{
	size_t i;

	for (i = 0; i < matrix->rows; i++)
		sample_free(&matrix->row[i]);
	free(matrix->row);
	*matrix = (struct matrix){ 0 };
}
