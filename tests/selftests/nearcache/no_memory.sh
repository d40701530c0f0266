#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run each management operation with its n-th allocation failing, n = 1, 2, ... until the operation
# makes fewer. It must be refused with ENOMEM, or be done. A refusal must change nothing, and the
# next try must succeed. All data must be right, also after the next start.
# kernels: debug
# timeout: 600
# allow-log: kmemleak: Cannot allocate a scan area, scanning the full object
. ./cache.sh
. ./faults.sh
# With checksums, more allocations can fail.
# shellcheck disable=SC2034 # for format
INTEGRITY=crc32c
generation=1

# ask COMMAND...: send a command to dmfail.c; its answer is in $REPLY.
ask() {
	local word=''
	echo "$*" >&"$to"
	IFS=' ' read -r -t $((90 * SLOW)) word REPLY <&"$from"
	[[ $word == ok ]] || fail "$op, allocation $n: $*: $word $REPLY (line ${BASH_LINENO[*]})"
}

# must COMMAND...: run the command without a fault; it must succeed.
must() {
	ask "$@"
	[[ $REPLY == 'done 0' ]] || fail "$op, allocation $n: $*: $REPLY (line ${BASH_LINENO[*]})"
}

good() {
	ask good nc $generation 0 512
}

created() {
	must create nc
}

loaded() {
	must create nc
	must load nc "$to_read"
}

reading() {
	loaded
	must resume nc
	good
}

writing() {
	must create nc
	must load nc "$to_write"
	must resume nc
	good
	# State "writing": after this write a suspend or stop must flush the origin.
	ask write nc $generation 0 64
}

changed() {
	reading
	generation=$((generation + 1))
	ask write "$O" $generation 0 512
}

to_writing() {
	reading
	must load nc "$to_write"
}

to_reading() {
	writing
	must load nc "$to_read"
}

scrubbing() {
	reading
	must message nc scrub start 1
}

# tried REQUEST...: run the request with its n-th allocation failing; true if it made n of them.
tried() {
	local error failed
	"$state"
	ask nth $n
	ask "$@"
	read -r error failed <<<"$REPLY"
	if [[ $error != 'done' ]]; then
		[[ $error == ENOMEM && $failed == 1 ]] || fail "$op, allocation $n: $error"
		refused=$((refused + 1))
		must "$@"
	fi
	# Bring the device from any state to a live cache.
	[[ $1 != load || $state == created ]] || good
	if [[ $1 == remove ]]; then
		reading
	elif [[ $1 != @(status|table|message) ]]; then
		must resume nc
	fi
	good
	must remove nc
	((failed))
}

# all_of STATE REQUEST...: in this state, try the request with each of its allocations failing.
all_of() {
	state=$1 op="${*:1:3}" refused=0
	for ((n = 1; ; n++)); do
		tried "${@:2}" || break
		((n < 1000)) || fail "$op does not end"
	done
	echo "$op: $((n - 1)) allocations, $refused times refused"
	allocations=$((allocations + n - 1))
}

make_null O origin 2
make_null C local 8
make_null W witness 1
# Write the null_blk devices, so that they allocate their memory before faults are injected.
dd if=/dev/zero of="$C" bs=1M count=8 oflag=direct status=none
dd if=/dev/zero of="$W" bs=1M count=1 oflag=direct status=none
./blockdata write "$O"
format
./intent "$C" witness "$W" 0
faults_of_module
coproc ASK { exec ./dmfail; }
exec {from}<&"${ASK[0]}" {to}>&"${ASK[1]}"
at_exit dm_gone nc
to_read="ro $(line | cut -d ' ' -f 2-)"
to_write="rw $(MODE=writethrough line "2 witness $W" | cut -d ' ' -f 2-)"

allocations=0
all_of created load nc "$to_read"
loads=$allocations
all_of reading load nc "$to_write"
all_of loaded resume nc
all_of to_writing resume nc
all_of to_reading resume nc
all_of reading suspend nc
all_of writing suspend nc
all_of changed message nc invalidate all
all_of changed message nc invalidate 0 512
all_of reading message nc scrub start 0 origin
all_of scrubbing message nc scrub stop
all_of writing status nc
all_of writing table nc
all_of reading remove nc
all_of writing remove nc
# Fail if fewer allocations failed than the constructor alone makes: then the test tests nothing.
((loads > 25)) || fail "a cache was made with $loads allocations"
echo "{\"faults_injected\": $allocations}"
