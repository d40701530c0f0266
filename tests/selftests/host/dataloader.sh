#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Real PyTorch DataLoaders with 3 workers, map-style and iterable, persistent and not, read 600 files
# of a file system on a cache. In the first epoch no worker may be called shuffled, looping or
# random; at the end of the third epoch all workers must be called shuffled (map-style, RandomSampler)
# or looping (iterable, a fixed order).
#
# Skips where torch (Debian: python3-torch) is not installed. A drive brings it to the guest: an image
# of the files that the same loaders open on the host.
# when: soak
# kernels: 6.12
# timeout: 900
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

python=/usr/bin/python3
"$python" -c 'import torch' 2>/dev/null || {
	echo "# SKIP $python has no torch: install python3-torch" && exit 4
}

cat >"$HOST_DIR/loaders.py" <<'END'
# loaders.py FOLDER [list]: for each loader print "NAME CLASS BEGIN END PID,PID,PID": its class, when
# its first epoch begins and ends (ns), and the workers of the last epoch. With "list" also print the
# files that it has opened.
import os, random, sys, time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

folder = sys.argv[1]
names = sorted(os.listdir(folder))
random.Random(1).shuffle(names)

# Read a sample and drop it from the page cache, as if the dataset were larger than the memory.
def sample(name):
    with open(os.path.join(folder, name), 'rb') as f:
        size = len(f.read())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return torch.tensor([size, os.getpid()])

class Files(Dataset):
    def __len__(self):
        return len(names)
    def __getitem__(self, i):
        return sample(names[i])

