#!/usr/bin/env bash
# Runs the ladder of this bundle and draws its charts where a Python with matplotlib is found.
set -euo pipefail

# shellcheck source=scripts/bundle/program.sh
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

usage() {
  cat <<'USAGE'
usage: ./run.sh [options of 'convladder run']
       ./run.sh network [options of 'convladder network']

Runs the ladder on this machine and writes run.json, the charts, the table and report.html into
results/<host>-<time>; with 'network' first it runs whole networks, and the record is network.json.

examples:
  ./run.sh                                every layer, batches 10, 100 and 1000, on the CPU and a GPU if there is one
  ./run.sh --device cuda --batch 1000     on the GPU only
  ./run.sh --output DIR                   into a folder of your choice
  ./run.sh network --network alexnet --variant best   where the time of a whole network goes
  ./convladder run --help                 every option

exit status: that of the program; 1 if the charts could not be drawn or the report not written.
USAGE
}

command=run
if [[ ${1:-} == network ]]; then command=network && shift; fi
folder=
arguments=("$@")
while (($#)); do
  case "$1" in
    --help | -h) usage && exit ;;
    --dry-run) exec "$here/convladder" "$command" "${arguments[@]}" ;;
    --output=* | --resume=*) folder="${1#*=}" ;;
    --output | --resume) folder="${2:-}" ;;
  esac
  shift
done
if [[ -z $folder ]]; then
  folder="results/$(uname -n | sed 's/[^A-Za-z0-9.-]/-/g')-$(date +%Y%m%d-%H%M%S)"
  arguments+=(--output "$folder")
fi

use_nvidia_libraries
status=0
"$here/convladder" "$command" "${arguments[@]}" || status=$?
((status <= 1)) || exit "$status"

if ! $has_matplotlib; then
  echo "run.sh: no charts: no Python 3 with matplotlib here; scripts/charts.py draws them from $command.json anywhere" >&2
  exit "$status"
fi
"$python" -B "$here/scripts/charts.py" "$folder/$command.json" --table || { ((status)) || status=1; }
PYTHON="$python" "$here/convladder" report "$folder/$command.json" || { ((status)) || status=1; }
exit "$status"
