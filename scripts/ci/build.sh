#!/usr/bin/env bash
# Builds convladder for jobs of continuous integration that have none.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

usage() {
  cat <<'USAGE'
usage: scripts/ci/build.sh FOLDER | --key

Installs the Debian packages that are missing, and builds FOLDER/convladder, unless it is there: without CUDA, since a duel of
commands needs none, and for every processor with AVX2, so that it can be kept for other machines. Prints
CONVLADDER_OF_ACTION=PROGRAM. With --key it only prints what to keep it under: it stands for all sources and the system.

environment:
  CONVLADDER_NO_SETUP=1   do not look for missing packages
USAGE
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then usage && exit; fi
(($# == 1)) || fail "expected a folder, see --help"
if [[ $1 == --key ]]; then
  sources=$(cd "$root" && find . \( -name build -o -name .git \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  # shellcheck source=/dev/null
  system=$(. /etc/os-release && echo "$ID$VERSION_ID")
  echo "key=convladder-$system-$(uname -m)-${sources:0:16}"
  exit
fi
folder=$1
[[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/setup.sh" >&2
if [[ ! -x $folder/convladder ]]; then
  mkdir -p "$folder"
  log=$folder/build.log
  {
    cmake -S "$root" --preset release -B "$folder" -D CONVLADDER_CUDA=OFF -D CONVLADDER_CPU_ARCHITECTURE=x86-64-v3 &&
      cmake --build "$folder" --parallel "$(nproc)" --target convladder
  } >"$log" 2>&1 || build_failed "$log" "building convladder"
fi
echo "CONVLADDER_OF_ACTION=$folder/convladder"
