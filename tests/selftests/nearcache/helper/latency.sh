#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache latency and heat: their counts must match the counters of nc, the latencies those of the
# devices, and the regions the positions of the reads.
# kernels: 6.1 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

NC=/dev/mapper/nc
DIR=/sys/fs/bpf/nearcache
MB=$((1 << 20))

# of PATH KEY: print KEY of this path for $job, a control group.
of() {
	awk -v path="$1" -v key="$2" -v group="$job" '
		{ gsub(/[",:]/, "") }
		$1 == "path" { on = $2 == path }
		on { value[$1] = $2 }
		on && $1 == "cgroup" { if ($2 == group) print value[key]; on = 0 }' <<<"$out"
}

bad_input() {
	local verb
	for verb in latency heat; do
		bad 1 "'x': '$verb' takes load, unload or show" $verb x
		bad 1 "'$verb' does not take 'file'" $verb load file
		bad 4 "no $verb program is loaded" $verb unload
		good $verb show -j
		expect state none
		good $verb load --dry-run -j
		expect state none dry_run true
		[[ ! -e $DIR/$verb ]] || fail "a dry run left $(ls $DIR/$verb)"
	done
}

# The origin takes 2 ms per request, the cache device none.
latencies() {
	local before
	good latency load -j
	json_keys schema state program program_id age_s folder
	expect state loaded program nc_latency folder $DIR/latency
	bad 5 "'nc_latency' (program $(json program_id)) is loaded already" latency load
	bpftool prog show name nc_latency | grep -q raw_tracepoint_writable || fail "bpftool: $(bpftool prog show)"
	in_group "$group" ./blockdata read $NC -n 4096 -b 128 >/dev/null
	settle
	in_group "$group" ./blockdata read $NC -n 4096 -b 8 >/dev/null
	# Reads of another job must not count for $job.
	check -s 8192 -n 1024 -b 128 >/dev/null
	settle
	good latency show -j
	[[ $out != *'"count": 0'* ]] || fail "a row with nothing: $out"
	json_keys schema state program program_id age_s folder maps pin latencies device path count mean_ns p50_ns p90_ns p99_ns p999_ns \
		major minor cgroup
	same "misses of the job" "$(of miss count)" 32
	# Each of two processors samples one hit of 16: up to 32 hits may be missing or added.
	(($(of hit count) >= 512 - 32 && $(of hit count) <= 512 + 32)) || fail "hits of the job: $(of hit count)"
	same "misses" "$(grep -A1 '"path": "miss"' <<<"$out" | sed -n 's/.*"count": \([0-9]*\),/\1/p' | awk '{ n += $1 } END { print n + 0 }')" \
		"$(field misses)"
	before=$(of miss p50_ns)
	((before >= 2000000 && $(of miss mean_ns) >= 2000000 && $(of hit p50_ns) < before)) ||
		fail "misses take $before, hits $(of hit p50_ns) ns"
	(($(of miss p50_ns) <= $(of miss p90_ns) && $(of miss p90_ns) <= $(of miss p999_ns))) || fail "percentiles: $out"
	good latency show
	[[ $out == *'PATH'*'P50'*miss* ]] || fail "no table: $out"
	bpftool map dump pinned $DIR/latency/latencies >"$TMPDIR/dump"
	for word in '"cgroup":' '"path":' '"count":' '"bucket":'; do
		grep -q "$word" "$TMPDIR/dump" || fail "no $word: $(<"$TMPDIR/dump")"
	done
}

# sum KEY: print the sum over all regions.
sum() {
	sed -n "s/^ *\"$1\": \([0-9]*\),\?$/\1/p" <<<"$out" | awk '{ n += $1 } END { print n + 0 }'
}

heats() {
	dmsetup message nc 0 invalidate all || fail "invalidate"
	good heat load
	check -s 0 -n 2048 -b 128 >/dev/null
	check -s 65536 -n 4096 -b 128 >/dev/null
	settle
	check -s 65536 -n 4096 -b 8 >/dev/null
	good heat show -j
	json_keys schema state program program_id age_s folder maps pin regions device major minor start length reads bytes hit_ratio hit_bytes
	same "starts" "$(sed -n 's/^ *"start": \([0-9]*\),$/\1/p' <<<"$out" | paste -sd,)" "0,$((32 * MB))"
	# 48 misses and 512 hits. Each processor reports one of 16 hits with weight 16, so its last
	# hits may be missing. If the reader migrates, earlier hits may add to the sum.
	(($(sum reads) > 48 + 512 - 64 && $(sum reads) <= 48 + 512 + 16)) || fail "reads: $(sum reads)"
	same "bytes" "$(sum bytes)" $((3 * MB + (4096 * ($(sum reads) - 48))))
	same "bytes of hits" "$(sum hit_bytes)" $((4096 * ($(sum reads) - 48)))
	# The cached part of a partly cached read counts as a hit.
	good heat unload
	good heat load
	check -s 32768 -n 64 -b 64 >/dev/null
	settle
	check -s 32768 -n 128 -b 128 >/dev/null
	good heat show -j
	expect start $((16 * MB)) reads 2 bytes $((96 << 10)) hit_bytes $((32 << 10))
	bpftool map dump pinned $DIR/heat/heats | grep -q '"hit_bytes": 32768' || fail "bpftool: $(bpftool map dump pinned $DIR/heat/heats)"
	bpftool prog show name nc_heat | grep -q raw_tracepoint_writable || fail "bpftool: $(bpftool prog show)"
}

# Load and unload the programs while others read.
unloaded() {
	local i
	others 0
	verify_begin -b 1:256 -a 1 -r 300 -t 2
	for ((i = 0; i < $(times 4); i++)); do
		good latency unload
		good heat unload
		good latency load
		good heat load
	done
	verify_end >/dev/null
	others 1
	good latency unload -j
	expect state none
	good heat unload
	[[ ! -e $DIR/latency && ! -e $DIR/heat ]] || fail "left behind: $(ls $DIR)"
}

make_group group
job=$(stat -c %i "$group")
make_null O origin 48 completion_nsec=2000000
make_null C local 24
at_exit others 1
at_exit dm_gone nc
at_exit run latency unload
at_exit run heat unload
./blockdata write "$O"
good create nc --origin "$O" --cache "$C" --block-size 64K
bad_input
latencies
heats
unloaded
