# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for prefetch jobs that read at a peer: . ./peer_job.sh (includes gate.sh). The peer $P has
# data of generation 2, so that each read shows where its data comes from.
. ./gate.sh

# peer_gates: create the devices, the peer and a cache in mode read-only.
peer_gates() {
	gates 16 24
	gate device peer 16
	P=$REPLY
	gate fill peer 2 0 "$gate_sectors"
	between read-only
	at_exit peer_open
}

# job FIRST COUNT [NAME=VALUE]: submit a job for these sectors, to read at the peer, as number $id.
job() {
	id=$(./genl job-submit name=nc "range=start=$(($1 * 512)),length=$(($2 * 512))" \
		"job=peer-fd=9${3:+,$3}" 9<"$P" | sed -n 's/^job.id=//p')
	[[ $id ]] || fail "job-submit $*"
}

# job_is NAME VALUE: has the job this value?
job_is() {
	./genl job-get name=nc "job=id=$id" | grep -qx "job.$1=$2"
}

# job_ends STATE BYTES_FETCHED BYTES_LEFT: wait for the end of the job; 1: done, 2: cancelled, 4: incomplete.
job_ends() {
	wait_for 60 job_is state "$1" || fail "the job is not in state $1: $(./genl job-get name=nc "job=id=$id")"
	wait_for 60 job_is flying 0
	job_is fetched "$2" && job_is left "$3" || fail "not $2, $3: $(./genl job-get name=nc "job=id=$id")"
}

# peer_open: as gate_open, for the peer.
peer_open() {
	gate pass peer
	gate let peer all
}
