# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Plans of a cache nc and their readers: . ./planned.sh (includes asking.sh). The test sets BLOCK, the
# size of a block.
. ./asking.sh

# shellcheck disable=SC2034 # for the tests
NC=/dev/mapper/nc
MB=$((1 << 20))

# says NAME VALUE: fail unless the last answer has this value for the plan.
says() {
	[[ $'\n'$out$'\n' == *$'\n'"plan.$1=$2"$'\n'* ]] || fail "no $1=$2 (lines ${BASH_LINENO[*]}) in: $out"
}

says_cleared() {
	[[ $out == *count=$1* ]] || fail "not $1 cleared: $out"
}

# value NAME: print this value of the plan.
value() {
	[[ $'\n'$out =~ $'\n'"plan.$1="([^$'\n']*) ]] || return 0
	echo "${BASH_REMATCH[1]}"
}

get() {
	ask plan-get name=nc
}

# state_is NUMBER: has the plan this state? 0 none, 1 running, 2 over, 3 lost, 4 cleared.
state_is() {
	get
	[[ $(value state) == "$1" ]]
}

# plan_of START...: submit a plan of these blocks and commit it. With $alone, no prefetch.
plan_of() {
	ask plan-submit name=nc "${@/#/range=length=$BLOCK,start=}" "plan=commit=1${alone:+,no-prefetch=1}"
}

# order EPOCHS SEED [COUNT]: for each epoch, print the starts of COUNT (128) of 256 blocks, at random.
order() {
	awk -v epochs="$1" -v seed="$2" -v count="${3:-128}" -v block=$BLOCK 'BEGIN {
		srand(seed)
		while (epochs--) {
			for (i = 0; i < 256; i++)
				all[i] = i
			for (i = 256; i-- > 256 - count;) {
				j = int(rand() * (i + 1))
				print all[j] * block
				all[j] = all[i]
			}
		}
	}'
}

# min_hits SLOTS STARTS...: print the hits of Belady's MIN.
min_hits() {
	printf '%s\n' "${@:2}" | awk -v slots="$1" '
	{ at[NR] = $1 }
	END {
		for (i = NR; i; i--) { after[i] = at[i] in when ? when[at[i]] : NR + i; when[at[i]] = i }
		for (i = 1; i <= NR; i++) {
			if (at[i] in has) hits++
			else if (used++ >= slots) {
				far = at[i]; most = after[i]
				for (b in has) if (has[b] > most) { far = b; most = has[b] }
				if (far == at[i]) continue
				delete has[far]
			}
			has[at[i]] = after[i]
		}
		print hits + 0
	}'
}

# visit STARTS...: read these blocks one after the other.
visit() {
	local start
	for start; do
		./blockdata read $NC -s $((start / 512)) -n 128 >/dev/null || fail "wrong data at $start"
	done
}
