// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/legend.h"

#include "heatmap/cell_level.h"

#define BOX	(LEGEND_WIDTH / LEGEND_LEVELS)
#define HEIGHT	14
#define TEXT	16

/*
 * Level 0 is nearly white, LEGEND_UNKNOWN is grey. The other colours are viridis (of matplotlib,
 * public domain) from its light end. Their lightness falls evenly, so that they differ also when
 * printed in grey and for colour-blind readers.
 */
static const char *const colour[LEGEND_LEVELS + 1] = {
	"#f7f7f7", "#fde725", "#addc30", "#5ec962", "#28ae80", "#21918c", "#2c728e", "#3b528b",
	"#472d7b", "#440154", "#b0b0b0",
};

/* Returns the colour of a level up to LEGEND_UNKNOWN, in SVG's notation. */
const char *legend_colour(unsigned int level)
{
	return colour[level];
}

/* Draws the boxes of level 0 and of the levels from @lowest. */
static void put_boxes(FILE *file, unsigned int x, unsigned int y, unsigned int lowest,
		      const char *what)
{
	unsigned int level;

	fprintf(file, "<text x=\"%u\" y=\"%u\">%s</text>\n", x, y - 6, what);
	for (level = 0; level < LEGEND_LEVELS; level = level ? level + 1 : lowest)
		fprintf(file, "<path fill=\"%s\" stroke=\"#000\" d=\"M%u %uh%uv%uh-%uz\"/>\n",
			colour[level], x + level * BOX, y, BOX, HEIGHT, BOX);
}

static void put_label(FILE *file, unsigned int x, unsigned int y, unsigned int level,
		      const char *text)
{
	fprintf(file, "<text class=\"m\" font-size=\"9\" x=\"%u\" y=\"%u\">%s</text>\n",
		x + level * BOX + BOX / 2, y + HEIGHT + TEXT - 4, text);
}

/* Writes the legend for level_share(). @x is the left edge, @y the top of the boxes, in pixels. */
void legend_shares(FILE *file, unsigned int x, unsigned int y)
{
	unsigned int level;
	char text[32];

	put_boxes(file, x, y, 1, "cached part of a cell");
	put_label(file, x, y, 0, "none");
	for (level = 1; level < LEGEND_LEVELS - 1; level++) {
		snprintf(text, sizeof(text), "&lt;%.3g %%", 100.0 * level / (LEGEND_LEVELS - 2));
		put_label(file, x, y, level, text);
	}
	put_label(file, x, y, level, "all");
}

/* Writes the legend for level_octave() with the same @most. @x, @y: as in legend_shares(). */
void legend_reads(FILE *file, unsigned int x, unsigned int y, double most)
{
	unsigned int level;
	char text[32];

	/* Any number above 0 and up to 1 has the lowest level that is used. */
	put_boxes(file, x, y, level_octave(1, most, LEGEND_LEVELS),
		  "reads of a cell in the time of a row (grey: not counted)");
	put_label(file, x, y, 0, "none");
	for (level = LEGEND_LEVELS - 1; level && most >= 1; level--, most /= 2) {
		snprintf(text, sizeof(text), "≤%.0f", most);
		put_label(file, x, y, level, text);
	}
}
