#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A file uses symbols of its own folder and of the folders before it in KMOD or HELPER, and at most
# CIRCLE files of kmod use each other in a circle. Symbols are those of the object files. The same
# holds for included headers, except cache.h, which has the structures of all folders.
# timeout: 600
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
KMOD='core meta ranges evict io prefetch cache dm cluster stage netlink main'
HELPER='lib block netlink shard cli ondisk files pins open stage cluster verify bpf upgrade trace top heatmap metrics daemon cmd main'
CIRCLE=7

# arrows OBJECTS ORDER CIRCLE: print each use of a later folder, and the largest circle.
arrows() {
	(cd "$1" && find . -name '*.o' ! -name '*.mod.o' ! -name 'dm-nearcache.o' -exec nm -A {} +) | python3 -c '
import collections, re, sys
order, limit, used = sys.argv[1].split(), int(sys.argv[2]), collections.defaultdict(set)
lines = [re.match(r"\./(.*)\.o:\w* *([A-Za-z]) (\S+)", line) for line in sys.stdin]
lines = [(re.sub(".*/main$", "main", m[1]), m[2], m[3]) for m in lines if m]
lines = [(file, kind, symbol) for file, kind, symbol in lines if re.split("[/_]", file)[0] in order]
defined = {symbol: file for file, kind, symbol in lines if kind in "TDBRVC"}
level = lambda file: order.index(re.split("[/_]", file)[0])
uses = {(file, defined[symbol], symbol) for file, kind, symbol in lines if kind == "U" and symbol in defined}
up = [f"{a} uses {symbol} of {b}" for a, b, symbol in sorted(uses) if level(a) < level(b)]
for a, b, symbol in uses: used[a].add(b)
def reach(file, seen):
    for f in used[file] - seen: seen.add(f); reach(f, seen)
    return seen
reached = {file: reach(file, set()) for file in list(used)}
circle = max(([g for g in reached[f] if g != f and f in reached.get(g, ())] + [f] for f in reached), key=len)
print(*up, f"largest circle: {len(circle)} files: {sorted(circle)}", sep="\n")
sys.exit(bool(up) or len(circle) > limit)' "$2" "$3"
}
# headers FOLDER ORDER: print each include of a header of a later folder.
headers() {
	(cd "$1" && grep -rE --include='*.[ch]' '^#include "[^"]+"' . ) | python3 -c '
import re, sys
order = sys.argv[1].split()
level = lambda file: order.index(re.split("[/_.]", file)[0])
lines = [re.match(r"\./(.*):#include \"([^\"]+)\"", line).groups() for line in sys.stdin]
up = [f"{a} includes {b}" for a, b in sorted(lines)
      if "cache.h" not in (a, b) and {re.split("[/_.]", f)[0] for f in (a, b)} <= {*order} and level(a) < level(b)]
print(*up, sep="\n")
sys.exit(bool(up))' "$2"
}
# Build as static/module does, and not at the same time: both use the same objects. That test has the
# longer limit, so it starts first, and compiles for all kernels in parallel.
mkdir -p "$BUILD/static"
check 'the module builds' flock "$BUILD/static/module.lock" make -s "BUILD=$BUILD" "KVER=$(releases | head -n 1)" W=1 module
check 'kmod' arrows "$BUILD/module/$(releases | head -n 1)/kmod" "$KMOD" "$CIRCLE"
check 'helper' arrows "$BUILD/helper" "$HELPER" 1000
check 'headers of kmod' headers kmod "$KMOD"
check 'headers of the helper' headers helper "$HELPER"
finish
