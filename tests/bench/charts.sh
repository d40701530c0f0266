# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# chart_NAME FILE for each benchmark with charts: draw them into $page from the results in FILE, and
# print the Markdown that shows them. Each target has the same colour in all charts.
# shellcheck disable=SC2154 # the including script sets $page

# colour_of TARGET: print its colour; colour-blind readers can distinguish all of them.
colour_of() {
	case $1 in
	bound | 'half of the time') echo '#1f2933' ;;
	nearcache | 'nearcache f=0.65') echo '#0b6bcb' ;;
	nearcache-100k-ranges | nearcache-list* | 'nearcache-cluster, more homes') echo '#56b4e9' ;;
	nearcache-plan | 'nearcache f=1' | nearcache-cluster) echo '#009e73' ;;
	nearcache-crc32c | nearcache-pins) echo '#004488' ;;
	nearcache-writethrough) echo '#56b4e9' ;;
	nearcache-*) echo '#0b6bcb' ;;
	dm-cache) echo '#d9730d' ;;
	bcache | bcache-writethrough) echo '#a0307f' ;;
	bcache-*) echo '#d69ac5' ;;
	dm-writecache) echo '#b8a000' ;;
	raw-cache) echo '#b0bac5' ;;
	*) echo '#7b8794' ;;
	esac
}

# drawn NAME TITLE WIDTH HEIGHT: draw NAME.svg by the gnuplot commands on stdin; print Markdown.
drawn() {
	{
		echo "set terminal svg size $3,$4 font 'DejaVu Sans,12' background '#ffffff'
set output '$page/$1.svg'
set border 3 lc rgb '#7b8794'
set tics nomirror out textcolor rgb '#1f2933'
set grid y lt 1 lc rgb '#e4e7eb'
set datafile missing '-'"
		cat
	} >"$page/$1.gnuplot"
	gnuplot "$page/$1.gnuplot" >&2 || { echo "charts: gnuplot refuses $page/$1.gnuplot" >&2; return 1; }
	rm "$page/$1.gnuplot" "$page/$1".*.tsv
	printf '![%s](%s.svg)\n\n' "$2" "$1"
}

