# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Unpack packages of Debian into a folder $dir, without installing them and without root. Sourced by
# get and sysroot, which set $dir and $log, and define unavailable().
# shellcheck disable=SC2154 # see above

# shellcheck source=tests/kernels/mirrors.sh
. "$here/mirrors.sh"

# sources RELEASE: print the sources of the release: the same mirrors as for this machine's own.
sources() {
	local main security release=$1 base=${1%-backports} keys=/usr/share/keyrings/debian-archive-keyring.gpg
	main=$(mirror_main)
	security=$(mirror_security)
	[[ $main ]] || unavailable "apt has no source of Debian"
	keys="$([[ ! -e $keys ]] || echo "[signed-by=$keys]")"
	echo "deb $keys $main $base main"
	[[ ! $security ]] || echo "deb $keys $security $base-security main"
	[[ $release == "$base" ]] || echo "deb $keys $main $release main"
}

# configure_apt RELEASE ARCHITECTURE...: let apt work in $dir/apt only, with no package installed. The
# first architecture is that of packages whose name has none.
configure_apt() {
	local release=$1
	shift
	mkdir -p "$dir"/apt/{lists,archives}/partial
	sources "$release" >"$dir/apt/sources.list"
	: >"$dir/apt/status"
	# Root's apt would download as another user, who may not reach this folder.
	cat >"$dir/apt/conf" <<-END
		Dir::State "$dir/apt";
		Dir::State::status "$dir/apt/status";
		Dir::Cache "$dir/apt";
		Dir::Etc::sourcelist "$dir/apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		APT::Architecture "$1";
		APT::Architectures { $(printf '"%s"; ' "$@")};
		APT::Sandbox::User "root";
		APT::Get::Assume-Yes "true";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::http::Timeout "20";
	END
	[[ $release != *-backports ]] || echo "APT::Default-Release \"$release\";" >>"$dir/apt/conf"
	export APT_CONFIG=$dir/apt/conf
}

update_lists() {
	apt-get -q update --error-on=any >>"$log" 2>&1 || unavailable "its list of packages cannot be downloaded"
}

# download WHAT PACKAGE...: download the packages and those that they depend on.
download() {
	apt-get -q --download-only install "${@:2}" >>"$log" 2>&1 || unavailable "its $1 cannot be downloaded"
}

# download_alone WHAT PACKAGE...: download only these packages.
download_alone() {
	(cd "$dir/apt/archives" && apt-get -q download "${@:2}" >>"$log" 2>&1) || unavailable "its $1 cannot be downloaded"
}

# merge_usr: put all programs and libraries below usr/, as on an installed system.
merge_usr() {
	local name
	for name in bin sbin lib lib64; do
		[[ -d $dir/$name && ! -L $dir/$name ]] || continue
		mkdir -p "$dir/usr/$name"
		cp -a "$dir/$name/." "$dir/usr/$name/"
		rm -rf "${dir:?}/$name"
	done
	for name in bin sbin lib lib64; do
		[[ -e $dir/$name || -L $dir/$name ]] || ln -s "usr/$name" "$dir/$name"
	done
}

# relative_links: let absolute links point to files below $dir.
relative_links() {
	local link
	while IFS= read -r link; do
		[[ $(readlink "$link") == "$dir"/* ]] || ln -sfn --relative "$dir$(readlink "$link")" "$link"
	done < <(find "$dir/usr" -type l -lname '/*')
}

# unpack: unpack the packages that apt has downloaded, and delete them.
unpack() {
	local package
	for package in "$dir"/apt/archives/*.deb; do
		dpkg-deb -x "$package" "$dir"
		rm "$package"
	done
	merge_usr
	relative_links
}

