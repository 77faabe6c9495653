#!/usr/bin/env bash
# A real Slurm on this machine alone: munged, slurmctld and a slurmd for each node, all on the loopback, in one folder.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/slurm/local_cluster.sh start|stop|status DIR [options]

A Slurm of several nodes on this one machine, to try things before they go to a real cluster, and for the tests.
Everything of it lies in DIR: configuration, key, state and logs. Needs neither systemd nor a database, and changes
nothing elsewhere. 'start' does nothing where it runs already. The commands of Slurm find it through SLURM_CONF, which
'start' prints.

  --nodes N        how many nodes (default 2); they are called n1, n2, ...
  --cpus N         processors that each node says it has (default 2)
  --max-array N    Slurm's MaxArraySize: one more than the highest number in an array (default 1001, as Slurm's own)

example:
  scripts/slurm/local_cluster.sh start /tmp/cluster
  export SLURM_CONF=/tmp/cluster/slurm.conf
  sinfo
  scripts/slurm/local_cluster.sh stop /tmp/cluster

'scripts/setup.sh --slurm' installs Debian's packages and starts one.

exit status: 0 done, or (status) it runs; 1 it could not be started, or (status) does not run; 2 usage; 3 Slurm or munge
is not installed, or this machine's name has no address.
USAGE
}

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

usage_error() {
  echo "${0##*/}: $*, see --help" >&2
  exit 2
}

export PATH="$PATH:/usr/sbin:/sbin"  # an ordinary user's path lacks where the daemons are
nodes=2 cpus=2 max_array=1001
words=()
while (($#)); do
  case "$1" in
    --help | -h) usage && exit ;;
    --nodes | --cpus | --max-array)
      [[ ${2:-} =~ ^[1-9][0-9]{0,5}$ ]] || usage_error "$1 needs a whole number, 1 or more"
      option=${1#--}
      printf -v "${option/-/_}" %s "$2"
      shift
      ;;
    -*) usage_error "unknown argument '$1'" ;;
    *) words+=("$1") ;;
  esac
  shift
