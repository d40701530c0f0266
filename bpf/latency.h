/* SPDX-License-Identifier: GPL-2.0-only */
/* Map layout of bpf/latency.bpf.c, shared with the helper. */
#ifndef BPF_LATENCY_H
#define BPF_LATENCY_H

#include <linux/types.h>

/**
 * enum latency_path - path of a piece of a read or write
 * @PATH_HIT: read from the cache device
 * @PATH_MISS: read from the origin by a fill that the piece started
 * @PATH_JOIN: read by a fill that another read or a prefetch had started
 * @PATH_ORIGIN: read from the origin and not cached
 * @PATH_WRITE: written to the origin
 */
enum latency_path {
	PATH_HIT	= 0,
	PATH_MISS	= 1,
	PATH_JOIN	= 2,
	PATH_ORIGIN	= 3,
	PATH_WRITE	= 4,
};

#define PATHS	5

/*
 * Bucket 0 holds latencies below 1 << LATENCY_FIRST ns.  Each of the LATENCY_OCTAVES octaves above,
 * up to 4 s, has four buckets of equal width.  The last bucket holds all longer latencies.
 */
#define LATENCY_FIRST	10
#define LATENCY_OCTAVES	22
#define LATENCY_BUCKETS	(4 * LATENCY_OCTAVES + 2)

/**
 * struct latency_key - key of a histogram
 * @cgroup: id of the control group; 0: none, or a group for which the map had no room
 * @dev: dm device: major << 20 | minor
 * @path: enum latency_path
 */
struct latency_key {
	__u64 cgroup;
	__u32 dev;
	__u32 path;
};

/**
 * struct latency - latency histogram
 * @count: pieces; each sampled hit counts as NEARCACHE_TIMED pieces
 * @sum: nanoseconds of all pieces
 * @bucket: pieces in each bucket, see latency_bucket()
 */
struct latency {
	__u64 count;
	__u64 sum;
	__u64 bucket[LATENCY_BUCKETS];
};

/* Bucket of a latency of @ns nanoseconds. */
static inline __u32 latency_bucket(__u64 ns)
{
	__u32 octave = 0;
	__u64 rest = ns >> LATENCY_FIRST;

	if (!rest)
		return 0;
	if (rest >> LATENCY_OCTAVES)
		return LATENCY_BUCKETS - 1;
	if (rest >> 16) {
		octave += 16;
		rest >>= 16;
	}
	if (rest >> 8) {
		octave += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		octave += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		octave += 2;
		rest >>= 2;
	}
	octave += rest >> 1;
	/* The two bits below the highest one select the quarter of the octave. */
	return 1 + 4 * octave + ((ns >> (octave + LATENCY_FIRST - 2)) & 3);
}

/* Upper bound of @bucket in nanoseconds; the last bucket has none. */
static inline __u64 latency_upper(__u32 bucket)
{
	__u32 octave;

	if (!bucket)
		return 1ULL << LATENCY_FIRST;
	octave = (bucket - 1) / 4;
	return (4ULL + (bucket - 1) % 4 + 1) << (octave + LATENCY_FIRST - 2);
}

#endif /* BPF_LATENCY_H */
