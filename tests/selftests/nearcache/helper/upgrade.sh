#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache upgrade under verified I/O of two file systems, one in a writing mode: the module is
# replaced, all data is right and warm, and all that was set is set.
# kernels: 6.12
. ./cache.sh
. ./command.sh
. ./upgrading.sh

upgrade_under_load 3 ext4 64
