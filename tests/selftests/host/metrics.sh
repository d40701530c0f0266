#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# promtool and a real Prometheus must accept the output of 'nearcache metrics', and the rules and
# the dashboard may query only metrics in it.
# kernels: 6.12
set -euo pipefail
fail() {
	echo "FAIL: $*" >&2
	exit 1
}
promtool=$(type -P promtool) || fail "no promtool: make deps"

cat >"$HOST_DIR/measure.sh" <<'END'
. ./command.sh
insmod "$MODULE" 2>/dev/null || true
make_null O origin 16 completion_nsec=1000000
make_null C local 24
./blockdata write "$O"
at_exit run latency unload
at_exit dm_gone nc
good create nc --origin "$O" --cache "$C" --block-size 64K
good latency load
# A cluster device above the cache, with a peer that serves nothing yet.
make_dm P peer "0 $(sectors "$O") linear $O 0"
make_dm CL cl "0 $(sectors "$O") nearcache-peers /dev/mapper/nc $O 64 1 me 3 me 1 - one 1 $P two 1 -"
# A stage, which is below no cache.
make_null SO stage-origin 16
make_null SL stage-log 24
./stage_format "$SL" "$(sectors "$SO")"
make_dm ST st "0 $(sectors "$SO") nearcache-stage $SL $SO"
# Use a label whose quotes must be escaped in the output.
good pin nc 0-1M --label 'a "b" c' --no-load
check -n 8192 -b 64 >/dev/null
check -n 8192 -b 64 >/dev/null
settle
run metrics --json
[[ $rc == 1 && $out == *"metrics have no JSON form"* ]] || fail "metrics as JSON: $rc $out"
bad 1 "contradicts" metrics --openmetrics --textfile "$TMPDIR/x"
bad 4 "cannot write '/none/x.prom.new'" metrics --textfile /none/x.prom
good metrics --textfile "$TMPDIR/nc.prom" --dry-run
[[ ! -e $TMPDIR/nc.prom ]] || fail "a dry run wrote"
good metrics --textfile "$TMPDIR/nc.prom"
same "mode of the file" "$(stat -c %a "$TMPDIR/nc.prom")" 644
[[ ! -e $TMPDIR/nc.prom.new ]] || fail "left behind"
# No I/O happens between the counter and the metrics, so that their numbers agree.
echo "hits $(field hits)"
cat "$TMPDIR/nc.prom"
echo "### openmetrics"
nearcache metrics --openmetrics
echo "### end"
# The daemon must show the same metrics.
printf 'metrics-listen = 127.0.0.1:9435\nmetrics-textfile = %s/d.prom\n' "$TMPDIR" >"$TMPDIR/conf"
at_exit run classifier unload
nearcache daemon --config "$TMPDIR/conf" 2>"$TMPDIR/log" &
daemon=$!
ip link set lo up
shown() {
	busybox wget -q -O "$TMPDIR/shown" http://127.0.0.1:9435/metrics && grep -q '^nearcache_hits_total' "$TMPDIR/shown"
}
wait_for 30 shown || fail "nothing is shown: $(<"$TMPDIR/log")"
grep -qx "nearcache_hits_total{device=\"nc\"} $(field hits)" "$TMPDIR/shown" || fail "shown: $(<"$TMPDIR/shown")"
busybox wget -q -O "$TMPDIR/open" --header 'Accept: application/openmetrics-text; version=1.0.0' http://127.0.0.1:9435/metrics ||
	fail "no OpenMetrics"
same "the end" "$(tail -n 1 "$TMPDIR/open")" "# EOF"
! busybox wget -q -O "$TMPDIR/none" http://127.0.0.1:9435/ 2>/dev/null || fail "a page that is not there"
grep -q '^nearcache_hits_total' "$TMPDIR/d.prom" || fail "no file"
# A second daemon on the same port must fail.
bad 4 "cannot listen on 127.0.0.1:9435" daemon --config "$TMPDIR/conf"
kill "$daemon"
wait "$daemon" || fail "the daemon: $(<"$TMPDIR/log")"
END
"$TOP/tests/vm/run" --kernel "$KERNEL" --quiet --timeout 200 \
	--payload "$BUILD/selftests/nearcache:/selftests" --payload "$HOST_DIR:/boot" -- \
	bash -c "cd /selftests && export TMPDIR=/tmp && . ./cache.sh && . /boot/measure.sh" >"$HOST_DIR/out"
