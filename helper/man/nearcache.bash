# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# bash completion of nearcache(8); tests/static/words.sh compares it with the command.

_nearcache_verbs='create open close destroy set get attach resize cluster stage pin unpin ranges prefetch plan jobs cancel residency invalidate index trace list status stats top events heatmap heat latency metrics verify scrub super report upgrade help daemon actions classifier'
_nearcache_globals=' --json -j --dry-run --help -h --version -V'
_nearcache_settings='mode=read-only|writearound|writethrough fill_memory=auto cache_timeout= origin_timeout= verify= witness= read_ahead='

# _nearcache_tables VERB: set options and operands. Values: <KIND>, choices with |, <> for others.
_nearcache_tables()
{
	options='' operands=''
	case $1 in
	create)
		options=' --origin=<path> --cache=<path> --witness=<path> --mode=read-only|writearound|writethrough|writeback --read-only --block-size=<> --integrity=none|crc32c --fill-memory=<> --cache-timeout=<> --origin-timeout=<> --verify=<> --dataset-version=<> --force --format-only --cluster=<path> --self=<> --stage=<path> --rate=<> --max-behind=<> --on-full=wait|writethrough --reserve --preempt --verbose -v'
		operands='<>'
		;;
	open)
		options=' --origin=<path> --cache=<path> --witness=<path> --mode=read-only|writearound|writethrough|writeback --read-only --fill-memory=<> --cache-timeout=<> --origin-timeout=<> --verify=<> --dataset-version=<> --grow --on-change=drop|refuse|trust --compare-at-open=<> --force --wait --all --tab=<path> --stage=<path> --rate=<> --max-behind=<> --on-full=wait|writethrough --abandon-stage --drop-unreadable --reserve --no-reserve --preempt --exclusive --forget --verbose -v'
		operands='<table>'
		;;
	close)
		options=' --all --keep --abandon-stage'
		operands='<device>'
		;;
	set)
		options=' --force'
		operands='<device> <change>...'
		;;
	get)
		options=''
		operands='<device> <setting>...'
		;;
	attach)
		options=' --origin=<path> --cache=<path> --block-size=<> --integrity=none|crc32c --dataset-version=<> --on-change=drop|refuse|trust --force --format-cache'
		operands='<device>'
		;;
	resize)
		options=' --force'
		operands='<device>'
		;;
	upgrade)
		options=' --module=<path> --force'
		operands='<device>...'
		;;
	pin)
		options=' --wait --format=tar|tfrecord|parquet|mds|npz --samples=<> --concatenated --from=<path> --index-only --strict --all --label=<label> --priority=<> --expires=<> --evict-after-use --bypass --no-load --refresh --keep-gone --everywhere'
		operands='<device> <path>...'
		;;
	unpin)
		options=' --from=<path> --label=<label> --all --everywhere'
		operands='<device> <path>...'
		;;
	ranges)
		options=' --labels --columns=<> -o=<> --noheadings --raw'
		operands='<device>'
		;;
	prefetch)
		options=' --wait --format=tar|tfrecord|parquet|mds|npz --samples=<> --concatenated --from=<path> --index-only --strict --label=<label> --priority=<> --deadline=<> --bandwidth=<> --rank=<> --world-size=<> --seed=<> --epoch=<> --split=strided|blocked --cluster --from-peers --everywhere'
		operands='<device> <path>...'
		;;
	plan)
		options=' --format=tar|tfrecord|parquet|mds|npz --samples=<> --concatenated --from=<path> --root=<path> --sample-size=<> --header=<> --index-only --strict --rank=<> --world-size=<> --seed=<> --epoch=<> --epochs=<> --append --no-prefetch --clear --split=strided|blocked --everywhere'
		operands='<device> <path>...'
		;;
	jobs)
		options=' --columns=<> -o=<> --noheadings --raw'
		operands='<device>'
		;;
	cancel)
		options=' --all'
		operands='<device> <job>...'
		;;
	residency)
		options=' --format=tar|tfrecord|parquet|mds|npz --samples=<> --concatenated --from=<path> --index-only --strict --columns=<> -o=<> --noheadings --raw'
		operands='<device> <path>...'
		;;
	invalidate)
		options=' --range=<> --from=<path> --strict --everywhere'
		operands='<device> <path>...'
		;;
	verify)
		options=' --from=<path> --manifest=<path>'
		operands='<device> <path>...'
		;;
	scrub)
		options=' --rate=<> --with-origin --wait --stop'
		operands='<device>'
		;;
	cluster)
		options=' --config=<path> --self=<> --from-peers --no-warm --columns=<> -o=<> --noheadings --raw'
		operands='join|leave|status|check <cluster>'
		;;
	stage)
		options=' --wait'
		operands='status|drain|rate|max-behind|on-full <device> <path>'
		;;
	list)
		options=' --all --columns=<> -o=<> --noheadings --raw'
		operands=''
		;;
	status)
		options=' --interval=<>'
		operands='<device>...'
		;;
	stats)
		options=' --watch --interval=<> --count=<> -n=<> --columns=<> -o=<> --noheadings --raw'
		operands='<device>...'
		;;
	top)
		options=' --interval=<> --batch -b --count=<> -n=<> --all'
		operands='<device>...'
		;;
	events)
		options=' --count=<> -n=<> --follow -f'
		operands='<device>...'
		;;
	destroy)
		options=' --cache=<path> --force --stage=<path> --abandon-stage'
		operands='<device>'
		;;
	index)
		options=' --format=tar|tfrecord|parquet|mds|npz --samples=<> --summary --check --concatenated --columns=<> -o=<> --noheadings --raw'
		operands='<path>...'
		;;
	classifier)
		options=' --all --columns=<> -o=<> --noheadings --raw'
		operands='<> <path>'
		;;
	latency)
		options=' --columns=<> -o=<> --noheadings --raw'
		operands='<>'
		;;
	heat)
		options=' --columns=<> -o=<> --noheadings --raw'
		operands='<>'
		;;
	trace)
		options=' --wait --force --label=<label> --priority=<> --deadline=<> --bandwidth=<> --epochs=<>'
		operands='<> <device> <path>'
		;;
	heatmap)
		options=' --format=tar|tfrecord|parquet|mds|npz --samples=<> --concatenated --from=<path> --index-only --strict --interval=<> --count=<> -n=<> --output=<path> -o=<path>'
		operands='<device> <path>...'
		;;
	daemon)
		options=' --config=<path> --observe'
		operands=''
		;;
	actions)
		options=' --revert=<> --all --columns=<> -o=<> --noheadings --raw'
		operands='<device>'
		;;
	metrics)
		options=' --textfile=<path> --openmetrics'
		operands=''
		;;
	super)
		options=' --udev'
		operands='<path>'
		;;
	report)
		options=''
		operands='<path>'
		;;
	help)
		options=''
		operands=${_nearcache_verbs// /|}
		;;
	esac
	options+=$_nearcache_globals
}