done
((${#words[@]} == 2)) || usage_error "expected start, stop or status, and a folder"
command=${words[0]} folder=${words[1]}
[[ $command == start || $command == stop || $command == status ]] || usage_error "unknown command '$command'"
[[ $folder == /* ]] || folder=$PWD/$folder
# Slurm splits lines of its configuration at spaces, and a socket's name has at most 107 bytes.
[[ $folder =~ ^[A-Za-z0-9._/+-]+$ ]] || usage_error "the folder's name may hold letters, digits and . _ + - only"
((${#folder} <= 80)) || usage_error "the folder's name is too long for a socket: at most 80 characters"
export SLURM_CONF=$folder/slurm.conf
# In a folder of somebody else's the key would be theirs.
[[ ! -e $folder || -O $folder ]] || fail "$folder belongs to somebody else"

for needed in munged slurmctld slurmd scontrol; do
  command -v "$needed" >/dev/null && continue
  echo "${0##*/}: $needed is not installed (scripts/setup.sh --slurm does it)" >&2
  exit 3
done

# alive PIDFILE PROGRAM: whether the process that the file names is there and is that program.
alive() {
  local id name
  id=$(cat "$folder/$1" 2>/dev/null) || return 1
  [[ $id =~ ^[0-9]+$ ]] && name=$(cat "/proc/$id/comm" 2>/dev/null) && [[ $name == "$2"* ]] || return 1
  ! grep -q '^State:.Z' "/proc/$id/status" 2>/dev/null
}

names() { seq -f 'n%.0f' "$(cat "$folder/nodes" 2>/dev/null || echo 0)"; }

running() {
  alive munged.pid munged && alive slurmctld.pid slurmctld || return 1
  local name
  for name in $(names); do alive "slurmd.$name.pid" slurmd || return 1; done
}

# stop_daemon PIDFILE PROGRAM: ends it, gently first.
stop_daemon() {
  alive "$1" "$2" || { rm -f "$folder/$1" && return; }
  local id try
  id=$(<"$folder/$1")
  kill "$id" 2>/dev/null || true
  for ((try = 0; try < 50; try++)); do
    alive "$1" "$2" || break
    sleep 0.1
  done
  ! alive "$1" "$2" || kill -9 "$id" 2>/dev/null || true
  rm -f "$folder/$1"
}

# cancel_jobs: what runs in its jobs does not outlive it.
cancel_jobs() {
  local try
  alive slurmctld.pid slurmctld || return 0
  timeout 5 squeue -h -o %A 2>/dev/null | sort -u | xargs -r timeout 5 scancel >/dev/null 2>&1 || true
  for ((try = 0; try < 50; try++)); do
    [[ -n $(timeout 5 squeue -h 2>/dev/null || true) ]] || return 0
    sleep 0.1
  done
}

stop() {
  local name
  cancel_jobs
  for name in $(names); do stop_daemon "slurmd.$name.pid" slurmd; done
  stop_daemon slurmctld.pid slurmctld
  stop_daemon munged.pid munged
}

# free_ports COUNT: the first of so many ports in a row that nobody answers on.
free_ports() {
  local first port try
  for ((try = 0; try < 200; try++)); do
    first=$((20000 + (BASHPID * 17 + try * 101) % 12000))
    for ((port = first; port < first + $1; port++)); do
      (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue 2
    done
    echo "$first" && return
  done
  fail "no free ports"
}

configure() {
  local port host user
  port=$(free_ports $((nodes + 1)))
  host=$(uname -n) user=$(id -un)
  host=${host%%.*}
  rm -rf "$folder/state" "$folder"/spool.* "$folder/log"
  mkdir -p "$folder/state" "$folder/log"
  chmod go-w,a+rx "$folder"  # as munge wants it; only the key is secret
  head -c 1024 /dev/urandom >"$folder/munge.key.new"
  chmod 400 "$folder/munge.key.new"
  mv -f "$folder/munge.key.new" "$folder/munge.key"
  echo "$nodes" >"$folder/nodes"
  # Times are short, so that what takes minutes on a cluster takes seconds here.
  cat >"$SLURM_CONF" <<CONFIGURATION
ClusterName=convladder
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthInfo=socket=$folder/munge.socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=200000,batch_sched_delay=0
SlurmdParameters=config_overrides
MaxArraySize=$max_array
MaxJobCount=10000
MinJobAge=30
KillWait=2
ReturnToService=2
SlurmdTimeout=30
GresTypes=gpu
NodeName=DEFAULT CPUs=$cpus RealMemory=1024 Gres=gpu:1
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))]
PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONFIGURATION
  # A GPU of the nodes is a file that every machine has: what is counted is not there.
  echo 'Name=gpu File=/dev/null' >"$folder/gres.conf"
  : >"$folder/cgroup.conf"
  # From 24.05 on Slurm can do without control groups, and would ask systemd for them otherwise.
  local version
  version=$(slurmctld -V | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
  if [[ $(printf '24.05\n%s\n' "$version" | sort -V | head -n 1) == 24.05 ]]; then
    echo CgroupPlugin=disabled >"$folder/cgroup.conf"
  fi
}

# daemon NAME COMMAND...: starts it; its last words where it does not start.
daemon() {
  local name=$1
  shift
  "$@" >"$folder/log/$name.start" 2>&1 </dev/null 9>&- && return
  stop
  fail "$name does not start: $(grep -m 1 -i error "$folder/log/$name.start" || tail -n 1 "$folder/log/$name.start")"
}

start() {
  mkdir -p "$folder" 2>/dev/null || fail "cannot create $folder"
  [[ -w $folder ]] || fail "cannot write to $folder"
  # Of two that start it at once the second one finds it running. What is started must not hold the lock.
  exec 9>"$folder/lock"
  flock 9
  if running; then return; fi
  stop
  if [[ -z $(getent hosts "$(uname -n)") ]]; then
    echo "${0##*/}: this machine's name, $(uname -n), has no address: add it to /etc/hosts" >&2
    exit 3
  fi
  configure
  daemon munged munged --socket="$folder/munge.socket" --key-file="$folder/munge.key" --pid-file="$folder/munged.pid" \
    --log-file="$folder/log/munged.log" --seed-file="$folder/munge.seed"
  daemon slurmctld slurmctld -f "$SLURM_CONF"
  local name try
  for name in $(names); do
    mkdir -p "$folder/spool.$name"
    daemon "slurmd.$name" slurmd -f "$SLURM_CONF" -N "$name"
  done
  for ((try = 0; try < 300; try++)); do
    [[ $(sinfo -h -r -N -t idle -o %N 2>/dev/null | wc -l) != "$nodes" ]] || return 0
    sleep 0.1
  done
  local why
  # Of a first start Slurm misses its state, and most machines lack PMIx: neither matters.
  why=$(grep -h -E 'error|fatal' "$folder"/log/*.log 2>/dev/null | grep -v -i -E 'mpi|state' | tail -n 1 || true)
  stop
  fail "its nodes did not come up within 30 s${why:+: $why}"
}

case $command in
  start)
    start
    echo "export SLURM_CONF=$SLURM_CONF"
    ;;
  stop) stop ;;
  status)
    running || { echo "${0##*/}: no Slurm runs in $folder" >&2 && exit 1; }
    echo "export SLURM_CONF=$SLURM_CONF"
    ;;
esac
