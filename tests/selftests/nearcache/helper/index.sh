#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nearcache index: its output on shards of each format, its errors, and its use by an ordinary user.
# Through a cache it must read only the headers of a shard.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

# bytes TEXT...: print with octal escapes.
bytes() {
	printf '%b' "$@"
}

# shards: create one shard of each format.
shards() {
	local i
	mkdir files
	for i in 1 2 3; do
		echo "$i" >files/$i.cls
		head -c 5000 /dev/zero >files/$i.jpg
	done
	(cd files && busybox tar -cf ../a.tar ./*.cls ./*.jpg && busybox tar -cf ../b.tar ./*.*)
	gzip -c a.tar >a.tar.gz
	# Lengths 8 and 24 with their checksums, and the checksum of "12345678".
	bytes '\0010\0\0\0\0\0\0\0\0377\0206\0044\0017' 12345678 '\0347\0253\0267\0243' >good.tfrecord
	cp good.tfrecord bad.tfrecord
	bytes '\0030\0\0\0\0\0\0\0\0243\0177\0113\0042' abcdefghijklmnopqrstuvwx 'none' >>bad.tfrecord
	# Two samples of 3 and 1 bytes after "{}".
	bytes '\0002\0\0\0\0022\0\0\0\0025\0\0\0\0026\0\0\0{}abcd' >a.mds
	# One row group of one chunk: column "c", 6 bytes at offset 4.
	bytes 'PAR1xxxxxx\0111\0034\0031\0034\0074\0071\0030\0001c\0106\0014\0046\0010\0\0\0\0' \
		'\0021\0\0\0PAR1' >a.parquet
	# One array, "a.npy", of 2 bytes.
	bytes 'PK\0003\0004\0024\0\0\0\0\0\0\0\0\0\0\0\0\0\0002\0\0\0\0002\0\0\0\0005\0\0\0a.npyhi' \
		'PK\0001\0002\0024\0\0024\0\0\0\0\0\0\0\0\0\0\0\0\0\0002\0\0\0\0002\0\0\0\0005\0\0\0\0\0\0\0\0\0' \
		'\0\0\0\0\0\0\0\0a.npy' \
		'PK\0005\0006\0\0\0\0\0001\0\0001\0\0063\0\0\0\0045\0\0\0\0\0' >a.npz
}

# shows FORMAT SAMPLES INDEX_BYTES FILE: fail unless the index of FILE has these values.
shows() {
	good index -j "$4"
	json_keys schema files path format size sample_count index_bytes index samples
	expect path "$4" format "$1" sample_count "$2" index_bytes "$3" size "$(stat -c %s "$4")"
}

each_format() {
	shows tar 6 0 a.tar
	json_keys samples number offset length name parts name offset length
	expect number 0 offset 0 length 1024 name ./1
	shows tar 3 0 b.tar
	shows tfrecord 2 0 bad.tfrecord
	expect offset 0 length 24
	shows mds 2 18 a.mds
	shows parquet 1 25 a.parquet
	json_keys samples number offset length parts
	shows npz 1 79 a.npz
	good index --samples 1,=./1 b.tar
	[[ $out == *$'\nNUMBER '*$'\n     0 '*' ./1'$'\n     1 '*' ./2' ]] || fail "index: $out"
	good index --summary ./*.tar a.mds
	[[ $(wc -l <<<"$out") == 4 && $out == FORMAT*tar*a.tar*tar*b.tar*mds*a.mds ]] ||
		fail "index --summary: $out"
	good index --format tfrecord --check good.tfrecord
}

refused() {
	bad 1 'needs FILE...' index
	bad 1 "--format 'zip': give tar," index --format zip a.npz
	bad 1 "'--force' is not an option of 'index'" index --force a.npz
	bad 1 "has samples 0 to 2" index b.tar --samples 0-3
	bad 1 "'4': 'a.mds' has samples 0 to 1" index a.mds --samples 4
	bad 1 '--summary and --samples exclude each other' index a.mds --samples 0 --summary
	bad 1 'has format mds; only tfrecord' index a.mds --check
	bad 4 "'nothing'" index nothing
	bad 4 "'files' is not a regular file" index files
	bad 4 "'/dev/null' is not a regular file" index /dev/null
	bad 4 "'files/1.jpg', byte 0: unknown format" index files/1.jpg
	bad 4 "this one does not: was it cut off?" index --format parquet a.tar
	bad 4 "'a.tar.gz', byte 0: the file is compressed (gzip)" index a.tar.gz
	bad 4 "'bad.tfrecord', byte 36: the checksum of the 24 data bytes" index --check bad.tfrecord
	# The command must also show the files before and behind the bad file.
	head -c 5000 b.tar >cut.tar
	bad 4 "1 of 3 files are not listed: 'cut.tar', byte 1024: a member of 5000 bytes reaches beyond" \
		index a.mds cut.tar b.tar
	json_keys files path format path format problems path code error error code message
	expect path a.mds code 4
}

as_nobody() {
	grep -q ^nobody: /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
	# By default the guest's root directory is closed to other users.
	chmod 755 / "$PWD"
	out=$(busybox start-stop-daemon -S -q -c nobody -x /usr/sbin/nearcache -- index --summary "$PWD/a.mds") ||
		fail "index as nobody"
	[[ $out == *mds*a.mds ]] || fail "index as nobody: $out"
	chmod 600 a.mds
	rc=0
	busybox start-stop-daemon -S -q -c nobody -x /usr/sbin/nearcache -- index "$PWD/a.mds" 2>err || rc=$?
	[[ $rc == 2 && $(<err) == *"cannot open '$PWD/a.mds'"* ]] || fail "not permitted: exit $rc, $(<err)"
}

# through_cache: index 40 samples of 256 KiB in a file system on a cache. The command must read only
# header pages from the origin, once, and print the exact range of a sample.
through_cache() {
	local i offset length
	mkdir large mnt
	for i in {10..49}; do
		yes "sample $i" | head -c 256k >large/$i.bin
	done
	make_null O origin 32
	make_null C local 24
	mkfs.ext4 -q "$O" && mount "$O" mnt || fail "no file system"
	(cd large && busybox tar -cf ../mnt/large.tar -- *)
	umount mnt
	format
	start
	mount -o ro /dev/mapper/nc mnt || fail "mount"
	at_exit umount "$PWD/mnt"
	stat mnt/large.tar >/dev/null
	origin_mark
	good index -j mnt/large.tar
	expect format tar sample_count 40
	(($(origin_delta) < 400000)) || fail "$(origin_delta) bytes were read from the origin"
	settle
	drop_caches
	origin_mark
	good index -j mnt/large.tar --samples 17,=27
	same "bytes from the origin, again" "$(origin_delta)" 0
	offset=$(json offset) length=$(json length)
	tail -c +$((offset + 1 + 512)) mnt/large.tar | head -c $((length - 512)) | cmp - large/27.bin ||
		fail "sample 27 is not at $offset"
}

type -P nearcache >/dev/null || skip "the nearcache command is not built"
cd "$TMPDIR" || exit
shards
each_format
refused
as_nobody
through_cache
