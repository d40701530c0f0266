#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Folders of shards as their writers leave them, with files that are no shards: --index-only and
# --samples pass over these files and count them; a file that the user names is refused.
# kernels: 6.12
# cpus: 1
. ./cache.sh
. ./command.sh

M=$TMPDIR/mnt
cd "$TMPDIR" && mkdir "$M" tree tree/mds tree/spark tree/tfds || exit
make_null O origin 64
make_null C local 32
# Two samples of 3 and 1 bytes after "{}".
for i in 0 1; do
	printf '\2\0\0\0\22\0\0\0\25\0\0\0\26\0\0\0{}abcd' >tree/mds/shard.0000$i.mds
done
echo '{"shards": [], "version": 2}' >tree/mds/index.json
# One row group of one chunk: column "c", 6 bytes at offset 4.
printf '%b' 'PAR1xxxxxx\0111\0034\0031\0034\0074\0071\0030\0001c\0106\0014\0046\0010\0\0\0\0' \
	'\0021\0\0\0PAR1' >tree/spark/part-00000-x.snappy.parquet
: >tree/spark/_SUCCESS
printf 'crc\0\0\0\2\0\0\0\0\0' | tee tree/spark/._SUCCESS.crc >tree/spark/.part-00000-x.snappy.parquet.crc
# Length 8 with its checksum, and the checksum of "12345678"; a shard without samples.
printf '%b' '\0010\0\0\0\0\0\0\0\0377\0206\0044\0017' 12345678 '\0347\0253\0267\0243' \
	>tree/tfds/x-train.tfrecord-00000-of-00002
: >tree/tfds/x-train.tfrecord-00001-of-00002
echo '{}' | tee tree/tfds/dataset_info.json >tree/tfds/features.json
# A zip file that is not npz, and a damaged shard, beside a shard.
mkdir tree/mixed && cp tree/mds/shard.00000.mds tree/mixed || exit
printf 'PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\6\0\0\0a.jpeg' >tree/mixed/annotations.zip
printf damaged >tree/mixed/x.tar
mkfs.ext4 -qF -O ^inline_data -d tree "$O" 2>/dev/null || fail "mkfs.ext4"
good create nc --origin "$O" --cache "$C" --block-size 64K --force
at_exit dm_gone nc
mount -o ro /dev/mapper/nc "$M" || fail mount
at_exit umount "$M"

good pin nc "$M/mds" --index-only --no-load -j
expect shard_count 2 bytes 1024 passed_over 1
good pin nc "$M/spark" --index-only --no-load -j
expect shard_count 1 passed_over 3
good prefetch nc "$M/mds" --samples 0 -j
expect shard_count 2 passed_over 1
bad 4 "'$M/tfds/dataset_info.json', byte 0: unknown format" residency nc "$M/tfds/dataset_info.json" --samples 0
good residency nc "$M/tfds" --samples 0 -j
expect shard_count 1 passed_over 3
# Names of --from are names of the user, but what a directory in the list contains is not.
good residency nc --from <(echo "$M/mds") --index-only -j
expect shard_count 2 passed_over 1
bad 4 "none of the 4 files can be used: '$M/tfds/x-train.tfrecord-00001-of-00002': a shard of format tfrecord has no index" \
	pin nc "$M/tfds" --index-only
bad 4 "'$M/mds/index.json', byte 0: unknown format" pin nc "$M/mds" --index-only --strict
# A damaged file is not brought without its data unnoticed, but it hides nothing.
good residency nc "$M/mixed" --samples 0 -j
expect shard_count 1 passed_over 2
bad 4 "'$M/mixed/x.tar', byte 0: " pin nc "$M/mixed" --index-only
good pin nc "$M/mixed/*[sp]" --index-only --no-load -j
expect shard_count 1 passed_over 1
bad 1 "'--samples' is not an option of 'invalidate'" invalidate nc "$M/mixed" --samples 0
good unpin nc --all
