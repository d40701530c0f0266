// SPDX-License-Identifier: GPL-2.0-only
/* Draw the throughput over time, with and without the cache, as one SVG picture. */
#include <math.h>
#include <stdio.h>

#include "report.h"

#define WIDTH	960
#define HEIGHT	548
#define LEFT	72.0
#define RIGHT	932.0
#define TOP	132.0
#define BOTTOM	452.0
#define BINS	72
#define TICKS	8

/* Colours that colour-blind readers can distinguish. */
#define BLUE	"#0b6bcb"
#define ORANGE	"#d9730d"
#define INK	"#1f2933"
#define GREY	"#7b8794"
#define RULE	"#e4e7eb"

struct plot {
	FILE *file;
	double seconds;
	double rate;
	double step_x;
	double step_y;
};

struct curve {
	const struct run *run;
	const char *name;
	const char *colour;
	double seconds;
	double rate[BINS];
	size_t bins;
};

/* Return the distance of ticks on an axis up to @most: 1, 2 or 5 times 10^n, about TICKS ticks. */
static double tick_step(double most)
{
	double power = pow(10, floor(log10(most / TICKS)));
	double part = most / TICKS / power;

	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static double at_x(const struct plot *plot, double seconds)
{
	return LEFT + (RIGHT - LEFT) * seconds / plot->seconds;
}

static double at_y(const struct plot *plot, double rate)
{
	return BOTTOM - (BOTTOM - TOP) * rate / plot->rate;
}

/* Bytes delivered until @seconds, interpolated linearly between two points. */
static double bytes_at(const struct run *run, double seconds)
{
	const struct point *a, *b = &run->points[0];
	size_t i;

	for (i = 1; i < run->point_count; i++) {
		a = b;
		b = &run->points[i];
		if (seconds > b->seconds)
			continue;
		if (b->seconds <= a->seconds)
			return b->bytes;
		return a->bytes + (b->bytes - a->bytes) *
		       (seconds - a->seconds) / (b->seconds - a->seconds);
	}
	return b->bytes;
}

static double run_end(const struct run *run)
{
	double seconds = 0;
	size_t i;

	for (i = 0; i < run->count; i++)
		seconds += run->epochs[i].seconds;
	return seconds;
}

/* Fill the bins with MB/s; the last bin may be short, so divide by its actual width. */
static void curve_fill(struct curve *curve, double width)
{
	double from, to;
	size_t i;

	curve->seconds = run_end(curve->run);
	for (i = 0; i < BINS; i++) {
		from = i * width;
		to = fmin(from + width, curve->seconds);
		if (to - from < width / 4)
			break;
		curve->rate[i] = (bytes_at(curve->run, to) -
				  bytes_at(curve->run, from)) /
				 (to - from) / 1e6;
	}
	curve->bins = i;
}

static void draw_axes(const struct plot *plot)
{
	FILE *file = plot->file;
	double value;

	for (value = 0; value <= plot->rate * 1.001; value += plot->step_y) {
		fprintf(file, "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='" RULE "'/>\n",
			LEFT, RIGHT, at_y(plot, value), at_y(plot, value));
		fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='end' fill='" GREY "'>%g</text>\n",
			LEFT - 8, at_y(plot, value) + 4, value);
	}
	for (value = 0; value <= plot->seconds * 1.001; value += plot->step_x) {
		fprintf(file, "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='" GREY "'/>\n",
			at_x(plot, value), at_x(plot, value), BOTTOM, BOTTOM + 5);
		fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='middle' fill='" GREY "'>%g</text>\n",
			at_x(plot, value), BOTTOM + 20, value);
	}
	fprintf(file, "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='" GREY "'/>\n",
		LEFT, RIGHT, BOTTOM, BOTTOM);
	fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='middle' fill='" INK "'>time in training (s)</text>\n",
		(LEFT + RIGHT) / 2, BOTTOM + 42);
	fprintf(file, "<text transform='translate(22 %.1f) rotate(-90)' text-anchor='middle' fill='" INK "'>throughput (MB/s)</text>\n",
		(TOP + BOTTOM) / 2);
}

/* Draw a step per bin, not a smooth line, because a bin is an average. */
static void draw_steps(const struct plot *plot, const struct curve *curve,
		       double width)
{
	size_t i;

	for (i = 0; i < curve->bins; i++) {
		double to = fmin((i + 1) * width, curve->seconds);

		fprintf(plot->file, "%.1f,%.1f %.1f,%.1f ",
			at_x(plot, i * width), at_y(plot, curve->rate[i]),
			at_x(plot, to), at_y(plot, curve->rate[i]));
	}
}

