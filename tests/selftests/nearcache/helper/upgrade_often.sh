#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 100 times nearcache upgrade, as in upgrade.sh, on XFS.
# kernels: 6.12
# when: soak
# timeout: 3600
. ./cache.sh
. ./command.sh
. ./upgrading.sh
type -P mkfs.xfs >/dev/null || skip "no mkfs.xfs"
upgrade_under_load 100 xfs 320
