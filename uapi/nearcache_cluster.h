/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The home of an extent, for the target nearcache-peers and for programs that predict it.
 *
 * Weighted rendezvous hashing: each node has a hash for each extent, and from it a cost.  The nodes
 * of a cluster in the order of their costs are the homes of the extent, first to last.  The order
 * depends only on the nodes' names and weights, so that all nodes compute the same one.  A node
 * that joins or leaves moves only the extents of which it is the first home.
 */
#ifndef NEARCACHE_CLUSTER_UAPI_H
#define NEARCACHE_CLUSTER_UAPI_H

#include <linux/types.h>

/* Largest number of nodes of a cluster, including the local node. */
#define NEARCACHE_CLUSTER_NODES_MAX	256
/* Longest name of a node, bytes without the NUL. */
#define NEARCACHE_CLUSTER_NAME_MAX	63
/* Largest weight of a node; the smallest is 1. */
#define NEARCACHE_CLUSTER_WEIGHT_MAX	0xffffffffU

/* Finalizer of MurmurHash3: a bijection; each bit of @x changes half of the result's bits. */
static inline __u64 nearcache_cluster_mix(__u64 x)
{
	x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
	x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

/**
 * nearcache_cluster_key() - hash the name of a node
 * @name: name, @length bytes
 * @length: 1 to NEARCACHE_CLUSTER_NAME_MAX
 *
 * FNV-1a, mixed.  Return: the key that the other functions take.
 */
static inline __u64 nearcache_cluster_key(const char *name, unsigned int length)
{
	__u64 key = 0xcbf29ce484222325ULL;
	unsigned int i;

	for (i = 0; i < length; i++)
		key = (key ^ (unsigned char)name[i]) * 0x100000001b3ULL;
	return nearcache_cluster_mix(key);
}

/* log2(1 + i / 64) in units of 2^-24; computed with the log2() of Python. */
static const __u32 nearcache_cluster_log2[65] = {
	0, 375270, 744810, 1108793, 1467383, 1820738, 2169009, 2512340,
	2850868, 3184728, 3514044, 3838941, 4159533, 4475935, 4788255, 5096595,
	5401057, 5701737, 5998727, 6292118, 6581994, 6868440, 7151536, 7431359,
	7707984, 7981483, 8251926, 8519380, 8783912, 9045584, 9304457, 9560591,
	9814042, 10064867, 10313120, 10558852, 10802114, 11042956, 11281425, 11517568,
	11751428, 11983051, 12212479, 12439752, 12664911, 12887994, 13109041, 13328087,
	13545168, 13760320, 13973576, 14184969, 14394532, 14602297, 14808293, 15012551,
	15215099, 15415967, 15615181, 15812769, 16008758, 16203172, 16396036, 16587377,
	16777216,
};

/**
 * nearcache_cluster_hash() - hash of a node for an extent
 * @key: nearcache_cluster_key() of the node's name
 * @extent: number of the extent
 */
static inline __u64 nearcache_cluster_hash(__u64 key, __u64 extent)
{
	return nearcache_cluster_mix(nearcache_cluster_mix(extent + 1) ^ key);
}

/**
 * nearcache_cluster_cost() - cost of a node with weight 1
 * @hash: nearcache_cluster_hash()
 *
 * The negative binary logarithm of the hash as a fraction of 2^64, in units of 2^-24: interpolated
 * between 65 values, with an error below 2^-13.  It never rises with the hash.
 *
 * Return: 0 to 64 << 24.
 */
static inline __u32 nearcache_cluster_cost(__u64 hash)
{
	__u32 zeros, step, low, rise;

	if (!hash)
		return 64U << 24;
	zeros = __builtin_clzll(hash);
	/* Clear the highest bit that is set: the others are the fraction behind 1. */
	hash = hash << zeros << 1;
	step = hash >> 58;
	low = nearcache_cluster_log2[step];
	rise = nearcache_cluster_log2[step + 1] - low;
	return ((zeros + 1) << 24) - low - (__u32)(((hash >> 26 & 0xffffffffU) * rise) >> 32);
}

/**
 * nearcache_cluster_before() - is a node an earlier home of an extent than another node?
 * @hash: nearcache_cluster_hash() of the node
 * @weight: weight of the node: 1 to NEARCACHE_CLUSTER_WEIGHT_MAX
 * @key: key of the node
 * @other_hash: of the other node, as the next two
 * @other_weight: see @other_hash
 * @other_key: see @other_hash; keys differ, and decide if all else is equal
 *
 * Orders the nodes by cost divided by weight, then by hash (largest first), then by key.  So a node
 * with twice the weight is the first home of twice as many extents.  Among nodes of one weight the
 * hash alone gives this order.
 */
static inline int nearcache_cluster_before(__u64 hash, __u32 weight, __u64 key, __u64 other_hash,
					   __u32 other_weight, __u64 other_key)
{
	__u64 mine, other;

	if (weight != other_weight) {
		mine = (__u64)nearcache_cluster_cost(hash) * other_weight;
		other = (__u64)nearcache_cluster_cost(other_hash) * weight;
		if (mine != other)
			return mine < other;
	}
	return hash != other_hash ? hash > other_hash : key < other_key;
}

#endif /* NEARCACHE_CLUSTER_UAPI_H */