static void draw_curve(const struct plot *plot, const struct curve *curve,
		       double width)
{
	FILE *file = plot->file;

	fprintf(file, "<polygon fill='%s' fill-opacity='0.09' points='%.1f,%.1f ",
		curve->colour, LEFT, BOTTOM);
	draw_steps(plot, curve, width);
	fprintf(file, "%.1f,%.1f'/>\n",
		at_x(plot, fmin(curve->bins * width, curve->seconds)), BOTTOM);
	fprintf(file, "<polyline fill='none' stroke='%s' stroke-width='2.2' stroke-linejoin='round' points='",
		curve->colour);
	draw_steps(plot, curve, width);
	fprintf(file, "'/>\n");
}

/* Draw a band above the plot that shows when each epoch of a run began and ended. */
static void draw_epochs(const struct plot *plot, const struct curve *curve,
			double y)
{
	const struct epoch *epoch;
	FILE *file = plot->file;
	double start = 0, x, end;
	size_t i;

	for (i = 0; i < curve->run->count; i++) {
		epoch = &curve->run->epochs[i];
		x = at_x(plot, start);
		end = at_x(plot, start + epoch->seconds);
		fprintf(file, "<rect x='%.1f' y='%.1f' width='%.1f' height='18' rx='2' fill='%s' fill-opacity='%s'/>\n",
			x + 1, y, fmax(end - x - 2, 1), curve->colour,
			i % 2 ? "0.14" : "0.24");
		if (end - x > 60)
			fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='middle' font-size='12' fill='" INK "'>epoch %llu</text>\n",
				(x + end) / 2, y + 13.5,
				(unsigned long long)epoch->number);
		start += epoch->seconds;
		fprintf(file, "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='%s' stroke-dasharray='2 4'/>\n",
			at_x(plot, start), at_x(plot, start), TOP - 6, BOTTOM,
			curve->colour);
	}
}

static void draw_legend(const struct plot *plot, const struct curve *curve,
			double x)
{
	const struct run *run = curve->run;
	double stall = 0;
	size_t i;

	for (i = 0; i < run->count; i++)
		stall += run->epochs[i].stall;
	fprintf(plot->file, "<rect x='%.1f' y='58' width='14' height='14' rx='2' fill='%s'/>\n",
		x, curve->colour);
	fprintf(plot->file, "<text x='%.1f' y='70' fill='" INK "'><tspan font-weight='bold'>%s</tspan>: %.1f s, waits for data %.0f %% of it</text>\n",
		x + 21, curve->name, curve->seconds,
		100 * stall / curve->seconds);
}

static void draw_head(FILE *file, const struct report *report)
{
	fprintf(file, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' font-family='DejaVu Sans, Helvetica, Arial, sans-serif' font-size='13'>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	fprintf(file, "<rect width='%d' height='%d' fill='white'/>\n", WIDTH,
		HEIGHT);
	fprintf(file, "<text x='%.1f' y='36' font-size='20' font-weight='bold' fill='" INK "'>Training throughput with and without nearcache</text>\n",
		LEFT);
	fprintf(file, "<text x='%.1f' y='%d' font-size='12' fill='" GREY "'>%llu WebDataset shards, %.0f MB, read with O_DIRECT in an order shuffled each epoch; the cache holds %.0f %% of them.</text>\n",
		LEFT, HEIGHT - 26, (unsigned long long)report->shards,
		report->dataset / 1e6, 100 * cache_fraction(report));
	fprintf(file, "<text x='%.1f' y='%d' font-size='12' fill='" GREY "'>Remote volume over NVMe/TCP with %.1f ms of latency added and a limit of %llu MB/s; measured in an emulated machine.</text>\n",
		LEFT, HEIGHT - 10, report->latency_us / 1e3,
		(unsigned long long)report->rate_mbps);
}

int report_svg(const struct report *report, const char *path)
{
	struct curve with = { .run = &report->cached,
			      .name = "with nearcache", .colour = BLUE };
	struct curve without = { .run = &report->uncached,
				 .name = "without a cache", .colour = ORANGE };
	struct plot plot = { .file = fopen(path, "w") };
	double width, most = 1;
	size_t i;

	if (!plot.file)
		return -1;
	plot.seconds = fmax(run_end(with.run), run_end(without.run));
	width = plot.seconds / BINS;
	curve_fill(&with, width);
	curve_fill(&without, width);
	for (i = 0; i < BINS; i++)
		most = fmax(most, fmax(i < with.bins ? with.rate[i] : 0,
				       i < without.bins ? without.rate[i] : 0));
	plot.step_x = tick_step(plot.seconds);
	plot.step_y = tick_step(most);
	plot.rate = ceil(most * 1.02 / plot.step_y) * plot.step_y;
	draw_head(plot.file, report);
	draw_axes(&plot);
	draw_legend(&plot, &with, LEFT);
	draw_legend(&plot, &without, LEFT + 400);
	draw_curve(&plot, &without, width);
	draw_curve(&plot, &with, width);
	draw_epochs(&plot, &with, TOP - 46);
	draw_epochs(&plot, &without, TOP - 24);
	fprintf(plot.file, "</svg>\n");
	return fclose(plot.file);
}
