#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The Kubernetes manifests have the schema in kubernetes.yaml, agree with each other and with the
# sources, and their files for /etc/nearcache are valid. A broken copy of each rule is refused.
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP/helper/packaging/kubernetes" || exit
dir=$BUILD/static/kubernetes
rm -rf "$dir"
mkdir -p "$dir"

# judge FOLDER: check the manifests in the folder.
judge() {
	/usr/bin/python3 "$TOP/tests/static/kubernetes.py" "$1" "$dir"
}

# refused FILE SED: fail if the manifests are accepted although SED has changed FILE.
refused() {
	rm -rf "$dir/broken" && mkdir "$dir/broken" && cp ./*.yaml "$dir/broken" &&
		sed -i "$2" "$dir/broken/$1" && ! cmp -s "$1" "$dir/broken/$1" || return
	! judge "$dir/broken" || { echo "accepted: $2"; return 1; }
}

rules() {
	refused daemonset.yaml 's/hostPID:/hostPIDs:/' &&
		refused daemonset.yaml 's/privileged: true/privileged: "true"/' &&
		refused daemonset.yaml 's/type: Directory}/type: Folder}/' &&
		refused daemonset.yaml '/apiVersion/d' &&
		refused daemonset.yaml 's/{name: bpf, m/{name: bfp, m/' &&
		refused daemonset.yaml 's/nearcache.nearcache.ready/nearcache.ready/' &&
		refused daemonset.yaml 's/port: 9435/port: 9436/' &&
		refused daemonset.yaml 's/nearcache:0[.0-9]*/nearcache:7.0/' &&
		refused daemonset.yaml 's/^  namespace: .*/  namespace: other/' &&
		refused module.yaml 's/kernelMappings/kernelMapping/' &&
		refused module.yaml 's/dm-nearcache/dm-farcache/' &&
		refused config.yaml 's/  name: nearcache$/  name: Near_Cache/'
}

# The table has a comment in place of a line; without its sign the line is valid.
table() {
	sed -n 's/^# //p' "$dir/nearcachetab" >"$dir/tab"
	grep -q '^imagenet ' "$dir/tab" && mkdir "$dir/units" &&
		"$BUILD/helper/nearcache-generator" "$dir/units" "$dir/units" "$dir/units" "$dir/tab" /dev/null &&
		grep -qx 'TimeoutStartSec=220' "$dir/units/nearcache@imagenet.service.d/50-nearcachetab.conf"
}

# The daemon accepts all lines before one that it cannot accept.
configuration() {
	local said
	echo 'last = 1' | cat "$dir/nearcache.conf" - >"$dir/conf"
	said=$(timeout 60 "$BUILD/helper/nearcached" --config "$dir/conf" 2>&1)
	[[ $said == *"line $(wc -l <"$dir/conf"): 'last' is not a setting"* ]] || { echo "$said"; return 1; }
}

# sources: each file that the Containerfile copies from the source exists.
sources() {
	local word words
	while read -r -a words; do
		for word in "${words[@]:1:${#words[@]}-2}"; do
			compgen -G "$TOP/$word" >/dev/null || { echo "no $word"; return 1; }
		done
	done < <(grep '^COPY [^-]' Containerfile)
	grep -q "/nearcache:$1 " Containerfile
}

check 'the manifests are valid and agree' judge .
check 'broken manifests are refused' rules
check 'the example in nearcachetab' table
check 'nearcache.conf' configuration
check 'the Containerfile copies files of the source' sources "$("$BUILD/helper/nearcache" --version | awk '{ print $2 }')"
finish
