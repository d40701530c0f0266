#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An operator's first commands: create with origin and cache device swapped, the next steps that create
# prints, the status for any user, and a report without the secrets of the configuration.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

# as_nobody WORDS...: run nearcache without root privileges; sets $rc and $out.
as_nobody() {
	rc=0
	out=$(busybox start-stop-daemon -S -q -c nobody -x /usr/sbin/nearcache -- "$@" 2>&1) || rc=$?
}

C=$(local_dev) || fail "no local drive"
O=$(remote_dev) || O=$(remote_up) || fail "no remote volume"
at_exit remote_down
at_exit dm_gone nc
dd if=/dev/zero of="$C" bs=64K count=32 conv=fsync 2>/dev/null
bad 4 'are they swapped?' create nc --origin "$C" --cache "$O"
[[ $out == *"--origin $O --cache $C"* ]] || fail "no advice: $out"
# --force alone does not overwrite the content of a volume.
mkfs.ext4 -qF "$O" 64M || fail "mkfs"
bad 4 "remove it first ('wipefs -a'" create nc --origin "$C" --cache "$O" --force --dry-run
wipefs -qa "$O"
run create nc --origin "$C" --cache "$O" --force --dry-run
[[ $rc == 0 && $err == *'behind a network'* ]] || fail "--force: exit $rc, $err"
# The next step depends on the content.
good create nc --origin "$O" --cache "$C" --mode writearound
[[ $out == *'memory '*' more while '*'next '*'use /dev/mapper/nc in place'*'in nearcachetab '*"nc $O UUID="*' _netdev' ]] ||
	fail "create: $out"
[[ $out != *' nearcache writearound '* ]] || fail "a table without -v: $out"
mkfs.ext4 -qF /dev/mapper/nc 64M || fail "mkfs"
good destroy nc
good create nc --origin "$O" --cache "$C" -v
[[ $out == *' nearcache read-only '*'mount -o ro /dev/mapper/nc /mnt'* ]] || fail "create -v: $out"
# Any user sees devices and counters, but not which data others read.
grep -q ^nobody: /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
chmod 755 /
dd if=/dev/mapper/nc of=/dev/null bs=1M count=4 iflag=direct 2>/dev/null
for words in list "status nc -j" "stats nc" metrics "top --batch --count 1"; do
	# shellcheck disable=SC2086 # words
	as_nobody $words
	[[ $rc == 0 && $out == *nc* ]] || fail "$words as nobody: exit $rc, $out"
done
as_nobody top --batch --count 1 -j
[[ $rc == 0 && $out == *'"complete":false'* ]] || fail "top -j as nobody: exit $rc, $out"
as_nobody status nc -j
expect state normal complete false open_count null origin "$O" cache "$C" origin_state ok
((1 << 20 < $(json read_bytes))) || fail "status as nobody: $(json read_bytes) bytes read"
as_nobody status nc
[[ $out == *'only for root '* ]] || fail "status as nobody: $out"
as_nobody status nc --interval 0.1
[[ $rc == 0 && $out == *'rates '*'read 0 B/s, '*'in the last '[0-9]*' s'* ]] || fail "status --interval: exit $rc, $out"
good status nc --interval 0.1 -j
(($(json rates_span_ns) >= 100000000)) && expect read_bytes_per_s 0 || fail "status --interval -j: $out"
as_nobody status nosuch
[[ $rc == 4 && $out == *"no device 'nosuch'"* ]] || fail "status nosuch as nobody: exit $rc, $out"
good prefetch nc 8M+1M --label secret --wait
good jobs nc -j
expect complete true label secret
as_nobody jobs nc
[[ $rc == 0 && $out == *done*'only for root  labels'* && $out != *secret* ]] || fail "jobs as nobody: exit $rc, $out"
as_nobody jobs nc -j
expect complete false running 0 label null
as_nobody cancel nc --all
[[ $rc == 2 ]] || fail "cancel as nobody: exit $rc, $out"
as_nobody ranges nc
[[ $rc == 2 ]] || fail "ranges as nobody: exit $rc, $out"
as_nobody close nc
[[ $rc == 2 ]] || fail "close as nobody: exit $rc, $out"
# The report has tables, superblocks and the kernel log, and only this user can read it.
mkdir -p /etc/nearcache
at_exit rm -f /etc/nearcache/cluster.conf
printf '%s\n' 'secret-file = /etc/nearcache/cluster.secret' 'secret = hunter2' 'x DHHC-1:00:c2VjcmV0:' \
	>/etc/nearcache/cluster.conf
good report "$TMPDIR/report.tgz"
bad 5 exists report "$TMPDIR/report.tgz"
same "mode of the report" "$(stat -c %a "$TMPDIR/report.tgz")" 600
mkdir "$TMPDIR/report"
tar -xzf "$TMPDIR/report.tgz" -C "$TMPDIR/report" || fail "tar"
cd "$TMPDIR/report"/*/ || fail "no folder: $(ls "$TMPDIR/report")"
! grep -rqE 'hunter2|c2VjcmV0' . || fail "a secret: $(grep -rE 'hunter2|c2VjcmV0' .)"
grep -qx 'secret-file = /etc/nearcache/cluster.secret' cluster.conf || fail "cluster.conf: $(<cluster.conf)"
grep -q ' read-only ' tables || fail "tables: $(<tables)"
grep -q 'blocks warm' kernel-log || fail "kernel log: $(<kernel-log)"
grep -q '"uuid"' super-*.json || fail "no superblock: $(ls)"
grep -q '"state": "normal"' status.json || fail "status: $(<status.json)"
! ls -d /tmp/nearcache-report* 2>/dev/null || fail "a folder is left"
cd /
# A report that is stopped leaves no file and no folder. It waits for the last part, which is a FIFO.
report_begun() {
	ls -d /tmp/nearcache-report.* >/dev/null 2>&1
}

rm /etc/nearcache/cluster.conf && mkfifo /etc/nearcache/cluster.conf || fail "mkfifo"
nearcache report "$TMPDIR/stopped.tgz" >/dev/null &
reporter=$!
wait_for 30 report_begun || fail "no report"
kill "$reporter"
timeout 60 bash -c 'echo >/etc/nearcache/cluster.conf' || fail "the report does not read"
rc=0
wait "$reporter" || rc=$?
same "exit of the report" "$rc" 143
[[ ! -e $TMPDIR/stopped.tgz ]] && ! report_begun || fail "the stopped report has left something"
good close nc
