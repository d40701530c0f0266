#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# systemd accepts the generator's output for a table: names, order, no cycle.
# timeout: 240
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
cd "$TOP" || exit
dir=$BUILD/static/units
rm -rf "$dir"
mkdir -p "$dir"
unset MAKEFLAGS MFLAGS MAKELEVEL
make -s --no-print-directory "BUILD=$BUILD" install-helper "DESTDIR=$dir/root" PREFIX=/usr >/dev/null || exit
generator=$dir/root/usr/lib/systemd/system-generators/nearcache-generator
# shellcheck disable=SC2016 # a name
cat >"$dir/tab" <<'END'
plain   /dev/o /dev/c
a-b.c@1 /dev/disk/by-id/o UUID=ffc45aad-60bf-42f0-88b9-7283dbfab37d _netdev,fail,timeout=7
.x#+=:_ /dev/o /dev/c
lazy    /dev/o /dev/c noauto
wrong   /dev/o
early   /dev/o /dev/c
state   /dev/o /dev/c
data-home /dev/o /dev/c _netdev,cluster=/etc/nearcache/data.conf
off-home /dev/o /dev/c noauto,cluster=/etc/off.conf
END
cat >"$dir/fstab" <<'END'
# /dev/mapper/plain /early ext4 defaults 0 0
/dev/mapper/plain /data ext4 ro,_netdev 0 0
/dev/mapper/early /early ext4 defaults,_netdevice 0 0
/dev/mapper/state /var/lib ext4 _netdev 0 0
LABEL=late /more\040d.ta/.x-1// xfs nofail,_netdev 0 0
server:/home /home nfs noauto,_netdev 0 0
END

generated() {
	mkdir -p "$dir/out" && "$generator" "$dir/out" "$dir/out" "$dir/out" "$dir/tab" "$dir/fstab" 2>"$dir/said"
}

names() {
	local name
	for name in plain 'a-b.c@1' '.x#+=:_'; do
		name=nearcache@$(systemd-escape "$name").service
		[[ -e $dir/out/$name.d/50-nearcachetab.conf ]] || { echo "no $name"; return 1; }
	done
}

wanted() {
	[[ -L $dir/out/remote-fs.target.wants/nearcache@plain.service &&
		-L $dir/out/remote-fs.target.requires/nearcache@a\\x2db.c\\x401.service &&
		! -e $dir/out/remote-fs.target.wants/nearcache@lazy.service &&
		-L $dir/out/dev-mapper-lazy.device.wants/nearcache@lazy.service &&
		! -e $dir/out/nearcache@wrong.service.d ]]
}

told() {
	grep -q "line 5 is left out: write NAME ORIGIN CACHE" "$dir/said"
}

# A device needed before it can exist: no unit waits for it, and the generator reports the reason.
too_early() {
	grep -q "line 6: no unit waits for 'early': '$dir/fstab' line 3: .* add the options _netdev,nofail" "$dir/said" &&
		grep -q "line 7: no unit waits for 'state': '$dir/fstab' line 4 mounts" "$dir/said" &&
		[[ ! -e $dir/out/dev-mapper-early.device.d && ! -e $dir/out/dev-mapper-early.device.wants &&
			! -e $dir/out/dev-mapper-state.device.d && -e $dir/out/dev-mapper-plain.device.d &&
			-L $dir/out/remote-fs.target.wants/nearcache@early.service ]] &&
		! grep -q "'plain'" "$dir/said"
}

says() {
	local file=$dir/out/nearcache@a\\x2db.c\\x401.service.d/50-nearcachetab.conf
	grep -qx 'After=network-online.target' "$file" && grep -qx 'TimeoutStartSec=107' "$file" &&
		! grep -q network-online "$dir/out/nearcache@plain.service.d/50-nearcachetab.conf"
}

# Refresh pins after the mounts that may hold their files, even if the boot does not wait for these
# mounts.
pins() {
	[[ $(readlink "$dir/out/multi-user.target.wants/nearcache-pins.service") -ef \
		$dir/root/usr/lib/systemd/system/nearcache-pins.service ]] || return
	grep -qxF "After=$(printf '%s ' data.mount var-lib.mount "$(systemd-escape -p '/more d.ta/.x-1').mount" | sed 's/ $//')" \
		"$dir/out/nearcache-pins.service.d/50-nearcachetab.conf"
	# Without a line in the table the service is not wanted.
	mkdir -p "$dir/none" && : >"$dir/notab" && "$generator" "$dir/none" "$dir/none" "$dir/none" "$dir/notab" "$dir/fstab" &&
		[[ ! -e $dir/none/multi-user.target.wants ]]
}

# A cluster is joined by the file of its line, and no target of the boot requires that. A boot in the
# middle of an invalidation of all nodes takes no old data of the others.
clusters() {
	local file=$dir/out/nearcache-cluster@data.service.d/50-nearcachetab.conf
	grep -q '^ExecStart=.* cluster join %I --no-warm ' "$dir/root/usr/lib/systemd/system/nearcache-cluster@.service" &&
		grep -qx 'ConditionPathExists=/etc/nearcache/data.conf' "$file" &&
		grep -qx 'Environment="JOIN_OPTIONS=--config /etc/nearcache/data.conf"' "$file" &&
		[[ -L $dir/out/multi-user.target.wants/nearcache-cluster@data.service &&
			-L $dir/out/dev-mapper-data.device.wants/nearcache-cluster@data.service &&
			-L $dir/out/remote-fs.target.wants/nearcache@data\\x2dhome.service &&
			-e $dir/out/nearcache-cluster@off.service.d &&
			! -e $dir/out/multi-user.target.wants/nearcache-cluster@off.service ]] &&
		! find "$dir/out" -path '*.requires/*cluster*' -o -path '*/remote-fs*/*cluster*' | grep .
}

