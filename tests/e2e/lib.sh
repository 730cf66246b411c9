# Shared by the end-to-end scripts: starts and stops the real binary, counts cases.
#
# A script sources this and calls `finish` at its end; its first argument is the build directory, by
# default build/release. Each case prints `ok - NAME` or `not ok - NAME: WHY`; the last line is `N passed, N failed`.
# Every process is on loopback, has a port of its own, and is stopped by its pid.

set -u
build=$(cd "${1:-$(dirname "$0")/../../build/release}" && pwd) || exit 2
morula=$build/prod/morula
producer_client=$build/tests/e2e/producer_client
work=$(mktemp -d "${TMPDIR:-/tmp}/morula-e2e-XXXXXX")
passed=0
failed=0
declare -A pids=() urls=()
helpers=() # pids of other processes that the script has started

clean_up() {
  local pid
  for pid in "${pids[@]}" "${helpers[@]}"; do
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  mountpoint -q "$work/mount" && umount "$work/mount"
  if [ "${s3_state:-}" = "$work/s3" ]; then "$s3_server" stop "$s3_state"; fi
  rm -rf "$work"
}
trap clean_up EXIT

ok() {
  echo "ok - $1"
  passed=$((passed + 1))
}
not_ok() {
  echo "not ok - $1: $2"
  failed=$((failed + 1))
}
# check NAME COMMAND...: a case that holds when the command succeeds.
check() {
  local name=$1
  shift
  if "$@"; then ok "$name"; else not_ok "$name" "failed: $*"; fi
}
# same NAME EXPECTED ACTUAL
same() {
  if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "expected $(printf %q "$2"), got $(printf %q "$3")"; fi
}
# less NAME ACTUAL BOUND
less() {
  if [ -n "$2" ] && [ "$2" -lt "$3" ]; then ok "$1 ($2 < $3)"; else not_ok "$1" "$2 is not below $3"; fi
}
# has NAME TEXT PART
has() {
  case $2 in
    *"$3"*) ok "$1" ;;
    *) not_ok "$1" "no $(printf %q "$3") in $(printf %q "$2")" ;;
  esac
}

finish() {
  if [ "$failed" != 0 ]; then
    local log
    for log in "$work"/*.log; do
      [ -s "$log" ] && echo "--- $(basename "$log")" && tail -n 30 "$log"
    done
  fi
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# until_true SECONDS COMMAND...: repeats it; fails when it never succeeded.
until_true() {
  local end=$(($(now_ms) + $1 * 1000))
  shift
  until "$@"; do
    [ "$(now_ms)" -lt $end ] || return 1
    sleep 0.02
  done
}

# A real S3 server for this script, or the one in $MORULA_S3_STATE that several scripts share (who
# sets that also stops it). Sets the environment of its clients, and $location to a new place in it.
s3_server=$(cd "$(dirname "${BASH_SOURCE[0]}")/../s3" && pwd)/s3-server
start_s3() {
  s3_state=${MORULA_S3_STATE:-$work/s3}
  local port
  port=$(cat "$s3_state/port" 2>/dev/null || echo $((20000 + RANDOM % 10000)))
  if ! "$s3_server" start "$s3_state" "$port" >"$work/s3-server.log" 2>&1; then
    not_ok 'start of the S3 server' "$(tail -n 3 "$work/s3-server.log")"
    finish
  fi
  unset AWS_PROFILE AWS_SESSION_TOKEN AWS_CA_BUNDLE AWS_ENDPOINT_URL
  eval "$("$s3_server" env "$s3_state")"
  location=s3://$S3_BUCKET/$(basename "$0")/$(date +%s%N)
}

# start_proxy [SEED [OPTION...]]: puts a fault proxy before the S3 server: from here on clients go
# through it.
start_proxy() {
  : >"$work/proxy.out"
  "$(dirname "$s3_server")/fault_proxy" --upstream "${S3_ENDPOINT#http://}" --seed "${1:-1}" "${@:2}" \
    >"$work/proxy.out" 2>"$work/proxy.log" </dev/null &
  proxy_pid=$!
  helpers+=("$proxy_pid")
  until_true 20 grep -q control "$work/proxy.out"
  read -r _ proxy_port _ proxy_control <"$work/proxy.out"
  export AWS_ENDPOINT_URL_S3=http://127.0.0.1:$proxy_port
}
# proxy COMMAND...: tells it what to do (tests/s3/fault_proxy); prints its answer.
proxy() {
  exec 3<>"/dev/tcp/127.0.0.1/$proxy_control"
  echo "$*" >&3
  cat <&3
  exec 3>&-
}

# launch NAME OPTION...: starts `morula serve` on $location, by default the directory $work/store.
# Doesn't wait.
launch() {
  local name=$1
  shift
  : >"$work/$name.out"
  "$morula" serve --store "${location:-file:${store:-$work/store}}" --listen 127.0.0.1:0 --name "$name" "$@" \
    >"$work/$name.out" 2>>"$work/$name.log" </dev/null &
  pids[$name]=$!
}
# The address that the instance has announced, once it serves or forwards.
announced() {
  urls[$1]=$(sed -nE 's/^morula serves ([^ ]+) .*/\1/p' "$work/$1.out")
  [ -n "${urls[$1]}" ]
}
ended() { ! kill -0 "${pids[$1]}" 2>/dev/null; }
announced_or_ended() { announced "$1" || ended "$1"; }
# start NAME OPTION...: launches it and waits until it serves.
start() {
  launch "$@"
  until_true "${start_patience:-40}" announced_or_ended "$1"
  if ! announced "$1"; then
    not_ok "start of $1" "it does not serve: $(tail -n 3 "$work/$1.log")"
    finish
  fi
}
# signal NAME SIGNAL
signal() { kill "-$2" "${pids[$1]}"; }
# stop NAME: SIGTERM; sets $exit_code
stop() {
  signal "$1" TERM
  join "$1"
}
# join NAME: waits for its end; sets $exit_code
join() {
  wait "${pids[$1]}" 2>/dev/null
  exit_code=$?
  unset "pids[$1]"
}
# crash NAME: kill -9
crash() {
  signal "$1" KILL
  join "$1"
}

