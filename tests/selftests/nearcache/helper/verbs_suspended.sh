#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All verbs on a suspended device: those that only show something work, and no verb hangs, also not
# in a read of a file on the device. The others name 'dmsetup resume' or quote the kernel.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh
. ./shards.sh
. ./verbs.sh

resumed() {
	! dmsetup info nc >/dev/null 2>&1 || dmsetup resume --noudevsync nc
}

make_null O origin 16
make_null C local 24
make_null C2 other 24
verbs_ready
at_exit resumed
dmsetup suspend --noudevsync nc
each_verb <<END
0|Usage: nearcache open|help open
0||events nc
0|files in it|report $TMPDIR/report.tar.gz
0|suspended|list
0|suspended  |status nc
0|hits|stats nc
0|cache_timeout|get nc
0|may be pinned|ranges nc
0||jobs nc
0|none|plan nc
0|cached|residency nc
0|0-1M|residency nc 0-1M
5|its files cannot be read|residency nc $M/a.tar
5|its files cannot be read|heatmap nc $M/b.tar --count 1
0|cached|heatmap nc --count 1
0|nc is suspended: reads and writes wait|top --batch --count 1
0||actions nc
0|nearcache_state|metrics
0|none|classifier show
0|none|latency show
0|none|heat show
5|'dmsetup resume nc' first|index $M/b.tar
5|'dmsetup resume nc' first|super /dev/mapper/nc
0|clean|super $C
0|extents|trace show $TMPDIR/tr
0|extents|trace record nc $TMPDIR/again
5|The device is suspended: resume it first|trace replay nc $TMPDIR/tr --wait
5|The device is suspended: resume it first|trace plan nc $TMPDIR/tr
5|The device is suspended: resume it first|prefetch nc 1M-2M --wait
5|'dmsetup resume nc' first|prefetch nc $M/b.tar
5|The device is suspended: resume it first|plan nc 0-1M
0|cleared plans|plan nc --clear
5|'dmsetup resume nc' first|pin nc 1M-2M
4|no such pin|unpin nc 1M-2M
0|cancelled|cancel nc --all
5|'dmsetup resume nc' first|verify nc --manifest $TMPDIR/sums
5|'dmsetup resume nc' first|scrub nc
5|'dmsetup resume nc' first|invalidate nc
5|'dmsetup resume nc' first, or --force|set nc fill_memory=8M
5|'dmsetup resume nc' first, or --force|attach nc
5|'dmsetup resume nc' first, or --force|resize nc
0|up to date|upgrade
5|in use by device 'nc'|open other --cache $C --origin $O
5|'dmsetup resume nc' first|create other --cache $C2 --origin /dev/mapper/nc
5|mounted on $M|destroy nc
4|is no cluster device|cluster leave nc
4|has no stage|stage status nc
5|mounted on $M|close nc
END
no_verb_missing
resumed
unmount
dmsetup suspend --noudevsync nc
each_verb <<END
0|would wipe|destroy nc --dry-run
0||close nc
END
