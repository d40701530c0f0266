#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Users without privileges read all devices in loops, while a device is created and removed and
# another gets new tables. Each request about a device that exists all the time must be answered,
# and management must go on.
. ./cache.sh

# asking WORDS...: send the request as user 1000 until $TMPDIR/enough exists; print the number.
asking() {
	local answer=$TMPDIR/answer.$1 count=0
	while [[ ! -e $TMPDIR/enough ]]; do
		./genl -u 1000 "$@" >"$answer" || return 1
		grep -qx 'name=nc' "$answer" || [[ $1 == plan-get ]] || return 1
		count=$((count + 1))
	done
	echo "$count of $*"
	((count))
}

make_null O2 second 8
make_null C2 other 12
fresh 4 12
format "$C2" "$O2"
read -r _ size type words <<<"$(line '' "$O2" "$C2")"
pids=()
for request in 'device-get name=nc' '-d device-get' 'plan-get name=nc'; do
	# shellcheck disable=SC2086 # words
	asking $request &
	pids+=($!)
done
for ((i = 0; i < $(times 3); i++)); do
	./dmcycle nc2 5 "$size" "$type" "$words" || fail "round $i: create and remove"
	reload "2 verify $((i + 1))" || fail "round $i: reload"
	./genl plan-submit name=nc range=start=0,length=65536 plan=commit=1 >/dev/null || fail "plan"
done
touch "$TMPDIR/enough"
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a request was not answered"
done
is verify "$(times 3)"
check
