# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Choose the kernel to boot. Sourced by run and mkinitrd.

die() {
	echo "vm: $*" >&2
	exit 125
}

# need PROGRAM PACKAGE: end if the host lacks the program.
need() {
	type -P "$1" >/dev/null || die "'$1' is missing on this host: install the package '$2'"
}

# The kernel 'debug' is built by tests/debug. It is far slower than the others.
kernel_debug_dir() {
	echo "${DEBUG_KERNEL:-${BUILD:-build}/debug}"
}

# kernel_slow KERNEL: print the factor by which all time limits grow on this kernel.
kernel_slow() {
	if [[ $1 == debug ]]; then
		echo "${SLOW:-8}"
	else
		echo "${SLOW:-1}"
	fi
}

# kernel_fetched KERNEL: is it the name of a Debian release, perhaps with an architecture and a size of
# pages (trixie-arm64-16k), whose kernel tests/kernels/get gets?
kernel_fetched() {
	[[ $1 =~ ^[a-z]+(-backports)?(-arm64(-16k)?)?$ && $1 != debug ]]
}

# kernel_built KERNEL: is it one that the tests build from source?
kernel_built() {
	[[ $1 == debug || $1 == arm64-64k ]]
}

# kernel_arch KERNEL: print the name that Debian has for its architecture.
kernel_arch() {
	case $1 in
	*-arm64 | *-arm64-* | arm64-64k) echo arm64 ;;
	*) echo amd64 ;;
	esac
}

# kernel_triplet ARCHITECTURE: print the prefix of the programs of its compiler.
kernel_triplet() {
	case $1 in
	arm64) echo aarch64-linux-gnu ;;
	s390x) echo s390x-linux-gnu ;;
	*) echo x86_64-linux-gnu ;;
	esac
}

# kernel_sysroot KERNEL: print the folder of the programs and libraries of its guest; nothing if they
# are this machine's.
kernel_sysroot() {
	local arch
	arch=$(kernel_arch "$1")
	[[ $arch == amd64 ]] || "${BASH_SOURCE%/*}/../kernels/sysroot" "$arch"
}

# kernel_cache: print the folder of what tests/kernels gets.
kernel_cache() {
	echo "${KERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nearcache}"
}

# kernel_dir KERNEL: print the folder of a built or fetched kernel.
kernel_dir() {
	if [[ $1 == debug ]]; then
		kernel_debug_dir
	else
		echo "$(kernel_cache)/$1"
	fi
}

# kernel_root KERNEL: print the folder of its boot/ and lib/modules/: KERNEL_ROOT for installed kernels.
kernel_root() {
	if kernel_built "$1"; then
		echo "$(kernel_dir "$1")/root"
	elif kernel_fetched "$1"; then
		kernel_dir "$1"
	else
		echo "${KERNEL_ROOT:-}"
	fi
}

# kernel_headers KERNEL: print the folder of its headers.
kernel_headers() {
	if kernel_built "$1"; then
		echo "$(kernel_dir "$1")/o"
	else
		readlink -f "$(kernel_root "$1")/lib/modules/$(kernel_pick "$1" "$(kernel_root "$1")")/build"
	fi
}

# kernel_file NAME RELEASE ROOT: print its vmlinuz or config: below boot/, or beside the modules,
# where Debian's packages have them since 7.0.
kernel_file() {
	local file=$3/lib/modules/$2/$1
	[[ -e $file && ! -e $3/boot/$1-$2 ]] || file=$3/boot/$1-$2
	echo "$file"
}

# kernel_releases PATTERN ROOT: print the releases of the kernels below ROOT that match, oldest first.
kernel_releases() {
	local file
	{
		compgen -G "$2/boot/vmlinuz-$1"
		compgen -G "$2/lib/modules/$1/vmlinuz"
	} | while IFS= read -r file; do
		file=${file%/vmlinuz}
		file=${file##*/}
		file=${file#vmlinuz-}
		[[ ! -d $2/lib/modules/$file ]] || echo "$file"
	done | sort -uV
}

# kernel_pick WANTED ROOT: print the release string of the kernel WANTED: the name of a built or
# fetched kernel, or the newest below ROOT that matches (6.1, 6.12, or a full release string).
# The cloud flavour wins: it has NVMe and virtio built in and boots faster.
kernel_pick() {
	local wanted=$1 root=$2 release found='' cloud=''
	if kernel_built "$wanted" || kernel_fetched "$wanted"; then
		cat "$(kernel_dir "$wanted")/release" 2>/dev/null ||
			die "no kernel '$wanted' in $(kernel_dir "$wanted"): run $(kernel_source "$wanted")"
		return
	fi
	if [[ -e $(kernel_file vmlinuz "$wanted" "$root") ]]; then
		echo "$wanted"
		return
	fi
	while IFS= read -r release; do
		found=$release
		[[ $release != *cloud* ]] || cloud=$release
	done < <(kernel_releases "${wanted}[.-]*" "$root")
	found=${cloud:-$found}
	[[ $found ]] || die "no kernel '$wanted' with its modules in $root/boot: install" \
		"linux-image-$(kernel_package "$wanted") (found: $(kernel_list "$root"))"
	echo "$found"
}

# kernel_source KERNEL: print the command that makes a kernel that is not installed.
kernel_source() {
	if [[ $1 == debug ]]; then
		echo "tests/debug/build $(kernel_debug_dir)"
	elif kernel_built "$1"; then
		echo "tests/kernels/build_64k"
	else
		echo "tests/kernels/get $1"
	fi
}

kernel_package() {
	case $1 in
	6.12*) echo 6.12-cloud-amd64 ;;
	*) echo amd64 ;;
	esac
}

kernel_list() {
	local list
	list=$(kernel_releases '*' "$1" | paste -sd, | sed 's/,/, /g') || true
	echo "${list:-none}"
}

# kernel_unpack IMAGE CONFIG TARGET: unpack the ELF kernel of a bzImage into TARGET, as a cache. The
# emulator starts an ELF kernel at once; the image's own decompressor takes seconds under emulation.
# Prints the file to boot: TARGET, or IMAGE if it cannot be unpacked here.
kernel_unpack() {
	local image=$1 config=$2 target=$3 setup start size magic
	# The emulator enters an ELF kernel by the PVH protocol only.
	if ! grep -qs '^CONFIG_PVH=y' "$config"; then
		echo "$image"
		return
	fi
	if [[ $target -nt $image ]]; then
		echo "$target"
		return
	fi
	# Offsets of the x86 boot protocol: setup_sects, payload_offset, payload_length.
	setup=$(od -An -tu1 -j 497 -N 1 "$image")
	start=$(((setup + 1) * 512 + $(od -An -tu4 -j 584 -N 4 "$image")))
	# The payload ends with its unpacked size, four bytes that the decompressor must not get.
	size=$(($(od -An -tu4 -j 588 -N 4 "$image") - 4))
	magic=$(od -An -tx1 -j "$start" -N 4 "$image")
	case $magic in
	*fd*37*7a*58*) set -- xz -dc ;;
	*28*b5*2f*fd*) set -- zstd -qdc ;;
	*1f*8b*) set -- gzip -dc ;;
	*) set -- false ;;
	esac
	if dd if="$image" bs=1M iflag=skip_bytes,count_bytes skip="$start" count="$size" status=none |
		"$@" >"$target.$$" 2>/dev/null &&
		[[ $(head -c 4 "$target.$$") == $'\x7fELF' ]]; then
		mv "$target.$$" "$target"
		echo "$target"
	else
		rm -f "$target.$$"
		echo "$image"
	fi
}
