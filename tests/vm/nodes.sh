# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests whose guests are nodes of a cluster: . "$TOP/tests/vm/nodes.sh" (includes
# guests.sh). The guests $NODES are the nodes, guest $STORAGE has their volume. Their steps are
# functions of guest_node.sh.
# shellcheck source=tests/vm/guests.sh
. "$TOP/tests/vm/guests.sh"
NODES=${NODES:-1 2 3 4} STORAGE=100
NODES_PAYLOAD=$HOST_DIR/payload
# shellcheck disable=SC2016 # for the guest
NODES_COMMAND="export NODES='$NODES' "'TMPDIR=/tmp; cd /selftests && . ./guest_node.sh && steps'

# nodes_begin SIZE [FILE...]: start the network, and the guest with a volume of this size. The guests
# also get these files.
nodes_begin() {
	mkdir "$NODES_PAYLOAD"
	cp "$BUILD/selftests/nearcache/"{common.sh,guest_node.sh,blockdata,cluster_homes} "${@:2}" "$NODES_PAYLOAD"
	guests_begin
	guest_boot $STORAGE "$NODES_COMMAND" --payload "$NODES_PAYLOAD:/selftests" --remote-size "$1" --local-size 1M
}

# boots N...: boot these nodes; their drives keep their content. CACHE_SIZE: of their cache drives.
boots() {
	local n
	for n; do
		guest_boot "$n" "$NODES_COMMAND" --payload "$NODES_PAYLOAD:/selftests" \
			--local-size "${CACHE_SIZE:-24M}" --remote-size 1M
	done
	for n; do
		guest_ready "$n"
	done
}

# cluster_begins SIZE MS [WORDS]: boot the nodes and their storage with a volume of this size, MS ms
# away, and make the cluster device of each node. WORDS are for the step 'begins'.
cluster_begins() {
	nodes_begin "$1"
	# shellcheck disable=SC2086 # several nodes
	boots $NODES
	guest_ready $STORAGE
	on $STORAGE "./blockdata write \"\$(remote_backing)\" && serve && distant $2"
	each "$NODES" "begins ${3:-}"
	each "$NODES" join
	each "$NODES" await_up
}

# cluster_ends: remove cluster devices and caches, and end the guests.
cluster_ends() {
	each "$NODES" 'leave && nearcache close v-home >/dev/null && remote_disconnect'
	guests_end
}

# others N...: print all nodes but these.
others() {
	local n
	for n in $NODES; do
		[[ " $* " == *" $n "* ]] || echo -n "$n "
	done
}

ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# volume_served: set $bytes to the bytes that the volume served since the last call.
volume_served() {
	# shellcheck disable=SC2016 # for the guest
	on $STORAGE 'origin_reads "$(remote_backing)"'
	# shellcheck disable=SC2034 # for the test
	bytes=$((answer - ${volume_total:-0})) volume_total=$answer
}

# readers_begin N..., readers_end N...: run readers on these nodes. They must get right data and no
# error; each of their reads may take LIMIT ms. Sets $took, the ms of the slowest read.
readers_begin() {
	each "$*" "reader_begins ${READERS:-2}"
}

readers_end() {
	local n ms
	took=0
	each "$*" reader_ends
	for n; do
		read -r ms _ <<<"${answers[n]}"
		((ms <= took)) || took=$ms
	done
	((took <= LIMIT)) || guests_fail "a read took $took ms, more than $LIMIT"
}
