// SPDX-License-Identifier: GPL-2.0-only
/* Let the first call of a kernel function wait: see hold_call.c. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "hold_call.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hold);
} holds SEC(".maps");

static volatile struct hold *the_hold(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&holds, &first);
}

#define UNUSED	__attribute__((unused))

static long is_over(UNUSED __u32 i, UNUSED void *context)
{
	volatile struct hold *hold = the_hold();

	return !hold || hold->released;
}

static long wait_a_little(__u32 i, void *context)
{
	bpf_loop(1 << 10, is_over, NULL, 0);
	return is_over(i, context) || bpf_ktime_get_ns() > *(__u64 *)context;
}

SEC("kprobe")
int hold_call(UNUSED void *context)
{
	__u64 until = bpf_ktime_get_ns() + HOLD_TIME;
	volatile struct hold *hold = the_hold();

	if (!hold || hold->held)
		return 0;
	hold->held = 1;
	bpf_loop(1 << 23, wait_a_little, &until, 0);
	if (!hold->released)
		hold->late = 1;
	return 0;
}
