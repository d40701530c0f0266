#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pins of the part of a node, after the cluster device is gone: a refresh cannot know the part, so it
# keeps these pins as they are, and pins no more. A new pin of the file covers all of it.
# kernels: 6.12
# cpus: 1
. ./two_nodes.sh

volume_made 24
mkdir "$M/folder"
head -c 3m /dev/zero >"$M/folder/big"
nodes_up 24
good pin a "$TMPDIR/a/folder" --no-load -j
expect target_bytes 3145728
part=$(pinned a-home)
(($(bytes <<<"$part") < 3145728)) || fail "all is pinned: $part"
umount "$TMPDIR/a" && dm_remove a || fail "node a does not go"
# While node b has a-home open, the kernel refuses to mount a-home.
umount "$TMPDIR/b" && dm_remove b || fail "node b does not go"
mount -o ro,noload /dev/mapper/a-home "$TMPDIR/a" || fail "mount a-home"

run pin a-home --refresh -j
[[ $rc == 0 && $err == *"no cluster device above it: these pins stay as they are"*"cannot look for new files"* ]] ||
	fail "exit $rc: $err $out"
expect moved 0 added 0 gone 0 unchecked 1
same "pins" "$(pinned a-home)" "$part"
good pin a-home "$TMPDIR/a/folder" --no-load
same "pinned bytes" "$(pinned a-home | bytes)" 3145728
good pin a-home --refresh -j
expect moved 0 unchecked 0
