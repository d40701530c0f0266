// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/warm_choice.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "nearcache_map.h"

/* Add a range to a source; it may extend the last one. */
static int add_to_source(struct warming *warming, size_t node, const struct range *add)
{
	struct warm_source *source = &warming->source[node];
	struct range *last = source->pieces ? &source->piece[source->pieces - 1] : NULL;

	if (last && last->start + last->length == add->start) {
		last->length += add->length;
	} else {
		if (source->pieces == source->room) {
			struct range *longer;

			source->room = source->room ? 2 * source->room : 16;
			longer = reallocarray(source->piece, source->room, sizeof(*longer));
			if (!longer)
				return fail_memory();
			source->piece = longer;
		}
		source->piece[source->pieces++] = *add;
	}
	source->bytes += add->length;
	warming->bytes += add->length;
	return 0;
}

static int make_sources(const struct homes *homes, struct warming *warming)
{
	size_t i;

	warming->sources = homes->table.nodes;
	warming->source = calloc(warming->sources, sizeof(*warming->source));
	if (!warming->source) {
		warming->sources = 0;
		return fail_memory();
	}
	for (i = 0; i < warming->sources; i++)
		warming->source[i].node = i;
	return 0;
}

void warm_free(struct warming *warming)
{
	size_t i;

	for (i = 0; i < warming->sources; i++)
		free(warming->source[i].piece);
	free(warming->source);
	memset(warming, 0, sizeof(*warming));
}

/*
 * struct cell - a part of a range, with the same state at each peer
 * @hash: hash of each node for the extent of the cell
 * @extent: number of that extent, or UINT64_MAX
 */
struct cell {
	const struct homes *homes;
	const struct peer_map *map;
	uint64_t *hash;
	uint64_t extent;
	struct range range;
};

/* Returns the bytes of a cell: those of the smallest unit of all maps, and at most of an extent. */
static uint64_t cell_step(const struct homes *homes, const struct peer_map *map)
{
	uint64_t step = homes->table.extent;
	size_t i;

	for (i = 0; map && i < homes->table.nodes; i++)
		if (map[i].unit && map[i].unit < step)
			step = map[i].unit;
	return step;
}

static bool is_earlier(const struct cell *cell, size_t node, size_t other)
{
	const struct homes *homes = cell->homes;

	return other == homes->table.nodes ||
	       nearcache_cluster_before(cell->hash[node], homes->table.node[node].weight,
					homes->key[node], cell->hash[other],
					homes->table.node[other].weight, homes->key[other]);
}

static unsigned char map_byte(const struct cell *cell, size_t node)
{
	const struct peer_map *map = cell->map ? &cell->map[node] : NULL;

	return map && map->unit ? map->byte[cell->range.start / map->unit] : 0;
}

/* Cut the next cell off @rest, which is not empty. */
static void next_cell(struct cell *cell, uint64_t step, struct range *rest)
{
	const struct homes *homes = cell->homes;
	uint64_t extent = rest->start / homes->table.extent;
	uint64_t end = (rest->start / step + 1) * step, all = rest->start + rest->length;
	size_t i;

	end = end < all ? end : all;
	cell->range = (struct range){ rest->start, end - rest->start };
	*rest = (struct range){ end, all - end };
	if (cell->extent == extent)
		return;
	cell->extent = extent;
	for (i = 0; i < homes->table.nodes; i++)
		cell->hash[i] = nearcache_cluster_hash(homes->key[i], extent);
}

static int make_cell(struct cell *cell, const struct homes *homes, const struct peer_map *map)
{
	*cell = (struct cell){ .homes = homes, .map = map, .extent = UINT64_MAX };
	cell->hash = calloc(homes->table.nodes, sizeof(*cell->hash));
	return cell->hash ? 0 : fail_memory();
}

/*
 * Find the first home among the peers that are up: before this node joined, that peer was a home.
 * Returns the number of nodes if no peer is up.
 */
static size_t first_peer(const struct cell *cell)
{
	size_t i, nodes = cell->homes->table.nodes, first = nodes;

	for (i = 0; i < nodes; i++)
		if (homes_peer_is_up(cell->homes, i) && is_earlier(cell, i, first))
			first = i;
	return first;
}

/*
 * Find the peer that has most of the unit around the cell, and among equal ones the first home.
 * @partly: also a peer that lacks a part of the unit. Returns the number of nodes if there is none.
 */
static size_t find_holder(const struct cell *cell, bool partly)
{
	size_t i, nodes = cell->homes->table.nodes, best = nodes;
	unsigned int share, most = 0;

	for (i = 0; i < nodes; i++) {
		if (!homes_peer_is_up(cell->homes, i))
			continue;
		share = map_byte(cell, i) & NEARCACHE_MAP_SHARE;
		if (!share || share < most || (!partly && share != NEARCACHE_MAP_ALL))
			continue;
		if (share > most || is_earlier(cell, i, best)) {
			best = i;
			most = share;
		}
	}
	return best;
}

/*
 * Choose for each extent of the ranges its first home among the peers, whether that peer has the
 * data or not. The ranges are inside the volume and have their home here. warm_free() is needed,
 * even after a failure.
 */
int warm_divide(const struct homes *homes, const struct range *range, size_t count,
		struct warming *warming)
{
	struct range rest;
	struct cell cell;
	size_t i, node;

