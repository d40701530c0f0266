# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A chart_NAME for each benchmark that has charts: draws them into $page from the results in FILE, and
# prints the Markdown that shows them. Each target has one colour in all of them.
# shellcheck disable=SC2154 # $page is set by who includes this

# Told apart by who is colour-blind, too.
colour_of() {
	case $1 in
	bound | 'half of the time') echo '#1f2933' ;;
	nearcache | 'nearcache f=0.65') echo '#0b6bcb' ;;
	nearcache-100k-ranges | nearcache-list*) echo '#56b4e9' ;;
	nearcache-plan | 'nearcache f=1') echo '#009e73' ;;
	nearcache-crc32c | nearcache-pins) echo '#004488' ;;
	dm-cache) echo '#d9730d' ;;
	bcache) echo '#a0307f' ;;
	dm-writecache) echo '#b8a000' ;;
	raw-cache) echo '#b0bac5' ;;
	*) echo '#7b8794' ;;
	esac
}

# drawn NAME TITLE WIDTH HEIGHT: NAME.svg, by what follows on stdin; prints the Markdown.
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

# lines NAME [notitle]: "plot" of a line for each name in NAME.*.tsv's first column, X and Y behind it.
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

chart_hitpath() {
	local targets target plot=''
	jq -r '[.rows[] | select(.block_size == 4096 and .pattern == "random" and .target != "raw")] |
		group_by(.target)[] | sort_by(.iodepth) | [.[0].target, .[].added_instructions] | @tsv' "$1" |
		sort -t$'\t' -k3n >"$page/hitpath.1.tsv"
	mapfile -t targets < <(cut -f1 "$page/hitpath.1.tsv")
	for target in "${!targets[@]}"; do
		plot+=", '$page/hitpath.1.tsv' every ::$target::$target using ($target):(column(NF)) with boxes lc rgb '$(colour_of "${targets[target]}")' notitle"
		plot+=", '' every ::$target::$target using ($target):(column(NF)):(sprintf('%d', column(NF))) with labels offset 0,0.7 notitle"
	done
	plot=${plot//column(NF)/column(3)}
	drawn hitpath 'Instructions added to a random read of 4 KiB that hits' 960 420 <<-END
		set title 'Instructions that are added to a random read of 4 KiB, 16 in flight, all hits'
		set style fill solid 0.9
		set boxwidth 0.6
		set yrange [0:*]
		set offsets 0.6, 0.6, 300, 0
		set ylabel 'instructions per read'
		set xtics ($(for target in "${!targets[@]}"; do echo "'${targets[target]}' $target"; done | paste -sd,)) rotate by -18
		set datafile separator tab
		plot ${plot:2}
	END
}

# A panel for each f.
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
	# The last epoch of each: caches are filled by then.
	jq -r '[.rows[] | select(.workload == "unet3d" and .accelerator == "h100" and .origin_gbps == 4)] |
		(["half of the time", 0.2, 50], ["half of the time", 20, 50]),
		(group_by([.target, .f, .origin_ms])[] | max_by(.epoch) |
			["\(.target)\(if .target == "nearcache" then " f=\(.f)" elif .target == "nearcache-list" then ", epoch 1" else "" end)",
			.origin_ms, 100 * .au]) | @tsv' "$1" >"$page/train-latency.1.tsv"
	(($(wc -l <"$page/train-latency.1.tsv") > 2)) || { rm "$page"/train-latency.*; return 0; }
	drawn train-latency 'Utilisation by latency of the origin' 760 420 <<-END
		set datafile separator tab
		set title 'unet3d on an H100: an origin of 4 GB/s that is farther and farther away'
		set yrange [0:105]
		set logscale x
		set xtics (0.2, 0.5, 1, 2, 5, 10, 20)
		set xlabel 'latency of the origin, ms'
		set ylabel 'accelerator computes, % of the time'
		set key outside right
		$(lines train-latency.1)
	END
}
