#!/usr/bin/env bash
# Who uses whom, comments, clang-format and clang-tidy over the C++ and CUDA sources.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly clang_version=14  # other versions lay out the same code differently, and find other things

usage() {
  cat <<'USAGE'
usage: scripts/lint.sh [--layers | --comments | --format | --tidy] [--fix] [--jobs N] [--changed [BASE] | FILE...]

Checks that folders only use what layers.txt allows, that comments can be read alone, the layout of the C++ and CUDA sources with clang-format, and the
C++ sources with clang-tidy. Every finding is an error.

  --layers          only the includes, against layers.txt (a second)
  --comments        only that comments can be read alone (a second)
  --format          only clang-format (seconds)
  --tidy            only clang-tidy. All files take about half an hour on two cores; how long is left is shown
  --fix             lets clang-format rewrite the files
  --jobs N          so many clang-tidy at once (default: one for each core)
  --changed [BASE]  only files that differ from where this branch left BASE (default: from the last commit)
  FILE...           only these

clang-tidy needs the compile commands of build/debug, and configures it. Headers are checked through the sources that
include them; a header that is named or changed is also checked by itself.

examples:
  scripts/lint.sh --format --fix
  scripts/lint.sh --tidy variants/convolution/problem.cpp
  scripts/lint.sh --tidy --changed main

exit status: 0 clean, 1 findings, 77 clang-format 14 or clang-tidy 14 is not there, 130 interrupted.
USAGE
}

layers=true
comments=true
format=true
tidy=true
fix=false
changed=false
base=HEAD
jobs=$(nproc)
files=()
while (($#)); do
  case "$1" in
    --layers) comments=false format=false tidy=false ;;
    --comments) layers=false format=false tidy=false ;;
    --format) layers=false comments=false tidy=false ;;
    --tidy) layers=false comments=false format=false ;;
    --fix) fix=true ;;
    --jobs)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "--jobs needs a number, 1 or more"
      jobs=$2
      shift
      ;;
    --changed)
      changed=true
      if (($# > 1)) && [[ $2 != -* ]]; then
        base=$2
        shift
      fi
      ;;
    --help | -h) usage && exit ;;
    -*) fail "unknown argument '$1', see --help" ;;
    *) files+=("$(realpath -e -- "$1")") || fail "$1: no such file" ;;
  esac
  shift
done
$layers || $comments || $format || $tidy ||
  fail "--layers, --comments, --format and --tidy leave nothing to check"
! $changed || ((${#files[@]} == 0)) || fail "--changed chooses the files itself: leave out '${files[0]}'"

# clang_tool NAME: the command of the right version; exits with 77 where it is not there.
clang_tool() {
  local command
  for command in "$1-$clang_version" "$1"; do
    if "$command" --version 2>/dev/null | grep -q "version $clang_version\."; then echo "$command" && return; fi
  done
  echo "lint.sh: $1 $clang_version is not there (scripts/setup.sh --lint installs it)" >&2
  exit 77
}

cd "$root"
all=false
if $changed; then
  fork=$(git merge-base "$base" HEAD 2>/dev/null) || fail "--changed: '$base' is no commit that this branch came from"
  mapfile -t files < <(git diff --name-only --diff-filter=d "$fork"; git ls-files --others --exclude-standard)
elif ((${#files[@]} == 0)); then
  all=true
  mapfile -t files < <(git ls-files)
fi
status=0
# An include of a file that did not change may be wrong now: always all of them.
if $layers; then
  /usr/bin/python3 scripts/check_layers.py || status=$?
fi
if $comments; then
  /usr/bin/python3 scripts/check_comments.py || status=$?
fi
$format || $tidy || exit "$status"
sources=()
for file in "${files[@]}"; do
  file=${file#"$root/"}
  if [[ $file =~ \.(cpp|hpp|cu|cuh)$ && -f $file ]]; then sources+=("$file"); fi
done
if ((${#sources[@]} == 0)); then
  echo "lint.sh: no C++ or CUDA file to check"
  exit "$status"
fi

if $format; then
  clang_format=$(clang_tool clang-format)
  if $fix; then
    "$clang_format" -i "${sources[@]}"
  else
    "$clang_format" --dry-run -Werror "${sources[@]}" || status=1
  fi
fi
if $tidy; then
  clang_tidy=$(clang_tool clang-tidy)
  if [[ ! -f build/debug/compile_commands.json ]]; then
    mkdir -p build
    cmake --preset debug >build/debug.log 2>&1 || build_failed "$root/build/debug.log" configuring
  fi
  build_preset debug convladder_build_information  # the build looks for new files
  $all && pattern='\.cpp$' || pattern='\.[ch]pp$'
  # clang does not know this nvcc's flags: kernels are left to the compilers.
  printf '%s\n' "${sources[@]}" | { grep -E "$pattern" || true; } |
    /usr/bin/python3 scripts/tidy.py --clang-tidy "$clang_tidy" --build build/debug --jobs "$jobs" || status=$?
fi
exit "$status"
