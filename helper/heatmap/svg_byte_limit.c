// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/svg_byte_limit.h"

#include <stdlib.h>

#include "lib/error.h"

static char *draw_picture(const struct svg *svg, size_t *bytes)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, bytes);
	int failed;

	if (!file) {
		fail_memory();
		return NULL;
	}
	failed = svg_write(file, svg);
	if (fclose(file) && !failed)
		failed = fail_memory();
	if (!failed)
		return text;
	free(text);
	return NULL;
}

/*
 * Draws @svg in memory. Halves the rows of @matrix, to which @svg points, until the picture has
 * at most @most bytes or one row. Returns the document of @bytes bytes, which the caller frees,
 * or NULL after recording an error.
 */
char *picture_draw(const struct svg *svg, struct matrix *matrix, size_t most, size_t *bytes)
{
	char *text = draw_picture(svg, bytes);

	while (text && *bytes > most && matrix->rows > 1) {
		free(text);
		matrix_halve(matrix);
		text = draw_picture(svg, bytes);
	}
	return text;
}
