// SPDX-License-Identifier: GPL-2.0-only
/*
 * Classifies the reads and writes of a cache; evidence.h describes the statistics.  A stream
 * belongs to a process.  A set belongs to a control group, because it is often read by many
 * processes, each of which lives shorter than a pass.  Unrelated programs share the root group, and
 * the groups of user sessions.  There a set belongs to siblings: the processes with one parent and
 * one program name.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "classify.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 place_shift = PLACE_SHIFT;
/* Value of @sample for strided and written streams: the module reports one run of 16.  Sequential
 * streams have few runs: of these it reports each run.
 */
const volatile __u32 sample_alike = 4;
/* Id of the control group that has all user sessions (user.slice); 0: there is none. */
const volatile __u64 sessions_group = 0;
/* The root control group; 0 stands for none. */
#define ROOT_GROUP	1

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct stream_key);
	__type(value, struct stream);
} streams SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct set_key);
	__type(value, struct set);
} sets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct unit_key);
	__type(value, struct unit);
} units SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MIXES);
	__type(key, struct mix_key);
	__type(value, struct mix);
} mixes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} changes SEC(".maps");

struct context {
	struct nearcache_classify *told;
};

static __always_inline struct stream *stream_of(const struct stream_key *key)
{
	struct stream *stream = bpf_map_lookup_elem(&streams, key);
	struct stream fresh = {};

	if (stream)
		return stream;
	bpf_map_update_elem(&streams, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&streams, key);
}

static __always_inline struct set *set_of(const struct set_key *key)
{
	struct set *set = bpf_map_lookup_elem(&sets, key);
	struct set fresh = { .class = NEARCACHE_CLASS_SCATTERED };

	if (set)
		return set;
	fresh.id = bpf_get_prandom_u32();
	bpf_map_update_elem(&sets, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sets, key);
}

/* Add the runs that @told reports to @set.  If the last of them is sampled, add it as evidence. */
static __always_inline void learn(struct set *set, const struct nearcache_classify *told)
{
	struct unit_key key = { .run = told->run, .set = set->id };
	struct unit *unit, fresh;

	set->runs += told->runs;
	if (!evidence_is_sampled(set, told))
		return;
	unit = bpf_map_lookup_elem(&units, &key);
	evidence_set(set, unit, told->before);
	if (unit)
		return;
	/* If evidence_set() restarted the set, the set has a new id and this is its first unit. */
	key.set = set->id;
	fresh = (struct unit) { .at = set->runs, .before = told->before, .count = 1 };
	bpf_map_update_elem(&units, &key, &fresh, BPF_ANY);
}

static __always_inline void tell_change(const struct stream_key *key, struct stream *stream,
					const struct set *set, __u32 to)
{
	struct change *change = bpf_ringbuf_reserve(&changes, sizeof(*change), 0);

	if (change) {
		change->time = bpf_ktime_get_ns();
		change->key = *key;
		change->from = stream->told;
		change->to = to;
		change->stream = *stream;
		if (set)
			change->set = *set;
		else
			change->set = (struct set) {};
		bpf_ringbuf_submit(change, 0);
	}
	stream->told = to;
	stream->changes++;
}

/* Add the bytes that @told reports to the counter of @class.  Looking up a counter is slow, so
 * collect bytes in @stream until there are MIX_PORTION or the class changes.  Threads of a process
 * share a stream: the exchange with 0 lets only one thread add the collected bytes.
 */
static __always_inline void count(const struct nearcache_classify *told, struct stream *stream,
				  __u32 class)
{
	struct mix_key key = { .dev = told->io.dev, .class = class };
	struct mix *mix, fresh = {};

	if (__sync_fetch_and_add(&stream->uncounted, told->bytes) + told->bytes < MIX_PORTION &&
	    class == stream->told)
		return;
	mix = bpf_map_lookup_elem(&mixes, &key);
	if (!mix) {
		bpf_map_update_elem(&mixes, &key, &fresh, BPF_NOEXIST);
		mix = bpf_map_lookup_elem(&mixes, &key);
		if (!mix)
			return;
	}
	__sync_fetch_and_add(&mix->bytes, __sync_lock_test_and_set(&stream->uncounted, 0));
}

/* Fill in the fields that the module reads back. */
static __always_inline void answer(struct nearcache_classify *told, const struct stream *stream,
				   const struct set *set, __u32 class)
{
	__u32 zero = 0;
	struct settings *given = bpf_map_lookup_elem(&settings, &zero);

	told->class = class;
	told->window = 0;
	told->sample = set ? set->sample : 0;
	if (class == NEARCACHE_CLASS_SEQUENTIAL)
		evidence_window(stream, told,
				given && given->given ? given->window : WINDOW_DEFAULT);
	else if (!set && class)
		told->sample = sample_alike;
	if (class == NEARCACHE_CLASS_CHECKPOINT && given && given->around)
		told->admission = NEARCACHE_ADMIT_NOT;
}

/* Returns 1 if unrelated programs share the control group of the submitting process. */
static __always_inline int is_shared(const struct nearcache_classify *told)
{
	return told->io.cgroup <= ROOT_GROUP ||
	       (sessions_group && bpf_get_current_ancestor_cgroup_id(1) == sessions_group);
}

SEC("raw_tp.w/nearcache_classify")
int nc_classify(struct context *context)
{
	struct nearcache_classify *told = context->told;
	struct stream_key key = {
		.set.dev = told->io.dev,
		.set.label = told->io.label,
		.set.place = told->io.label ? 0 : told->run >> (place_shift & 63),
		.set.cgroup = told->io.cgroup,
		.pid = told->io.pid,
		.writes = told->io.op != 0,
	};
	struct stream *stream = stream_of(&key);
	struct set_key owner = key.set;
	struct set *set = NULL;
	__u32 class;

	if (!stream)
		return 0;
	evidence_stream(stream, told);
	class = stream->class;
	if (class == NEARCACHE_CLASS_SCATTERED && !key.writes) {
		owner.siblings = is_shared(told) ? told->siblings : 0;
		set = set_of(&owner);
		if (!set)
			return 0;
		learn(set, told);
		class = set->class;
	}
	count(told, stream, class);
	answer(told, stream, set, class);
	if (class != stream->told)
		tell_change(&key, stream, set, class);
	return 0;
}
