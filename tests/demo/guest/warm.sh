#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Second boot, same drives: the cache must be warm and its data right.
# shellcheck source=tests/demo/guest/common.sh
. /payload/demo/common.sh

origin_up
show nearcache open "$name" --origin "$origin" --cache "$(local_dev)"
read -r warm loaded < <(counter blocks_warm blocks_used)
fact blocks_warm "$warm"
say "after the reboot: $warm blocks warm, $loaded in use"
show mount -o ro -t ext4 "$mapped" "$data"
epoch rebooted "$((EPOCHS + 2))" "$mapped" --sha256
umount "$data"
show nearcache close "$name"