# sound NAME: a case that holds when `morula fsck` finds nothing wrong with $location.
sound() {
  if "$morula" fsck --store "${location:-file:${store:-$work/store}}" >"$work/fsck.out" 2>&1; then
    ok "$1 ($(awk '/in all$/ { print $1 }' "$work/fsck.out") objects)"
  else
    not_ok "$1" "$(grep -v '^ ' "$work/fsck.out" | head -n 5 | tr '\n' ' ')"
  fi
}

# request METHOD URL [CURL OPTION...]: prints the status; body in $work/body, head in $work/head
request() {
  local method=$1 url=$2
  shift 2
  curl -sS -X "$method" --max-time 20 -o "$work/body" -D "$work/head" -w '%{http_code}' "$@" "$url" \
    2>"$work/curl.err"
}
body() { cat "$work/body"; }
# header NAME of the last request
header() { sed -nE "s/^$1: (.*)\r$/\1/Ip" "$work/head"; }
create() { request PUT "$1" -H 'Content-Type: text/plain'; }
# append URL DATA [CURL OPTION...]
append() {
  local url=$1 data=$2
  shift 2
  request POST "$url" -H 'Content-Type: text/plain' --data-binary "$data" "$@"
}
read_all() { request GET "$1"; }
# The code of a JSON error.
error_code() { sed -nE 's/.*"code": ?"([^"]*)".*/\1/p' "$work/body"; }

# start_client JOURNAL INSTANCE...: producers that ask those instances; waits until they produce.
start_client() {
  journal=$1
  shift
  local instance arguments=()
  for instance in "$@"; do arguments+=(--url "${urls[$instance]}"); done
  : >"$work/client.out"
  "$producer_client" run "${arguments[@]}" --journal "$journal" --stream "$(basename "$journal")" \
    >"$work/client.out" 2>&1 </dev/null &
  client=$!
  helpers+=("$client")
  until_true 60 grep -q producing "$work/client.out"
}
# stop_client NAME: a case that holds when all it knows of was kept; sets $gap_ms
stop_client() {
  kill -TERM "$client"
  if wait "$client"; then
    ok "$1 ($(sed -nE 's/^ok //p' "$work/client.out"))"
  else
    not_ok "$1" "$(tail -n 12 "$work/client.out" | tr '\n' ' ')"
  fi
  gap_ms=$(sed -nE 's/.*longest_gap_ms=([0-9]+)/\1/p' "$work/client.out")
}
# still_whole JOURNAL INSTANCE
still_whole() {
  "$producer_client" verify --url "${urls[$2]}" --journal "$1" >"$work/verify.out" 2>&1
}
