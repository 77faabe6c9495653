#!/usr/bin/env bash
# The one command: installs what is missing, builds, runs the ladder or whole networks, draws the charts, prints the
# table and writes the report.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
usage: scripts/run.sh [options of 'convladder run']
       scripts/run.sh network [options of 'convladder network']

Installs the Debian packages that are missing, builds build/release/convladder, runs the ladder on this machine and
writes run.json, the charts, the table and report.html into results/<host>-<time>. Without options that takes about two minutes. With
'network' first it runs whole networks instead, and the record is network.json.

examples:
  scripts/run.sh                                     three layers, the six stages everybody starts with, the best, the library
  scripts/run.sh --all                               every stage
  scripts/run.sh --network lenet72 --batch 100       less
  scripts/run.sh --data DIR                          on real images, IDX files in DIR
  scripts/run.sh --output DIR                        into a folder of your choice
  scripts/run.sh --resume DIR                        continues an interrupted run
  scripts/run.sh network --network lenet72           a whole network; --resume DIR continues this as well
  build/release/convladder run --help                every option, also 'convladder network --help'

environment:
  CONVLADDER_NO_SETUP=1   do not look for missing packages

exit status: that of the program (0 every case that ran is verified, 1 a case failed, 3 bad input or nothing could
be written, 130 interrupted); 1 if something could not be installed, built or drawn.
USAGE
}

# folder_of ARGUMENT...: the folder that the options name, empty if none does.
folder_of() {
  while (($#)); do
    case "$1" in
      --output=* | --resume=*) echo "${1#*=}" && return ;;
      --output | --resume) echo "${2:-}" && return ;;
    esac
    shift
  done
}

has_option() {
  local wanted="$1" argument
  shift
  for argument in "$@"; do [[ $argument != "$wanted" && $argument != "$wanted"=* ]] || return 0; done
  return 1
}

command=run
if [[ ${1:-} == network ]]; then command=network && shift; fi

for argument in "$@"; do
  if [[ $argument == --help || $argument == -h ]]; then usage && exit; fi
done

with_charts=true
trap 'echo >&2; exit 130' INT
trap 'exit 143' TERM
if [[ -z ${CONVLADDER_NO_SETUP:-} ]] && ! "$root/scripts/setup.sh" --charts; then
  [[ -z $("$root/scripts/setup.sh" --list 2>/dev/null || echo unknown) ]] || exit 1
  with_charts=false  # what the build needs is there
fi
build_preset release convladder

convladder="$root/build/release/convladder"
if has_option --dry-run "$@"; then exec "$convladder" "$command" "$@"; fi

folder=$(folder_of "$@")
arguments=("$@")
if [[ -z $folder ]]; then
  folder="results/$(uname -n | sed 's/[^A-Za-z0-9.-]/-/g')-$(date +%Y%m%d-%H%M%S)"
  [[ $PWD == "$root" ]] || folder="$root/$folder"
  mkdir -p -- "${folder%/*}"
  name=$folder number=1
  # Another run of the same second may have it.
  until mkdir -- "$folder" 2>/dev/null || ((++number > 1000)); do folder=$name-$number; done
  arguments+=(--output "$folder")
fi

status=0
"$convladder" "$command" "${arguments[@]}" || status=$?
if ((status == 130)); then
  words=scripts/run.sh
  [[ $command == run ]] || words+=" $command"
  [[ ! -f $folder/$command.json ]] || echo "interrupted; to go on: $words --resume $folder" >&2
  exit 130
fi
((status <= 1)) || exit "$status"

if ! $with_charts; then
  echo "run.sh: no charts: matplotlib is missing" >&2
  exit "$status"
fi
# With --benchmark_format the standard output belongs to Google Benchmark's format.
if has_option --benchmark_format "$@"; then exec 3>&2; else exec 3>&1; fi
/usr/bin/python3 "$root/scripts/charts.py" "$folder/$command.json" >&3 || { ((status)) || status=1; }
[[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/report_library.sh" || true  # the report is complete without it
"$convladder" report "$folder/$command.json" >&3 || { ((status)) || status=1; }
exit "$status"