# lines NAME [notitle]: "plot" command with a line for each name in NAME.tsv (name, X, Y).
lines() {
	local name plot='' width dash title
	while read -r name; do
		width=2 dash=1
		[[ $name != bound && $name != half* ]] || dash="'-'"
		[[ $name != nearcache* ]] || width=2.5
		title=${2:-title \'$name\'}
		plot+=", '$page/$1.tsv' using (strcol(1) eq '$name' ? \$2 : 1/0):3 with linespoints pt 7 ps 0.5 lw $width dt $dash lc rgb '$(colour_of "$name")' $title"
	done < <(cut -f1 "$page/$1.tsv" | awk '!seen[$0]++')
	echo "plot ${plot:2}"
}

# bars NAME: "plot" command of bars by NAME.1.tsv (group, | breaks its line; target; height).
bars() {
	local file=$page/$1.1.tsv plot='' target number=0 count
	count=$(cut -f2 "$file" | sort -u | wc -l)
	while read -r target; do
		awk -F'\t' -v target="$target" -v number="$number" -v count="$count" '
			!($1 in at) { at[$1] = groups++ }
			$2 == target { print at[$1] + (number - (count - 1) / 2) * 0.84 / count "\t" $3 }' "$file" >"$page/$1.bar$number.tsv"
		plot+=", '$page/$1.bar$number.tsv' using 1:2 with boxes lc rgb '$(colour_of "$target")' title '$target'"
		number=$((number + 1))
	done < <(cut -f2 "$file" | awk '!seen[$0]++')
	echo "set style fill solid 0.9
set boxwidth $(awk -v count="$count" 'BEGIN { print 0.74 / count }') absolute
set xrange [-0.6:$(cut -f1 "$file" | sort -u | wc -l).0-0.4]
set yrange [0:*]
set key outside right
set bmargin 4
set datafile separator tab
set xtics ($(cut -f1 "$file" | awk '!seen[$0]++ { gsub(/\|/, "\\n"); printf "%s\"%s\" %d", n ? ", " : "", $0, n; n++ }'))
plot ${plot:2}"
}

# jq function: format 4096 as "4 KiB".
KIB='def kib: "\(. / 1024) KiB";'

chart_hitpath() {
	jq -r "$KIB"' .rows[] | select(.block_size == 4096 and .target != "raw") |
		["\(.pattern), \(.iodepth) in flight", .target, .added_instructions] | @tsv' "$1" >"$page/hitpath.1.tsv"
	drawn hitpath 'Instructions added to a read of 4 KiB that hits' 1000 420 <<-END
		set title 'Instructions added to a read of 4 KiB, all hits'
		set ylabel 'instructions per read'
		$(bars hitpath)
	END
}

# Draw a chart for each kind of device.
chart_misspath() {
	local kind
	for kind in $(jq -r '[.rows[].devices // "memory"] | unique | .[]' "$1"); do
		jq -r --arg kind "$kind" "$KIB"' .rows[] | select((.devices // "memory") == $kind and .target != "origin") |
			["\(.pattern)|\(.block_size | kib), \(.iodepth)", .target, .throughput_ratio] | @tsv' "$1" >"$page/misspath-$kind.1.tsv"
		drawn "misspath-$kind" 'Throughput of reads that miss' 1100 420 <<-END
			set title 'Throughput of reads that miss: size, reads in flight; devices of kind $kind'
			set ylabel 'x the bare origin'
			$(bars "misspath-$kind")
		END
	done
}

chart_latency() {
	jq -r "$KIB"' .rows[] | ["\(.scenario)|\(.block_size | kib)", .target, .p999_nanoseconds / 1000] | @tsv' "$1" \
		>"$page/latency.1.tsv"
	drawn latency 'Latency of hits while the cache is busy' 1000 420 <<-END
		set title '99.9th percentile of the latency of hits while the cache is busy'
		set ylabel 'microseconds'
		$(bars latency)
	END
}

chart_checkpoint() {
	jq -r '.rows[] | ["time to write", .target, .write_ratio], ["reads meanwhile, mean", .target, .read_mean_ratio],
		["reads meanwhile, p99", .target, .read_p99_ratio] | @tsv' "$1" | sort -s -t$'\t' -k1,1r >"$page/checkpoint.1.tsv"
	drawn checkpoint 'A checkpoint beside reads' 1000 420 <<-END
		set title 'Write of a checkpoint during reads of a dataset'
		set ylabel 'x the bare origin (writes), x before (reads)'
		$(bars checkpoint)
	END
}

# Draw a panel for each f.
chart_epochs() {
	local pattern f panels
	for pattern in $(jq -r '[.rows[].pattern] | unique | .[]' "$1"); do
		panels='' first=1
		for f in $(jq -r --arg pattern "$pattern" '[.rows[] | select(.pattern == $pattern) | .f] | unique | .[]' "$1"); do
			jq -r --arg pattern "$pattern" --argjson f "$f" '[.rows[] | select(.pattern == $pattern and .f == $f)] |
				(.[0].target as $any | .[] | select(.target == $any) | ["bound", .epoch, 100 * .bound]),
				(.[] | [.target, .epoch, 100 * .hit_ratio]) | @tsv' "$1" >"$page/epochs-$pattern.$f.tsv"
			panels+="set title 'room for $(awk -v f="$f" 'BEGIN { printf "%g", 100 * f }') %'
$(lines "epochs-$pattern.$f" "$([[ $first ]] || echo notitle)")
unset ylabel
unset key
"
			first=''
		done
		drawn "epochs-$pattern" "Hit ratio of $pattern" 1100 380 <<-END
			set datafile separator tab
			set yrange [0:105]
			set xrange [0.5:*]
			set xtics 1
			set xlabel 'epoch'
			set ylabel 'hits, % of bytes'
			set key top left Left reverse samplen 1 width -2
			set multiplot layout 1,$(jq --arg pattern "$pattern" '[.rows[] | select(.pattern == $pattern) | .f] | unique | length' "$1") title '$pattern' font ',14'
			$panels
			unset multiplot
		END
	done
}

chart_train() {
	jq -r '[.rows[] | select(.workload == "unet3d" and .accelerator == "h100" and .origin_gbps == 1 and .origin_ms == 0.2 and
			.order == "reshuffled" and .io == "direct" and (.f == 0.65 or (.target | startswith("raw"))))] |
		(map(.epoch) | max) as $last | (.[] | select(.target == "nearcache") | ["bound", .epoch, 100 * .bound]),
		(.[] | if .target | startswith("raw") | not then [.target, .epoch, 100 * .au]
			elif .epoch == 1 then range(1; $last + 1) as $epoch | [.target, $epoch, 100 * .au] else empty end) | @tsv' \
		"$1" >"$page/train-epochs.1.tsv"
	[[ ! -s $page/train-epochs.1.tsv ]] || drawn train-epochs 'Utilisation by epoch' 760 420 <<-END
		set datafile separator tab
		set title 'unet3d on an H100: room for 65 % of the dataset, origin 1 GB/s and 0.2 ms'
		set yrange [0:105]
		set xtics 1
		set xlabel 'epoch'
		set ylabel 'accelerator computes, % of the time'
		set key outside right
		$(lines train-epochs.1)
	END
	# Use the last epoch, in which the caches are full.
	jq -r '[.rows[] | select(.workload == "unet3d" and .accelerator == "h100" and .origin_gbps == 4)] |
		(["half of the time", 0.2, 50], ["half of the time", 20, 50]),
		(group_by([.target, .f, .origin_ms])[] | max_by(.epoch) |
			["\(.target)\(if .target == "nearcache" then " f=\(.f)" elif .target == "nearcache-list" then ", epoch 1" else "" end)",
			.origin_ms, 100 * .au]) | @tsv' "$1" >"$page/train-latency.1.tsv"
	(($(wc -l <"$page/train-latency.1.tsv") > 2)) || { rm "$page"/train-latency.*; return 0; }
	drawn train-latency 'Utilisation by latency of the origin' 760 420 <<-END
		set datafile separator tab
		set title 'unet3d on an H100: origin of 4 GB/s at growing latency'
		set yrange [0:105]
		set logscale x
		set xrange [0.15:25]
		set xtics (0.2, 0.5, 1, 2, 5, 10, 20)
		set xlabel 'latency of the origin, ms'
		set ylabel 'accelerator computes, % of the time'
		set key outside right
		$(lines train-latency.1)
	END
}

chart_cluster() {
	jq -r '[.rows[] | select(.epoch >= 2) | .device += if .replicas > 1 then ", more homes" else "" end] |
		group_by([.nodes, .f, .device])[] |
		["\(.[0].nodes) nodes|f = \(.[0].f)", .[0].device, 100 * (map(.au) | add / length)] | @tsv' "$1" >"$page/cluster.1.tsv"
	drawn cluster 'Utilisation of the nodes of a cluster' 1000 420 <<-END
		set title 'unet3d on H100s, shared origin of 1 GB/s: nodes, room in the cache of each; from epoch 2'
		set ylabel 'accelerators compute, % of the time'
		$(bars cluster)
	END
}
