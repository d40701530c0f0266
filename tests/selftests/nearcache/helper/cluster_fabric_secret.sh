#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With a secret only a host that knows it connects, and the secret can be changed and dropped while a
# host is connected. Users cannot read it in configfs, and no log has it. A kernel without
# DH-HMAC-CHAP refuses a secret on both sides.
. ./fabric.sh

# secret N: print a secret; the last four bytes of the key are its CRC-32.
secret() {
	nvme gen-dhchap-key -m 0 -n "$ME" -s "$(printf '%064d' "$1")" | tail -n 1
}

fresh_export
SECRET=$(secret 1)
[[ $SECRET == DHHC-1:00:*: ]] || fail "no secret: $SECRET"
modprobe -a nvmet nvmet-tcp nvme-tcp
# A kernel whose secret is refused may wait for an answer until this timeout.
patience=/sys/module/nvme_core/parameters/admin_timeout
at_exit eval "echo $(<$patience) >$patience"
echo 3 >$patience
mkdir "$CONFIG/hosts/probe"
[[ -e $CONFIG/hosts/probe/dhchap_key ]] && can=1 || can=''
rmdir "$CONFIG/hosts/probe"
if [[ ! $can ]]; then
	bad 4 "cannot check a secret" apply "$NQN" "$D" "$UUID" 127.0.0.1 4420 "$ME"
	same "configfs" "$(config)" ""
	SECRET='' served "$ME"
	bad 4 "cannot prove a secret" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
	! dmesg | grep -qF "$SECRET" || fail "the secret is in the kernel log"
	exit 0
fi
served "$ME"
connected
./blockdata read "$dev" || fail "wrong data"
same "mode of the host's folder" "$(stat -c %a "$CONFIG/hosts/$ME")" 700
same "mode of the secret" "$(stat -c %a "/sys/class/nvme/$controller/dhchap_secret")" 600
# Another secret: the connection stays, and the next one needs the new secret.
old=$SECRET SECRET=$(secret 2)
served "$ME"
./blockdata read "$dev" || fail "wrong data after the change"
good disconnect "$NQN"
for wrong in "$old" ''; do
	SECRET=$wrong bad 2 "no secret or another one" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
done
connected
# No secret any more, and again one.
new=$SECRET
SECRET='' served "$ME"
./blockdata read "$dev" || fail "wrong data without a secret"
good disconnect "$NQN"
# A peer that asks for no secret has proven none.
SECRET=$new bad 2 "does not ask for the secret" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
# Only the kernel log tells.
mv /dev/kmsg /dev/kmsg.away
SECRET=$new fabric connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
mv /dev/kmsg.away /dev/kmsg
[[ $rc == 2 && $err == *"'/dev/kmsg' cannot be read"* ]] || fail "without a log: exit $rc, $err"
SECRET='' connected
SECRET=$new served "$ME"
good disconnect "$NQN"
SECRET='' bad 2 "no secret or another one" connect "$NQN" "$ME" "$ME_ID" 127.0.0.1 4420
SECRET=DHHC-1:09:x: bad 1 "refuses the secret" apply "$NQN" "$D" "$UUID" 127.0.0.1 4420 "$ME" "$OTHER"
same "secret after the undo" "$(<"$CONFIG/hosts/$ME/dhchap_key")" "$new"
[[ ! -e $CONFIG/hosts/$OTHER ]] || fail "the new host is still there"
connected
for each in "$old" "$new"; do
	! dmesg | grep -qF "$each" || fail "the secret is in the kernel log"
done