# Open devices, from sysfs: this needs no root privileges.
_nearcache_devices()
{
	local file uuid name
	for file in "${_nearcache_sysfs:-/sys}"/class/block/dm-*/dm/uuid; do
		{ read -r uuid <"$file" && read -r name <"${file%uuid}name"; } 2>/dev/null || continue
		[[ $uuid != nearcache-* || $uuid == nearcache-cluster-* ]] || echo "$name"
	done
}

# Cluster devices, and names of those that could exist: caches named NAME-home.
_nearcache_clusters()
{
	local name
	while read -r name; do
		[[ $name != *-home ]] || echo "${name%-home}"
	done < <(_nearcache_devices)
}

# Devices of the table, open or not.
_nearcache_table()
{
	local name rest
	while read -r name rest || [[ $name ]]; do
		[[ ! $rest || $name == \#* ]] || echo "$name"
	done 2>/dev/null <"${_nearcache_tab:-/etc/nearcache/nearcachetab}"
}

# _nearcache_ask VERB WORD...: JSON about the device on the command line; needs root privileges.
_nearcache_ask()
{
	[[ ! $device ]] || "${_nearcache_command:-nearcache}" "$1" "$device" "${@:2}" --json 2>/dev/null
}

# Running jobs.
_nearcache_jobs()
{
	_nearcache_ask jobs | sed -n '/"job": /{s/[^0-9]//g;h;}; /"state": "running"/{g;p;}'
}

# Labels of ranges, without those that need quotes.
_nearcache_labels()
{
	_nearcache_ask ranges --labels | sed -nE 's/^ *"label": "([[:alnum:]_.,:@%+/-]+)",?$/\1/p'
}

# Set words to the words up to the cursor, without the breaks of COMP_WORDBREAKS.
_nearcache_words()
{
	local line=${COMP_LINE:0:COMP_POINT} i
	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if [[ ! $i -gt 0 || $line == [[:blank:]]* ]]; then
			words+=('')
			line=${line#"${line%%[![:blank:]]*}"}
		fi
		if ((i < COMP_CWORD)); then
			words[-1]+=${COMP_WORDS[i]}
			line=${line#"${COMP_WORDS[i]}"}
		else
			words[-1]+=$line
		fi
	done
}

# _nearcache_value NAME ROW...: set value to the text behind "NAME=" in one of the rows.
_nearcache_value()
{
	local row
	for row in "${@:2}"; do
		[[ $row == "$1="* ]] || continue
		value=${row#*=}
		return
	done
	return 1
}

# _nearcache_add PREFIX WORD...: offer the words that match the current word, without the part
# before its last break, which readline keeps.
_nearcache_add()
{
	local word strip='' divider
	for divider in = :; do
		[[ $COMP_WORDBREAKS == *"$divider"* && $current == *"$divider"* ]] || continue
		word=${current%"${current##*"$divider"}"}
		((${#word} <= ${#strip})) || strip=$word
	done
	for word in "${@:2}"; do
		word=$1$word
		[[ $word != "$current"* ]] || COMPREPLY+=("${word#"$strip"}")
	done
}

# readline completes files itself, with quotes.
_nearcache_files()
{
	compopt -o bashdefault -o default 2>/dev/null
}

# A setting, "=", and its value.
_nearcache_change()
{
	local value='' name=${current%%=*} row
	if [[ $current != *=* ]]; then
		for row in $_nearcache_settings; do
			_nearcache_add '' "${row%%=*}="
		done
		compopt -o nospace 2>/dev/null
		return
	fi
	# shellcheck disable=SC2086 # one word for each
	_nearcache_value "${name//-/_}" $_nearcache_settings
	if [[ $value ]]; then
		# shellcheck disable=SC2086 # one word for each
		_nearcache_add "$name=" ${value//|/ }
	elif [[ $current == *=/* ]]; then
		_nearcache_files
	fi
}

# _nearcache_offer KIND PREFIX: offer the words of this kind.
_nearcache_offer()
{
	local row names
	case $1 in
	'<device>') mapfile -t names < <(_nearcache_devices) ;;
	'<table>') mapfile -t names < <(_nearcache_table) ;;
	'<cluster>') mapfile -t names < <(_nearcache_clusters) ;;
	'<job>') mapfile -t names < <(_nearcache_jobs) ;;
	'<label>') mapfile -t names < <(_nearcache_labels) ;;
	'<path>') _nearcache_files; return ;;
	'<setting>')
		for row in $_nearcache_settings; do
			_nearcache_add '' "${row%%=*}"
		done
		return
		;;
	'<change>') _nearcache_change; return ;;
	*'>') return ;;
	*) IFS='|' read -ra names <<<"$1" ;;
	esac
	_nearcache_add "$2" "${names[@]}"
}

# _nearcache_operand NUMBER: set value to the kind of that operand, from 0.
_nearcache_operand()
{
	local kinds
	read -ra kinds <<<"$operands"
	if ((${#kinds[@]} && $1 >= ${#kinds[@]})) && [[ ${kinds[-1]} == *... ]]; then
		value=${kinds[-1]}
	else
		value=${kinds[$1]:-}
	fi
	value=${value%...}
}

_nearcache_options()
{
	local row
	for row in $options; do
		_nearcache_add '' "${row%%=*}"
	done
}

_nearcache()
{
	local words current word verb='' options=$_nearcache_globals operands='' value='' given=0 ended='' device=''
	COMPREPLY=()
	_nearcache_words
	current=${words[-1]}
	for word in "${words[@]:1:${#words[@]}-2}"; do
		if [[ $value ]]; then
			value=''
		elif [[ $ended || $word != -?* ]]; then
			if [[ $verb ]]; then
				given=$((given + 1))
				device=${device:-$word}
			else
				verb=$word
				_nearcache_tables "$verb"
			fi
		elif [[ $word == -- ]]; then
			ended=1
		else
			# shellcheck disable=SC2086 # one word for each
			_nearcache_value "$word" $options
		fi
	done
	if [[ $value ]]; then
		_nearcache_offer "$value" ''
	elif [[ ! $ended && $current == --*=* ]]; then
		# shellcheck disable=SC2086 # one word for each
		_nearcache_value "${current%%=*}" $options && _nearcache_offer "$value" "${current%%=*}="
	elif [[ ! $ended && $current == -* ]]; then
		_nearcache_options
	elif [[ ! $verb ]]; then
		# shellcheck disable=SC2086 # one word for each
		_nearcache_add '' $_nearcache_verbs
	else
		_nearcache_operand "$given"
		if [[ $value ]]; then
			_nearcache_offer "$value" ''
		else
			_nearcache_options
		fi
	fi
}

complete -F _nearcache nearcache
