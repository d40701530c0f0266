// SPDX-License-Identifier: GPL-2.0-only
/* The homes of extents: balance, moves when nodes join and leave, order, spread of replicas. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/unit.h"
#include "cluster/route.h"

#define NODES		16
#define EXTENTS		400000

static u32 before[EXTENTS];
/* Nodes that take no reads, by index. */
static u32 failed;

static bool is_usable(const struct nc_homes *homes, u32 index)
{
	(void)homes;
	return !(failed >> index & 1);
}

static int route_after(const struct nc_home *homes, u32 count, u64 extent, int after)
{
	struct {
		struct nc_homes homes;
		struct nc_home home[NODES];
	} all = { .homes = { .usable = is_usable, .count = count } };

	memcpy(all.homes.home, homes, count * sizeof(*homes));
	return nc_route_after(&all.homes, extent, after, -1);
}

static int route_first(const struct nc_home *homes, u32 count, u64 extent, u32 replicas, u32 self)
{
	struct {
		struct nc_homes homes;
		struct nc_home home[NODES];
	} all = { .homes = { .usable = is_usable, .count = count } };

	memcpy(all.homes.home, homes, count * sizeof(*homes));
	return nc_route_first(&all.homes, extent, replicas, self);
}

static int route_retry(const struct nc_home *homes, u32 count, u64 extent, int first, int last)
{
	struct {
		struct nc_homes homes;
		struct nc_home home[NODES];
	} all = { .homes = { .usable = is_usable, .count = count } };

	memcpy(all.homes.home, homes, count * sizeof(*homes));
	return nc_route_retry(&all.homes, extent, first, last);
}

static void name_nodes(struct nc_home *homes, u32 count)
{
	char name[16];
	u32 i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "node%u", i);
		homes[i].key = nearcache_cluster_key(name, strlen(name));
		homes[i].weight = 1 << 20;
	}
}

static u32 first_home(const struct nc_home *homes, u32 count, u64 extent)
{
	return route_after(homes, count, extent, -1);
}

/* The part of each node differs by less than 2 % from its part of the weights. */
static void check_balance(const struct nc_home *homes, u32 count)
{
	u32 of[NODES] = { };
	double sum = 0, want;
	u32 i;

	for (i = 0; i < count; i++)
		sum += homes[i].weight;
	for (i = 0; i < EXTENTS; i++)
		of[first_home(homes, count, i)]++;
	for (i = 0; i < count; i++) {
		want = homes[i].weight / sum * EXTENTS;
		if (fabs(of[i] - want) > want * .02)
			fail_msg("node %u of %u: %u extents, not %.0f", i, count, of[i], want);
	}
}

static void test_balance(void **state)
{
	struct nc_home homes[NODES];
	u32 count;

	(void)state;
	for (count = 1; count <= NODES; count += count < 4 ? 1 : 4) {
		name_nodes(homes, count);
		check_balance(homes, count);
	}
}

static void test_weights(void **state)
{
	struct nc_home homes[4];
	u32 i;

	(void)state;
	name_nodes(homes, 4);
	for (i = 0; i < 4; i++)
		homes[i].weight = 1000 << i;
	check_balance(homes, 4);
	/* The largest weight beside others must not overflow. */
	for (i = 0; i < 4; i++)
		homes[i].weight = NEARCACHE_CLUSTER_WEIGHT_MAX >> i;
	check_balance(homes, 4);
}

/* A node that joins takes 1/N of the extents, and no extent moves between other nodes; so also
 * if it leaves again.
 */
static void test_join_and_leave(void **state)
{
	struct nc_home homes[NODES];
	u32 count, i, moved, home;

	(void)state;
	for (count = 2; count <= NODES; count += 7) {
		name_nodes(homes, count);
		moved = 0;
		for (i = 0; i < EXTENTS; i++)
			before[i] = first_home(homes, count - 1, i);
		for (i = 0; i < EXTENTS; i++) {
			home = first_home(homes, count, i);
			if (home == before[i])
				continue;
			assert_int_equal(home, count - 1);
			moved++;
		}
		assert_true(moved <= EXTENTS * (1. / count + .01));
		assert_true(moved >= EXTENTS * (1. / count - .01));
	}
}

/* A weight that grows moves extents only to its node. */
static void test_weight_grows(void **state)
{
	struct nc_home homes[4];
	u32 i, home;

	(void)state;
	name_nodes(homes, 4);
	for (i = 0; i < EXTENTS; i++)
		before[i] = first_home(homes, 4, i);
	homes[1].weight *= 3;
	for (i = 0; i < EXTENTS; i++) {
		home = first_home(homes, 4, i);
		assert_true(home == before[i] || home == 1);
	}
}

/* Each node is a home exactly once, and the order of the nodes in the table is irrelevant. */
static void test_order(void **state)
{
	struct nc_home homes[NODES], turned[NODES];
	u32 i, extent, seen;
	int at, other;

	(void)state;
	name_nodes(homes, NODES);
	for (i = 0; i < NODES; i++) {
		homes[i].weight = i % 3 + 1;
		turned[NODES - 1 - i] = homes[i];
	}
	for (extent = 0; extent < 10000; extent++) {
		seen = 0;
		at = other = -1;
		for (i = 0; i < NODES; i++) {
			at = route_after(homes, NODES, extent, at);
			other = route_after(turned, NODES, extent, other);
			assert_int_equal(at, NODES - 1 - other);
			seen |= 1U << at;
		}
		assert_int_equal(seen, (1U << NODES) - 1);
		assert_int_equal(route_after(homes, NODES, extent, at), -1);
	}
}