folder=$HOST_DIR/www
mkdir -p "$folder"
sed -n '/^hits /,/^### openmetrics/{/^hits /d;/^###/d;p}' "$HOST_DIR/out" >"$folder/metrics"
sed -n '/^### openmetrics/,/^### end/{/^###/d;p}' "$HOST_DIR/out" >"$folder/openmetrics"
hits=$(sed -n 's/^hits //p' "$HOST_DIR/out")
((hits > 0)) || fail "no hits: $(cat "$HOST_DIR/out")"
"$promtool" check metrics <"$folder/metrics" >"$HOST_DIR/lint" 2>&1 || fail "promtool: $(<"$HOST_DIR/lint")"
[[ ! -s $HOST_DIR/lint ]] || fail "promtool: $(<"$HOST_DIR/lint")"
[[ $(tail -n 1 "$folder/openmetrics") == '# EOF' ]] || fail "no end: $(tail -n 3 "$folder/openmetrics")"
rules=$TOP/helper/metrics
"$promtool" check rules "$rules/nearcache-rules.yml" || fail "rules"
"$promtool" test rules "$rules/nearcache-rules-test.yml" || fail "tests of rules"
# Each metric that the rules and the dashboard query must be in the output.
grep -ohE '\bnearcache_[a-z0-9_]+' "$rules/nearcache-rules.yml" "$rules/nearcache-dashboard.json" | sort -u >"$HOST_DIR/asked"
grep -ohE '^nearcache_[a-z0-9_]+' "$folder/metrics" | sort -u >"$HOST_DIR/told"
[[ -s $HOST_DIR/asked ]] || fail "nothing is asked for"
missing=$(comm -23 "$HOST_DIR/asked" "$HOST_DIR/told")
[[ ! $missing ]] || fail "no metric: $missing"

# A real Prometheus must accept both formats.
cat >"$HOST_DIR/serve.py" <<'END'
import http.server
import sys

TYPES = {
    "/metrics": "text/plain; version=0.0.4",
    "/openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
}


class Handler(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path):
        return TYPES["/" + path.rsplit("/", 1)[-1]]

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Handler(*a, directory=sys.argv[1]))
with open(sys.argv[2], "w") as file:
    file.write(str(server.server_address[1]))
server.serve_forever()
END
python3 "$HOST_DIR/serve.py" "$folder" "$HOST_DIR/port" &
server=$!
prometheus=
trap 'kill $server $prometheus 2>/dev/null || true; wait || true' EXIT
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.2
	done
}
until_true 20 test -s "$HOST_DIR/port" || fail "no server"
cat >"$HOST_DIR/prometheus.yml" <<END
global:
  scrape_interval: 1s
rule_files: ['$rules/nearcache-rules.yml']
scrape_configs:
  - job_name: text
    metrics_path: /metrics
    static_configs: [{targets: ['127.0.0.1:$(<"$HOST_DIR/port")']}]
  - job_name: open
    metrics_path: /openmetrics
    static_configs: [{targets: ['127.0.0.1:$(<"$HOST_DIR/port")']}]
END
# value QUERY: print the value of the only sample.
value() {
	"$promtool" query instant "http://127.0.0.1:$port" "$1" 2>/dev/null | sed -nE 's/.* => ([^ ]+) @.*/\1/p'
}
is() {
	[[ $(value "$1") == "$2" ]]
}
# begun: does Prometheus answer, or has it exited?
begun() {
	! kill -0 "$prometheus" 2>/dev/null || is 'vector(1)' 1
}
# Try several ports, because another process may use one.
for _ in 1 2 3 4 5; do
	port=$((20000 + RANDOM % 20000))
	prometheus --config.file="$HOST_DIR/prometheus.yml" --storage.tsdb.path="$HOST_DIR/tsdb" \
		--web.listen-address=127.0.0.1:$port >"$HOST_DIR/prometheus.log" 2>&1 &
	prometheus=$!
	until_true 40 begun || fail "Prometheus does not begin: $(tail -n 5 "$HOST_DIR/prometheus.log")"
	! kill -0 "$prometheus" 2>/dev/null || break
done
# Retry: a scrape that times out marks the series stale until the next scrape.
for job in text open; do
	until_true 40 is "nearcache_hits_total{job=\"$job\",device=\"nc\"}" "$hits" ||
		fail "hits of $job: $(value "nearcache_hits_total{job=\"$job\"}"), not $hits; $(tail -n 5 "$HOST_DIR/prometheus.log")"
	until_true 40 is "nearcache_device_info{job=\"$job\",mode=\"read-only\"}" 1 || fail "no device_info of $job"
	until_true 40 is "nearcache_state{job=\"$job\",state=\"normal\"}" 1 || fail "no state of $job"
	until_true 40 is "nearcache_label_hits_total{job=\"$job\",label=\"a \\\"b\\\" c\"} > bool 0" 1 || fail "no label of $job"
	until_true 40 is "histogram_quantile(0.5, nearcache_latency_seconds_bucket{job=\"$job\",path=\"miss\"}) >= bool 0.001" 1 ||
		fail "no latency of $job"
done
echo "read by Prometheus: $(wc -l <"$HOST_DIR/told") metrics, hits $hits"