class Stream(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        return map(sample, names[worker.id::worker.num_workers])

def load(style, word, persistent):
    dataset = Files() if style == 'map' else Stream()
    loader = DataLoader(dataset, batch_size=8, num_workers=3, persistent_workers=persistent,
                        shuffle=True if style == 'map' else None)
    ends = [time.monotonic_ns()]
    for epoch in range(3):
        pids, count = set(), 0
        for batch in loader:
            pids |= set(batch[:, 1].tolist())
            count += len(batch)
        assert count == len(names), count
        ends.append(time.monotonic_ns())
    kind = 'persistent' if persistent else 'respawned'
    print(f'{style}-{kind}', word, *ends[:2], ','.join(map(str, sorted(pids))), flush=True)

# Each loader runs in a child process, so that its three workers are no siblings of the others.
for style, word in ('map', 5), ('iterable', 6):
    for persistent in True, False:
        child = os.fork()
        if not child:
            load(style, word, persistent)
            for line in open('/proc/self/maps') if len(sys.argv) > 2 else ():
                print('FILE', line.split(maxsplit=5)[5].strip() if '/' in line else '')
            for module in list(sys.modules.values()) if len(sys.argv) > 2 else ():
                print('FILE', getattr(module, '__file__', None) or '')
                print('FILE', getattr(module, '__cached__', None) or '')
            sys.stdout.flush()
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit('the loader fails')
END

# The image: all files that the loaders open here, and their shared libraries by the names that
# ldconfig gives them.
root=$HOST_DIR/root
mkdir -p "$HOST_DIR/few" "$root"/{dev,proc,tmp,data,etc,usr/bin}
for i in {1..60}; do
	echo "$i" >"$HOST_DIR/few/$i"
done
"$python" -W ignore "$HOST_DIR/loaders.py" "$HOST_DIR/few" list >"$HOST_DIR/listed"
{
	sed -n 's/^FILE \(\/.*\)$/\1/p' "$HOST_DIR/listed"
	ldd "$(readlink -f "$python")" | grep -o '/[^ ]*'
	readlink -f "$python"
} | sort -u | grep -Ev '^/(dev|proc|tmp)/' | grep -Fv "$HOST_DIR/" >"$HOST_DIR/files"
while read -r file; do
	[[ ! -f $file ]] || install -Dp "$file" "$root$file"
done <"$HOST_DIR/files"
grep '\.so' "$HOST_DIR/files" | grep -v /python3 | xargs -d '\n' dirname | sort -u >"$root/etc/ld.so.conf"
ldconfig -r "$root"
# Some modules of torch do not tell their files.  It looks for libraries by links in its folder.
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
find "$torch" -name test -prune -o '(' -name '*.py*' -o -path "$torch/lib/*" -type l ')' -print0 |
	tar -cP --null -T - | tar -x -C "$root"
install -D "$torch/bin/torch_shm_manager" "$root$(readlink -f "$torch/bin/torch_shm_manager")"
ln -s "$(basename "$(readlink -f "$python")")" "$root/usr/bin/python3"
install "$HOST_DIR/loaders.py" "$root/loaders.py"
mkfs.ext4 -qF -d "$root" "$HOST_DIR/torch.img" "$(($(du -sm "$root" | cut -f 1) * 5 / 4 + 64))M"
rm -rf "$root"

mkdir "$HOST_DIR/boot"
cat >"$HOST_DIR/boot/measure.sh" <<'MEASURE'
insmod "$MODULE"
modprobe virtio_blk || fail "no virtio_blk"
T=$TMPDIR/torch
mkdir -p "$T" "$TMPDIR/new" /dev/shm
mount -o ro /dev/vda "$T" || fail "no image"
for folder in dev proc; do
	mount --rbind /$folder "$T/$folder" || fail "mount"
done
mount -t tmpfs none "$T/tmp" || fail "mount"
make_null O origin 96
make_null C local 128
mkfs.ext4 -qF -b 4096 -E nodiscard "$O" || fail "mkfs"
mount "$O" "$TMPDIR/new" || fail "mount"
for ((i = 0; i < 600; i++)); do
	head -c $((16000 + i * 50)) /dev/zero >"$TMPDIR/new/$i"
done
rmdir "$TMPDIR/new/lost+found"
umount "$TMPDIR/new"
format
start
mount -o ro /dev/mapper/nc "$T/data" || fail "mount"
at_exit umount "$T/data"
grep -q " /sys/fs/bpf bpf" /proc/mounts || mount -t bpf bpf /sys/fs/bpf || fail "no BPF file system"
nearcache classifier load >/dev/null || fail "no classifier"
./changes /sys/fs/bpf/nearcache/classifier/changes >"$TMPDIR/events" &
listener=$!
chroot "$T" /usr/bin/python3 -W ignore /loaders.py /data >"$TMPDIR/loaders" || fail "the loaders"
kill $listener
wait $listener || fail "changes"
cat "$TMPDIR/loaders" "$TMPDIR/events"
awk '
	function bad(text) { print "# " text; failed = 1 }
	# The lines of ./changes: TIME PID WRITES FROM TO ...
	FILENAME == ARGV[1] { n++; at[n] = $1; pid[n] = $2; to[n] = $5; next }
	# The lines of loaders.py.
	{
		for (i = 1; i <= n; i++)
			if (at[i] >= $3 && at[i] <= $4 && to[i] > 4)
				bad($1 ": class " to[i] " of process " pid[i] " in the first epoch")
		count = split($5, worker, ",")
		if (count != 3)
			bad($1 ": " count " workers")
		for (k = 1; k <= count; k++) {
			last = 0
			for (i = 1; i <= n; i++)
				if (pid[i] == worker[k])
					last = to[i]
			if (last != $2)
				bad($1 ": class " last " of worker " worker[k] ", not " $2)
		}
		loaders++
	}
	END { exit failed || loaders != 4 }' "$TMPDIR/events" "$TMPDIR/loaders" || fail "wrong classes"
MEASURE

"$TOP/tests/vm/run" --kernel "$KERNEL" --timeout 800 --memory 3G --no-drives \
	--qemu "-drive file=$HOST_DIR/torch.img,if=none,id=torch,format=raw,readonly=on" \
	--qemu "-device virtio-blk-pci,drive=torch" \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR/boot:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /boot/measure.sh"