/* Nodes with equal hashes: the larger weight comes first, then the smaller key.  Hashes whose costs
 * are equal keep their order, beside nodes of any weight.
 */
static void test_equal_hashes(void **state)
{
	const __u64 half = 1ULL << 63;

	(void)state;
	assert_true(nearcache_cluster_before(half, 2, 1, half, 2, 9));
	assert_false(nearcache_cluster_before(half, 2, 9, half, 2, 1));
	assert_true(nearcache_cluster_before(half, 3, 9, half, 2, 1));
	assert_true(nearcache_cluster_before(half + 1, 2, 9, half, 2, 1));
	assert_int_equal(nearcache_cluster_cost(half + 1), nearcache_cluster_cost(half));
	/* 1/2 with weight 1 costs as much as 1/4 with weight 2. */
	assert_true(nearcache_cluster_before(half, 1, 9, half / 2, 2, 1));
	assert_false(nearcache_cluster_before(half / 2, 2, 1, half, 1, 9));
	assert_true(nearcache_cluster_before(half + 1, 1, 9, half / 2, 2, 1));
}

/* The cost never rises with the hash, so that hashes order nodes of one weight. */
static void test_cost_falls(void **state)
{
	__u64 hash, step;
	__u32 cost, last;

	(void)state;
	assert_int_equal(nearcache_cluster_cost(0), 64U << 24);
	last = nearcache_cluster_cost(1);
	assert_int_equal(last, 64U << 24);
	for (hash = 1, step = 1; hash < ~0ULL - step; hash += step) {
		step = hash / 4000 + 1;
		cost = nearcache_cluster_cost(hash + step);
		assert_true(cost <= last);
		last = cost;
	}
	assert_true(nearcache_cluster_cost(~0ULL) <= last);
}

/* The homes are those that the formula gives in floating point, except in near ties. */
static void test_formula(void **state)
{
	struct nc_home homes[5];
	double cost, best;
	u32 extent, i, differ = 0;
	u64 hash;
	int at;

	(void)state;
	name_nodes(homes, 5);
	for (i = 0; i < 5; i++)
		homes[i].weight = i + 1;
	for (extent = 0; extent < EXTENTS; extent++) {
		at = 0;
		best = INFINITY;
		for (i = 0; i < 5; i++) {
			hash = nearcache_cluster_hash(homes[i].key, extent);
			cost = 64 - log2(hash + .5);
			assert_true(fabs(cost - nearcache_cluster_cost(hash) / (double)(1 << 24)) <
				    1. / 8192);
			if (cost / homes[i].weight < best) {
				best = cost / homes[i].weight;
				at = i;
			}
		}
		differ += at != (int)first_home(homes, 5, extent);
	}
	assert_true(differ < EXTENTS / 1000);
}

/* With replicas, a node that is one of the homes reads here; others read at all homes equally. */
static void test_replicas(void **state)
{
	struct nc_home homes[6];
	u32 extent, i, place, rank[3] = { }, self = 2;
	int at, order[6];

	(void)state;
	name_nodes(homes, 6);
	for (extent = 0; extent < EXTENTS / 8; extent++) {
		for (i = 0, at = -1; i < 6; i++)
			order[i] = at = route_after(homes, 6, extent, at);
		at = route_first(homes, 6, extent, 3, self);
		for (place = 0; order[place] != at; place++)
			;
		assert_in_range(place, 0, 2);
		for (i = 0; i < 3; i++)
			if (order[i] == (int)self)
				break;
		if (i < 3)
			assert_int_equal(at, self);
		else
			rank[place]++;
		/* More replicas than nodes: always here. */
		assert_int_equal(route_first(homes, 6, extent, 8, self), self);
	}
	/* Half of the extents have other homes than this node. */
	for (i = 0; i < 3; i++)
		assert_true(fabs(rank[i] / (EXTENTS / 48.) - 1) < .05);
}

/* A read that fails everywhere asks each node once, the homes with a copy first, and ends. */
static void test_retry(void **state)
{
	struct nc_home homes[6];
	int at, first, order[6];
	u32 extent, i, tries, place, seen;

	(void)state;
	name_nodes(homes, 6);
	for (extent = 0; extent < 10000; extent++) {
		for (i = 0, at = -1; i < 6; i++)
			order[i] = at = route_after(homes, 6, extent, at);
		first = at = route_first(homes, 6, extent, 3, 2);
		for (seen = tries = 0; at >= 0; tries++) {
			seen |= 1U << at;
			for (place = 0; order[place] != at; place++)
				;
			if (first != 2)
				assert_int_equal(tries < 3, place < 3);
			at = route_retry(homes, 6, extent, first, at);
		}
		assert_int_equal(tries, 6);
		assert_int_equal(seen, 63);
	}
}

/* Nodes that take no reads are passed over, as if they were no nodes. */
static void test_failed(void **state)
{
	struct nc_home homes[6], left[6];
	u32 extent, i, count;
	int at, other;

	(void)state;
	name_nodes(homes, 6);
	for (failed = 0; failed < 63; failed++) {
		for (i = count = 0; i < 6; i++)
			if (!(failed >> i & 1))
				left[count++] = homes[i];
		for (extent = 0; extent < 200; extent++) {
			u32 all = failed;

			at = route_after(homes, 6, extent, -1);
			failed = 0;
			other = route_after(left, count, extent, -1);
			failed = all;
			assert_true(homes[at].key == left[other].key);
		}
	}
	/* Only the local node is left. */
	failed = 63 ^ 4;
	assert_int_equal(route_first(homes, 6, 7, 3, 2), 2);
	failed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_join_and_leave),
		cmocka_unit_test(test_weight_grows),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_cost_falls),
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_replicas),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_failed),
	};

	return RUN(tests);
}
