#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All verbs while each read of the origin fails: cached data can be used and shown, settings and
# pins can be changed, and the error of a verb that needs the origin names it, once.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh
. ./verbs.sh

# origin_is TABLE: load this table into the device of the origin.
origin_is() {
	dmsetup load slice --table "$1" || fail "load $1"
	dmsetup suspend --noflush --nolockfs --noudevsync slice || fail "suspend"
	dmsetup resume --noudevsync slice || fail "resume"
}

make_null BASE origin 16
make_dm O slice "0 $(sectors "$BASE") linear $BASE 0"
make_null C local 24
make_null C2 other 24
verbs_ready
origin_is "0 $(sectors "$BASE") error"
each_verb <<END
0|Usage: nearcache open|help open
0||events nc
0|files in it|report $TMPDIR/report.tar.gz
0|normal|list
0|normal|status nc
0|hits|stats nc
0|cache_timeout|get nc
0|may be pinned|ranges nc
0|100.0 %|residency nc $M/a.tar
0|cached|heatmap nc --count 1
0|normal|top --batch --count 1
0||actions nc
0|nearcache_state|metrics
0|none|classifier show
0|none|latency show
0|none|heat show
0|samples  1|index $M/a.tar
4|cannot read '$M/b.tar' at byte 0: Input/output error|index $M/b.tar
4|Input/output error|super $O
0|extents|trace show $TMPDIR/tr
0|prefetch job|trace replay nc $TMPDIR/tr
4|left out 128 KiB|prefetch nc 8M+128K --wait
0|incomplete|jobs nc
0|running|plan nc 0-1M
0|pins need|pin nc 9M-10M --no-load
0|deleted ranges|unpin nc 9M-10M
0|cancelled|cancel nc --all
4|1 unreadable|verify nc --manifest $TMPDIR/sums
0|damaged sub-blocks  0|scrub nc --wait
0|8 MiB|set nc fill_memory=8M
4|cannot read origin '/dev/mapper/slice'|set nc mode=writearound
5|there is nothing to attach|attach nc
0|has not grown|resize nc
0|up to date|upgrade
5|in use by device 'nc'|open other --cache $C --origin $O
4|cannot read origin '/dev/mapper/slice'|create other --cache $C2 --origin $O
5|mounted on $M|destroy nc
0|dropped|invalidate nc
4|is no cluster device|cluster leave nc
4|has no stage|stage status nc
5|mounted on $M|close nc
END
no_verb_missing
nearcache index "$M/b.tar" 2>&1 | grep -q moreover && fail "the same error twice"
unmount
each_verb <<END
0||close nc
4|cannot read origin '/dev/mapper/slice'|open nc --cache $C --origin $O
END
