/* SPDX-License-Identifier: GPL-2.0-only */
/* The map of bpf/latency.bpf.c, as who reads it sees it. */
#ifndef BPF_LATENCY_H
#define BPF_LATENCY_H

#include <linux/types.h>

/**
 * enum latency_path - how a piece of a read or write went
 * @PATH_HIT: from the cache device
 * @PATH_MISS: from the origin, into the cache on the way
 * @PATH_JOIN: with what another one, or a prefetch, was reading
 * @PATH_ORIGIN: from the origin, not into the cache
 * @PATH_WRITE: to the origin
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
 * Bucket 0 holds less than 1024 ns; then each octave has four of the same width, up to 4 s, and
 * the last one holds what took longer.
 */
#define LATENCY_FIRST	10
#define LATENCY_OCTAVES	22
#define LATENCY_BUCKETS	(4 * LATENCY_OCTAVES + 2)

/**
 * struct latency_key - whose pieces
 * @cgroup: id of the control group; 0: nobody's, and those of control groups for which there was no
 *	room
 * @dev: dm device: major << 20 | minor
 * @path: enum latency_path
 */
struct latency_key {
	__u64 cgroup;
	__u32 dev;
	__u32 path;
};

/**
 * struct latency - how long they took
 * @count: pieces; of hits an estimate
 * @sum: nanoseconds, of all of them
 * @bucket: pieces, by how long
 */
struct latency {
	__u64 count;
	__u64 sum;
	__u64 bucket[LATENCY_BUCKETS];
};

/**
 * latency_bucket() - where a latency counts
 * @ns: nanoseconds
 */
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
	/* The two bits behind the first one. */
	return 1 + 4 * octave + ((ns >> (octave + LATENCY_FIRST - 2)) & 3);
}

/**
 * latency_upper() - where a bucket ends
 * @bucket: its number, not the last one
 *
 * Return: nanoseconds.
 */
static inline __u64 latency_upper(__u32 bucket)
{
	__u32 octave;

	if (!bucket)
		return 1ULL << LATENCY_FIRST;
	octave = (bucket - 1) / 4;
	return (4ULL + (bucket - 1) % 4 + 1) << (octave + LATENCY_FIRST - 2);
}

#endif /* BPF_LATENCY_H */
