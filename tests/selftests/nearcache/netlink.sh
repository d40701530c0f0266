#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The generic netlink family: the devices that it reports, the changes that it makes, the callers
# that it permits, and the requests that it refuses with the name of the bad attribute.
# cpus: 1
. ./asking.sh

NC=/dev/mapper/nc

# value NAME: print the values of this attribute in the last answer.
value() {
	sed -n "s/^$1=//p" <<<"$out"
}

make_null O origin 16
make_null C local 24
make_null O2 second 8
make_null C2 other 12
./blockdata write "$O"
./blockdata write "$O2"
format
start nc '2 verify 7'

# device-get of one device, by name or number: the answer must agree with the status line.
ask device-get name=nc
says name nc
says dev "$(devt "$NC")"
dev=$(value dev)
says verify 7
says cache-timeout 700
says origin-timeout 0
says fill-memory $((64 << 20))
[[ $(value uuid) =~ ^[0-9a-f]{32}$ ]] || fail "no uuid: $out"
check -n 4096 >/dev/null
settle
ask device-get dev="$dev"
read -ra line < <(dmsetup status nc)
for name in mode state blocks bytes_valid; do
	says "status.$name" "${line[NC_AT[$name]]}"
done
for name in misses miss_bytes fills; do
	says "counters.$name" "${line[NC_AT[$name]]}"
done
[[ $(grep -c '^counters\.' <<<"$out") == "$(($(wc -w <<<"${line[*]:3}") - $(grep -c '^status\.' <<<"$out")))" ]] ||
	fail "some counters are missing: $out"

# A dump must have all devices, including one whose table was loaded but never live.
format "$C2" "$O2"
start nc2 '' "$O2" "$C2"
ask -d device-get
same "devices" "$(value name | sort | tr '\n' ' ')" "nc nc2 "
dm_remove nc2
dmsetup create idle --notable
at_exit dm_gone idle
dmsetup load idle --table "$(line '' "$O2" "$C2")" || fail "load"
ask -d device-get
same "devices" "$(value name | sort | tr '\n' ' ')" "idle nc "
ask device-get name=idle
says status.state 2
refused EBUSY 'resume it first' device-set name=idle verify=1
dmsetup remove idle

# Requests that name no device, two devices, or an unknown device are refused.
refused EINVAL 'Either dev or name' device-get
refused EINVAL 'Either dev or name' device-get name=nc dev="$dev"
refused ENODEV 'no such nearcache device (name)' device-get name=none
refused ENODEV 'no such nearcache device (name)' device-get name=
refused ENODEV 'no such nearcache device (dev)' device-get dev=1
refused ENODEV 'no such nearcache device (name)' invalidate name=none
refused ENODEV '' residency-get name=none
refused ENODEV '' -d residency-get name=none

# runs: fail unless the residency dump covers all bytes in order, in as few runs as possible.
runs() {
	ask -d residency-get name=nc "$@"
	paste -d ' ' <(value run.start) <(value run.length) <(value run.cached)
}
dmsetup message nc 0 invalidate all
same "nothing" "$(runs)" "0 $((16 << 20)) 0"
./blockdata read "$NC" -s 16 -n 8 >/dev/null
./blockdata read "$NC" -s 1024 -n 256 >/dev/null
./blockdata read "$NC" -s 32760 -n 8 >/dev/null
settle
same "some" "$(runs | tr '\n' ' ')" \
	"0 8192 0 8192 4096 1 12288 512000 0 524288 131072 1 655360 16117760 0 16773120 4096 1 "
same "a piece" "$(runs start=524800 length=130560 | tr '\n' ' ')" "524800 130560 1 "
same "the rest" "$(runs start=16773120)" "16773120 4096 1"
ask residency-get name=nc
says cached-bytes $((4096 + 131072 + 4096))
ask residency-get name=nc start=$((8192 + 512)) length=524288
says start 8704
says length 524288
says cached-bytes $((3584 + 8704))
# The dump needs more runs than fit into one message.
dmsetup message nc 0 invalidate all
# Read 4 KiB of each 64 KiB, so that cached and missing runs alternate.
fio --name=x --filename="$NC" --readonly --rw=read:60k --bs=4k --size=16M --number_ios=256 --direct=1 \
	>"$TMPDIR/fio" || fail "fio: $(<"$TMPDIR/fio")"
settle
same "runs" "$(runs | awk '$1 != end { print "gap" } { end = $1 + $2; n += $3 } END { print NR, n, end }')" \
	"512 256 $((16 << 20))"
for bad in 'start must be' start=100 start=$((16 << 20)) start=$((1 << 63)) \
	'length must be' length=100 length=$(((16 << 20) + 512)) length=$(((1 << 63) - 512)); do
	[[ $bad == *=* ]] || { text=$bad; continue; }
	refused ERANGE "$text" residency-get name=nc "$bad"
	refused ERANGE "$text" -d residency-get name=nc "$bad"
	refused ERANGE "$text" invalidate name=nc "$bad"
done
refused ERANGE '(length)' residency-get name=nc length=0

