#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All verbs while the cache device is out and the kernel bypasses it. Verbs that need no cache work;
# the others name the bypass and the next step, or the device.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./drive.sh
. ./shards.sh
. ./verbs.sh

need_drive
make_null O origin 16
make_null C2 other 24
verbs_ready
was=$C
pull
dd if=/dev/mapper/nc of=/dev/null bs=64K iflag=direct 2>/dev/null || fail "reads fail"
written_down
same state "$(field state)" 1
each_verb <<END
0|Usage: nearcache open|help open
0||events nc
0|files in it|report $TMPDIR/report.tar.gz
0|bypass|list
0|'nearcache attach nc'|status nc
0|hits|stats nc
0|cache_timeout|get nc
0|may be pinned|ranges nc
0|none|plan nc
0|0.0 %|residency nc $M/a.tar
0|cached|heatmap nc --count 1
0|'nearcache attach nc'|top --batch --count 1
0||actions nc
0|nearcache_state|metrics
0|none|classifier show
0|none|latency show
0|none|heat show
0|samples  1|index $M/b.tar
4|No such file|super $was
0|extents|trace show $TMPDIR/tr
4|is bypassed|trace replay nc $TMPDIR/tr
4|is bypassed|trace plan nc $TMPDIR/tr
4|is bypassed|prefetch nc 8M-9M
4|is bypassed|plan nc 0-1M
0|not loaded: the cache device of 'nc' is bypassed|pin nc 9M-10M
0||jobs nc
0|deleted ranges|unpin nc 9M-10M
0|cancelled|cancel nc --all
0|do not verify the cache|verify nc --manifest $TMPDIR/sums
4|is bypassed|scrub nc
4|invalidation not recorded|invalidate nc
0|8 MiB|set nc fill_memory=8M
4|the disk of the cache device is gone|set nc mode=writearound
4|name one with --cache DEV|attach nc
4|--format-cache makes it a cache of 'nc'|attach nc --cache $C2
0|has not grown|resize nc
0|up to date|upgrade
4|No such file|open other --cache $was --origin $O
4|No such file|create other --cache $was --origin $O
4|'nearcache close nc' closes the device|destroy nc
4|is no cluster device|cluster leave nc
4|has no stage|stage status nc
5|mounted on $M|close nc
END
no_verb_missing
unmount
each_verb <<END
0||close nc
END
