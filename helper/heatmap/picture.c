// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/picture.h"

#include <stdlib.h>

#include "lib/error.h"

static char *draw(const struct svg *svg, size_t *bytes)
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

/**
 * picture_draw() - draw a picture in memory
 * @svg: what of
 * @matrix: that of @svg; gets half the rows until the picture is small enough, or has one
 * @most: bytes that it should have at most
 * @bytes: that it has
 *
 * Return: the document, for free(); NULL after recording the error.
 */
char *picture_draw(const struct svg *svg, struct matrix *matrix, size_t most, size_t *bytes)
{
	char *text = draw(svg, bytes);

	while (text && *bytes > most && matrix->rows > 1) {
		free(text);
		matrix_halve(matrix);
		text = draw(svg, bytes);
	}
	return text;
}