	if (make_sources(homes, warming) || make_cell(&cell, homes, NULL))
		return fail_code();
	for (i = 0; i < count; i++)
		for (rest = range[i]; rest.length && !fail_code();) {
			next_cell(&cell, homes->table.extent, &rest);
			node = first_peer(&cell);
			if (node == homes->table.nodes)
				warming->alone += cell.range.length;
			else
				add_to_source(warming, node, &cell.range);
		}
	free(cell.hash);
	return fail_code();
}

/*
 * Does the map of any peer, even of one that the kernel is still probing, show a whole unit of the
 * ranges?
 */
bool warm_is_offered(const struct homes *homes, const struct peer_map *map,
		     const struct range *missing, size_t count)
{
	uint64_t step = cell_step(homes, map);
	struct range rest;
	struct cell cell;
	bool offered = false;
	size_t i, node;

	if (make_cell(&cell, homes, map))
		return false;
	for (i = 0; i < count && !offered; i++)
		for (rest = missing[i]; rest.length && !offered;) {
			next_cell(&cell, step, &rest);
			for (node = 0; node < homes->table.nodes; node++)
				offered |= (map_byte(&cell, node) & NEARCACHE_MAP_SHARE) ==
					   NEARCACHE_MAP_ALL;
		}
	free(cell.hash);
	return offered;
}

/*
 * struct run - adjacent cells to read at one peer
 * @range: the cells
 * @node: the peer
 * @heat: 1 + heat of the cells by the map of @node; 0: @node has no map
 */
struct run {
	struct range range;
	uint32_t node;
	uint32_t heat;
};

struct runs {
	struct run *run;
	size_t count;
	size_t room;
};

static int add_run(struct runs *runs, const struct run *add)
{
	struct run *last = runs->count ? &runs->run[runs->count - 1] : NULL, *longer;

	if (last && last->node == add->node && last->heat == add->heat &&
	    last->range.start + last->range.length == add->range.start) {
		last->range.length += add->range.length;
		return 0;
	}
	if (runs->count == runs->room) {
		runs->room = runs->room ? 2 * runs->room : 64;
		longer = reallocarray(runs->run, runs->room, sizeof(*longer));
		if (!longer)
			return fail_memory();
		runs->run = longer;
	}
	runs->run[runs->count++] = *add;
	return 0;
}

/*
 * Choose the peer for a cell. A peer without a map gets the cells that no map shows and whose first
 * home it is, but only if peers may ask the origin.
 */
static int choose_peer(const struct cell *cell, struct runs *runs, struct warming *warming)
{
	size_t nodes = cell->homes->table.nodes, first = first_peer(cell);
	size_t node = find_holder(cell, warming->ask);
	struct run run = { .range = cell->range };

	if (node != nodes) {
		run.heat = (map_byte(cell, node) >> NEARCACHE_MAP_HEAT_SHIFT) + 1;
	} else if (warming->ask && first != nodes && !(cell->map && cell->map[first].unit)) {
		node = first;
	} else {
		*(first == nodes ? &warming->alone : &warming->absent) += cell->range.length;
		return 0;
	}
	run.node = (uint32_t)node;
	return add_run(runs, &run);
}

/* Hottest first, then by position. */
static int by_heat(const void *a, const void *b)
{
	const struct run *one = a, *other = b;

	if (one->heat != other->heat)
		return one->heat > other->heat ? -1 : 1;
	return one->range.start < other->range.start ? -1 : 1;
}

/* Bytes of all blocks that overlap a range. To cache the range takes at most these free blocks. */
static uint64_t blocks_of(const struct range *range, uint64_t block)
{
	return ((range->start + range->length - 1) / block - range->start / block + 1) * block;
}

/* Take of a run what there is room for, in whole units. */
static int take_run(const struct run *run, uint64_t step, size_t pieces, struct warming *warming)
{
	uint64_t end = run->range.start + run->range.length, block = warming->block;
	struct range take = run->range;

	if (blocks_of(&take, block) > warming->room) {
		end = (take.start / block * block + warming->room) / step * step;
		take.length = end > take.start ? end - take.start : 0;
	}
	if (pieces >= WARM_PIECES_MAX)
		take.length = 0;
	warming->beyond += run->range.length - take.length;
	if (!take.length)
		return 0;
	warming->room -= blocks_of(&take, block);
	return add_to_source(warming, run->node, &take);
}

/*
 * Choose data of the ranges @missing, and the peer at which to read it. The local cache lacks these
 * ranges, and they have their home here. @map: of each node. This chooses the hottest units, as far
 * as there is room; each job reads them in that order. Unless @warming->ask, a peer is only asked
 * for units that it has whole. The caller has set @ask, @block and @room of @warming. warm_free()
 * is needed, even after a failure.
 */
int warm_choose(const struct homes *homes, const struct peer_map *map,
		const struct range *missing, size_t count, struct warming *warming)
{
	uint64_t step = cell_step(homes, map);
	struct runs runs = { 0 };
	struct range rest;
	struct cell cell;
	size_t i;

	if (make_sources(homes, warming) || make_cell(&cell, homes, map))
		return fail_code();
	for (i = 0; i < count; i++)
		for (rest = missing[i]; rest.length && !fail_code();) {
			next_cell(&cell, step, &rest);
			choose_peer(&cell, &runs, warming);
		}
	if (runs.count)
		qsort(runs.run, runs.count, sizeof(*runs.run), by_heat);
	for (i = 0; i < runs.count && !fail_code(); i++)
		take_run(&runs.run[i], step, i, warming);
	free(runs.run);
	free(cell.hash);
	return fail_code();
}
