#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The runner (tests/selftests/run) must report the right verdicts: each way in which a test can fail
# must fail this test and no other.
# kernels: 6.12
# when: soak
# timeout: 240
set -uo pipefail
# shellcheck source=tests/tap.sh
. "$TOP/tests/tap.sh"
tests=$HOST_DIR/built/nearcache
mkdir -p "$tests"
echo timeout=60 >"$tests/settings"

# fake NAME VERDICT: add a test with the text on stdin, which must get this verdict.
declare -A wanted
names=()
fake() {
	{
		echo '#!/bin/bash'
		cat
	} >"$tests/$1"
	chmod +x "$tests/$1"
	echo "$1" >>"$HOST_DIR/built/list"
	wanted[$1]=$2
	names+=("$1")
}

fake good.sh pass <<<'. /vm/lib.sh; dmsetup targets | grep -q nearcache'
fake skipped.sh skip <<<'. /vm/lib.sh; skip "not today"'
fake bad.sh fail <<<'exit 1'
fake tap.sh pass <<<'echo ok 1 one; echo "ok 2 two # SKIP no"; echo 1..2'
fake short-plan.sh fail <<<'echo 1..3; echo ok 1 one; echo ok 2 two'
fake not-ok.sh fail <<<'echo not ok 1 one; echo 1..1'
fake warning.sh fail <<<'echo "WARNING: CPU: 0 PID: 1 at x.c:1 f+0x1/0x2" >/dev/kmsg'
fake expected.sh pass <<'END'
# expect-log: WARNING: .*y\.c
echo "WARNING: CPU: 0 PID: 1 at y.c:1 f+0x1/0x2" >/dev/kmsg
END
fake lacking.sh fail <<'END'
# expect-log: this is never said
END
fake skipped-lacking.sh skip <<'END'
# expect-log: this is never said
. /vm/lib.sh
skip "no device"
END
fake device.sh fail <<<'dmsetup create --noudevsync left --table "0 8 zero"'
fake null-device.sh fail <<<'. /vm/lib.sh; null_dev left 8'
fake mounted.sh fail <<<'mkdir -p /mnt/left; mount -t tmpfs none /mnt/left'
fake network.sh fail <<<'ip netns add left'
fake process.sh fail <<<'sleep 1000 &'
fake held-device.sh fail <<'END'
dmsetup create --noudevsync left --table "0 8 zero"
dmsetup mknodes
exec 7</dev/mapper/left
sleep 1000 &
END
fake slow.sh fail <<'END'
# timeout: 3
trap '' TERM
sleep 1000
sleep 1000
END
fake panic.sh fail <<<'echo c >/proc/sysrq-trigger'
fake after.sh pass <<<'exit 0'
fake alone.sh pass <<'END'
# cpus: 1
[[ $(nproc) == 1 ]]
END

unset T SOAK
GRACE=2 CHECK_OUT=$HOST_DIR/check SELFTESTS_SOURCES=$tests SELFTESTS_BUILT=$HOST_DIR/built \
	"$TOP/tests/selftests/run" "$KERNEL" >"$HOST_DIR/ktap"
rc=$?
sed 's/^/# /' "$HOST_DIR/ktap"

verdict_of() {
	sed -nE "s,^(pass|fail|skip)\tguest/$KERNEL/${1//./\\.}(: .*)?\$,\1,p" "$HOST_DIR/check/leaves" |
		sort | uniq | head -n 1
}

for test in "${names[@]}"; do
	check "$test: ${wanted[$test]}" test "$(verdict_of "$test")" = "${wanted[$test]}"
done
check 'the runner fails' test "$rc" -ne 0
check 'one new boot after the panic, one for the other machine' \
	test "$(find "$HOST_DIR/check" -name 'kernel-*.txt' | wc -l)" -eq 3
check 'the log names what was left' grep -q 'left behind: dm devices: left' "$HOST_DIR/check/$KERNEL/device.sh.log"
check 'the log names where a slow test is' grep -qE 'nanosleep' "$HOST_DIR/check/$KERNEL/slow.sh.log"
finish
