#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A file uses symbols of its own folder and of folders before it in these two lines, and the
# largest circle of files in kmod has at most CIRCLE files.
# timeout: 360
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
KMOD='core meta ranges evict io prefetch cache dm netlink main'
HELPER='lib block netlink shard cli ondisk files pins open verify bpf trace top heatmap metrics daemon cmd main'
CIRCLE=6

# arrows OBJECTS ORDER CIRCLE: print each use of a folder that comes later, and the largest circle.
arrows() {
	(cd "$1" && find . -name '*.o' ! -name '*.mod.o' ! -name 'dm-nearcache.o' -exec nm -A {} +) | python3 -c '
import collections, re, sys
order, limit = sys.argv[1].split(), int(sys.argv[2])
defined, used, up = {}, collections.defaultdict(set), []
lines = [re.match(r"\./(.*)\.o:\w* *([A-Za-z]) (\S+)", line) for line in sys.stdin]
lines = [m.groups() for m in lines if m and m[1].split("/")[0] in order]
defined = {symbol: file for file, kind, symbol in lines if kind in "TDBRVC"}
for file, kind, symbol in lines:
    if kind == "U" and defined.get(symbol, file) != file:
        used[file].add(defined[symbol])
        if order.index(file.split("/")[0]) < order.index(defined[symbol].split("/")[0]):
            up.append(f"{file} uses {symbol} of {defined[symbol]}")
def reach(file):
    seen, todo = set(), [file]
    while todo:
        for f in used[todo.pop()] - seen: seen.add(f); todo.append(f)
    return seen
reached = {file: reach(file) for file in list(used)}
circles = {frozenset(g for g in reached[f] if f in reached.get(g, ())) for f in reached}
largest = max(circles, key=len)
print(*up, f"largest circle: {len(largest)} files: {sorted(largest)}" if largest else "no circle", sep="\n")
sys.exit(bool(up) or len(largest) > limit)' "$2" "$3"
}

release=$(releases | head -n 1)
check 'the module builds' make -s --no-print-directory "BUILD=$BUILD" "KVER=$release" module
check 'kmod' arrows "$BUILD/module/$release/kmod" "$KMOD" "$CIRCLE"
check 'helper' arrows "$BUILD/helper" "$HELPER" 1000
finish
