# Shared by the scripts here: starts the systems on loopback, a port and a folder each, and stops
# them by their pid; runs the generator against two of them in turns; prints one row for each.
#
# All folders lie below $place, so that they are on one file system.

set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$root/build/release}
morula=$build/prod/morula
generator=$build/bench/load/morula-load
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-3}
tools=${PEERS_TOOLS:-$root/build/peers}
mkdir -p "${PLACE:-$root/build}" || exit 2
place=$(mktemp -d "${PLACE:-$root/build}/peers-XXXXXX")
declare -A pids=() urls=() options=()

clean_up() {
  local pid
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
  rm -rf "$place"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

die() {
  echo "$*" >&2
  exit 1
}

# A port that nobody listens on.
free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

# launch NAME PORT COMMAND...: waits until the port answers.
launch() {
  local name=$1 port=$2
  shift 2
  "$@" >"$place/$name.log" 2>&1 </dev/null &
  pids[$name]=$!
  for _ in $(seq 200); do
    kill -0 "${pids[$name]}" 2>/dev/null || break
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return 0; fi
    sleep 0.05
  done
  tail -n 5 "$place/$name.log" >&2
  die "$name does not start"
}

stop() {
  kill -TERM "${pids[$1]}" 2>/dev/null
  wait "${pids[$1]}" 2>/dev/null
  unset "pids[$1]"
  rm -rf "${place:?}/$1"
}

# package COMMAND PACKAGE: Debian's, installed where the command is missing.
package() {
  command -v "$1" >/dev/null && return
  echo "installing $2" >&2
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get -qq update >/dev/null
  # A service of its own is not wanted.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq install -y \
    --no-install-recommends "$2" >/dev/null || die "cannot install $2"
}

start_morula() {
  local port
  port=$(free_port)
  launch morula "$port" "$morula" serve --store "file:$place/morula" --listen "127.0.0.1:$port" --no-auth
  urls[morula]=http://127.0.0.1:$port
  for _ in $(seq 200); do
    grep -q '^morula serves' "$place/morula.log" && return
    sleep 0.05
  done
  die 'morula does not serve'
}

start_redis() {
  package redis-server redis-server
  local port
  port=$(free_port)
  mkdir -p "$place/redis"
  # No snapshots and no rewriting of the log: they would only slow it down.
  launch redis "$port" redis-server --bind 127.0.0.1 --port "$port" --dir "$place/redis" \
    --appendonly yes --appendfsync always --save '' --auto-aof-rewrite-percentage 0
  urls[redis]=redis://127.0.0.1:$port
}

start_nats() {
  package nats-server nats-server
  local port
  port=$(free_port)
  launch nats "$port" nats-server --addr 127.0.0.1 --port "$port" --jetstream \
    --store_dir "$place/nats"
  urls[nats]=nats://127.0.0.1:$port
  sleep 0.5 # JetStream comes a moment after the port
}

# start_durable_streams NAME file|memory
start_durable_streams() {
  package node nodejs
  package npm npm
  local name=$1 mode=$2 port folder=''
  if [ ! -d "$tools/node_modules/@durable-streams/server" ]; then
    echo 'installing @durable-streams/server' >&2
    mkdir -p "$tools"
    (cd "$tools" && npm install --silent --no-audit --no-fund @durable-streams/server >/dev/null) ||
      die 'cannot install @durable-streams/server'
  fi
  port=$(free_port)
  [ "$mode" = file ] && folder=$place/$name
  cp "$root/bench/peers/durable_streams.mjs" "$tools/"
  launch "$name" "$port" node "$tools/durable_streams.mjs" "$port" $folder
  urls[$name]=http://127.0.0.1:$port
  options[$name]='--protocol durable-streams'
}

# field NAME < JSON: the first number of that name
field() { grep -oE "\"$1\":[0-9.]+" | head -n 1 | cut -d: -f2; }

# one_run NAME OPTION...: one row of numbers: req/s p50 p99 server_cpu own_cpu
one_run() {
  local name=$1 json
  shift
  # shellcheck disable=SC2086
  json=$("$generator" --url "${urls[$name]}" ${options[$name]:-} --server-pid "${pids[$name]}" \
    --json --warm-up 0.5 --duration "$seconds" "$@") || {
    echo "$name failed: $json" >&2
    return 1
  }
  local latencies
  latencies=$(echo "$json" | grep -oE '"(append|read)_us":\{"count":[1-9][^}]*\}' | head -n 1)
  echo "$(echo "$json" | field per_second) $(echo "$latencies" | field p50)" \
    "$(echo "$latencies" | field p99) $(echo "$json" | field server_cpu_us)" \
    "$(echo "$json" | field own_cpu_us)"
}

# median: of the numbers on stdin, one a line
median() {
  sort -n | awk '{ v[NR] = $1 } END { if (NR) print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

columns='%-26s %-24s %11s %10s %10s %10s %8s\n'
print_head() {
  # shellcheck disable=SC2059
  printf "$columns" system load req/s 'p50 us' 'p99 us' 'CPU us' ratio
}

# versus OTHER LOAD OPTION...: morula and OTHER in turns, $rounds times each; a row for both. The
# ratio is morula's rate by the other's, of each round, and of these the median.
versus() {
  local other=$1 load=$2 round
  shift 2
  : >"$place/a" && : >"$place/b"
  for round in $(seq "$rounds"); do
    one_run morula "$@" >>"$place/a" || return
    one_run "$other" "$@" >>"$place/b" || return
  done
  row morula "$load" "$place/a" ''
  local ratio
  ratio=$(paste -d ' ' "$place/a" "$place/b" | awk '{ printf "%.2f\n", $1 / $6 }' | median)
  row "$other" "$load" "$place/b" "$ratio"
}

row() {
  local name=$1 load=$2 file=$3 ratio=$4 column medians=()
  for column in 1 2 3 4; do medians+=("$(cut -d ' ' -f $column "$file" | median)"); done
  # shellcheck disable=SC2059
  printf "$columns" "$name" "$load" "${medians[@]}" "$ratio"
}