# Drop-ins are only for units of nearcache devices.
only_ours() {
	! find "$dir/out" -name 'dev-*' ! -name 'dev-mapper-*' | grep .
}

# The usual setup: /var is a network mount, and a file system is mounted on the device.
verified() {
	cat >"$dir/out/var.mount" <<-'END'
		[Unit]
		After=remote-fs-pre.target network.target network-online.target
		Before=remote-fs.target
		[Mount]
		What=server:/var
		Where=/var
		Type=nfs
	END
	cat >"$dir/out/data.mount" <<-'END'
		[Unit]
		After=remote-fs-pre.target network.target blockdev@dev-mapper-plain.target
		Before=remote-fs.target
		[Mount]
		What=/dev/mapper/plain
		Where=/data
		Options=_netdev
	END
	cat >"$dir/out/early.mount" <<-'END'
		[Unit]
		Before=local-fs.target
		[Mount]
		What=/dev/mapper/early
		Where=/early
	END
	# The service that logs in to the origin's storage.
	cat >"$dir/out/login.service" <<-'END'
		[Unit]
		DefaultDependencies=no
		Wants=remote-fs-pre.target
		After=network-online.target
		Before=remote-fs-pre.target
		[Service]
		ExecStart=/bin/true
	END
	mkdir -p "$dir/out/local-fs.target.requires"
	ln -sf ../early.mount "$dir/out/local-fs.target.requires/"
	ln -sf ../data.mount ../var.mount ../login.service "$dir/out/remote-fs.target.wants/"
	sed "s,/usr/sbin/nearcache,$dir/root/usr/sbin/nearcache," "$dir/root/usr/lib/systemd/system/nearcache@.service" \
		>"$dir/out/nearcache@.service"
	sed "s,/usr/sbin/nearcache,$dir/root/usr/sbin/nearcache," "$dir/root/usr/lib/systemd/system/nearcache-pins.service" \
		>"$dir/out/nearcache-pins.service"
	sed "s,/usr/sbin/nearcache,$dir/root/usr/sbin/nearcache," "$dir/root/usr/lib/systemd/system/nearcache-daemon.service" \
		>"$dir/out/nearcache-daemon.service"
	sed "s,/usr/sbin/nearcache,$dir/root/usr/sbin/nearcache," "$dir/root/usr/lib/systemd/system/nearcache-cluster@.service" \
		>"$dir/out/nearcache-cluster@.service"
	ln -sf ../nearcache-pins.service ../nearcache-daemon.service "$dir/out/multi-user.target.wants/"
	SYSTEMD_UNIT_PATH=$dir/out: systemd-analyze verify --man=no remote-fs.target nearcache@plain.service \
		nearcache-pins.service nearcache-daemon.service multi-user.target nearcache-cluster@plain.service nearcache-cluster@data.service \
		data.mount var.mount early.mount login.service local-fs.target >"$dir/verify" 2>&1
	! grep -E 'cycle|nearcache|data\.mount|early\.mount' "$dir/verify"
}

# The examples that are installed: no line is left out, and the daemon reads all settings up to a last,
# invalid one.
examples() {
	local share=$dir/root/usr/share/nearcache conf=$dir/nearcache.conf said
	mkdir -p "$dir/example"
	said=$("$generator" "$dir/example" "$dir/example" "$dir/example" "$share/nearcachetab.example" "$dir/fstab" 2>&1)
	[[ ! $said && -e $dir/example/nearcache@scratch.service.d/50-nearcachetab.conf ]] || { echo "$said"; return 1; }
	{ sed 's/^# \(metrics-[a-z]* = \)/\1/' "$share/nearcache.conf.example"; echo 'last = 1'; } >"$conf"
	said=$(timeout 60 "$BUILD/helper/nearcached" --config "$conf" 2>&1)
	[[ $said == *"line $(wc -l <"$conf"): 'last' is not a setting"* ]] || { echo "$said"; return 1; }
}

# The daemon is exposed as little as its work allows: systemd 252 rates it 3.0 of 10. Versions differ, so
# the lines that count are compared too.
exposed() {
	local unit=$dir/root/usr/lib/systemd/system/nearcache-daemon.service
	systemd-analyze security --no-pager --offline=true --threshold=35 "$unit" >"$dir/security" 2>&1 ||
		{ grep -E '✗|Overall' "$dir/security"; return 1; }
	grep -qx 'SystemCallFilter=@system-service bpf' "$unit" && grep -qx 'SystemCallFilter=~@resources' "$unit"
}

check 'the generator runs' generated
check 'names are as systemd-escape makes them' names
check 'dependencies of the units' wanted
check 'an invalid line is reported' told
check 'options' says
check 'a mount that is too early' too_early
check 'pins are refreshed' pins
check 'a cluster is joined' clusters
check 'units of nearcache devices only' only_ours
check 'the examples are valid' examples
if type -P systemd-analyze >/dev/null; then
	check 'systemd-analyze verify' verified
	check 'systemd-analyze security' exposed
else
	pass_over 'systemd-analyze verify' 'no systemd here'
	pass_over 'systemd-analyze security' 'no systemd here'
fi
finish