# "invalidate" reports a change of a part or of all of the origin.
valid=$(field bytes_valid)
ask invalidate name=nc start=8192 length=4096
says error 0
says start 8192
says length 4096
ask residency-get name=nc start=8192 length=4096
says cached-bytes 0
ask invalidate dev="$dev"
says error 0
is bytes_valid 0
above invalidated_bytes "$valid"
check >/dev/null

# device-set changes all the settings of a request, or none if one is invalid.
ask device-set name=nc verify=0 cache-timeout=0 origin-timeout=86400 fill-memory=1048576
same "table" "$(dmsetup table nc | cut -d' ' -f 4,7-)" \
	"read-only 8 fill_memory 1048576 cache_timeout 0 origin_timeout 86400 verify 0"
ask device-get name=nc
says verify 0
says origin-timeout 86400
is fill_memory_max 1048576
is verify 0
refused ERANGE 'cache-timeout must be 0 or 100' device-set name=nc verify=9 cache-timeout=99
refused ERANGE '(origin-timeout)' device-set name=nc verify=9 origin-timeout=86401
refused ERANGE '(cache-timeout)' device-set name=nc verify=9 cache-timeout=600001
refused ERANGE '(fill-memory)' device-set name=nc verify=9 fill-memory=1048575
refused ERANGE '(fill-memory)' device-set name=nc verify=9 fill-memory=$(((1 << 40) + 1))
is verify 0
dmsetup message nc 0 invalidate all
verify_begin -b 1:512 -a 1 -r 20
for ((i = 0; i < $(times 20); i++)); do
	ask device-set name=nc verify=$((i % 3)) cache-timeout=$((i % 2 * 300)) \
		fill-memory=$((1 << 20 + i % 5))
done
verify_end >/dev/null
dmsetup suspend nc
refused EBUSY 'resume it first' device-set name=nc verify=1
ask invalidate name=nc
says error 16
ask device-get name=nc
dmsetup resume nc
check >/dev/null

# Invalid requests are refused: an attribute of another request, an unknown attribute, a nested
# attribute that is not one, a value too short or too long, an unknown command.
refused EINVAL '(uuid)' device-get name=nc 4:00112233445566778899aabbccddeeff
refused EINVAL '' device-get name=nc 900:00000000
refused EINVAL '(dev)' device-get $((0x8000 | 2)):00000000
refused EINVAL '(dev)' device-get 2:0000
refused EINVAL '(dev)' device-get 2:0000000000
refused EINVAL '(verify)' device-get name=nc verify=1
refused EINVAL '' device-get 3:6e63
refused EINVAL '(name)' device-get name="$(printf '%0200d' 0)"
refused EOPNOTSUPP '' 77 name=nc
refused EOPNOTSUPP '' -d invalidate name=nc

# Callers without CAP_SYS_ADMIN, and root of a user namespace, may read little and change nothing.
ask device-set name=nc verify=0
ask -u 1000 device-get name=nc
says name nc
ask -u 1000 -d device-get
refused EPERM '' -u 1000 residency-get name=nc
refused EPERM '' -u 1000 -d residency-get name=nc
refused EPERM '' -u 1000 device-set name=nc verify=1
refused EPERM '' -u 1000 invalidate name=nc
in_a_container() {
	local request
	inside() {
		{ unshare --user --map-root-user "$@" >/dev/null; } 2>&1
	}
	for request in 'device-set name=nc verify=1' 'invalidate name=nc' \
		'range-add name=nc range=start=0,length=512,label=x' 'range-delete name=nc range=start=0' \
		'range-get name=nc' '-d range-get name=nc' '-d label-get name=nc' \
		'job-submit name=nc range=start=0,length=512' 'job-cancel name=nc'; do
		# shellcheck disable=SC2086 # words
		[[ $(inside ./genl $request) == EPERM* ]] || fail "$request: not refused inside a user namespace"
	done
}
# The debug kernel has no user namespaces.
[[ ! -e /proc/self/ns/user ]] || in_a_container
# CAP_NET_ADMIN alone suffices for no request that changes state, or shows what others read.
for request in 'device-set name=nc verify=1' 'invalidate name=nc' 'residency-get name=nc start=0 length=512' \
	'range-add name=nc range=start=0,length=512,label=x' 'range-delete name=nc range=start=0' \
	'range-replace name=nc range=start=0,length=512,label=x' 'range-get name=nc' '-d range-get name=nc' \
	'label-get name=nc' '-d label-get name=nc' 'job-submit name=nc range=start=0,length=512' \
	'job-cancel name=nc' \
	'plan-submit name=nc range=start=0,length=512 plan=commit=1' 'plan-clear name=nc'; do
	# shellcheck disable=SC2086 # words
	refused EPERM 'CAP_SYS_ADMIN' -s $request
done
ask -s device-get name=nc
is verify 0

# Listeners must get events of changes.
listen 1
dmsetup message nc 0 scrub start 0
wait $listener || fail "listen"
out=$(<"$TMPDIR/heard")
says name nc
says event 4
says status.state 0
