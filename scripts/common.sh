# What the scripts share; sourced, never run. Sets `root`, the repository's root.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# program_beside: the program of a bundle or an installed tree; empty in a source tree.
program_beside="$root/convladder"
[[ -x $program_beside && ! -d $program_beside ]] || program_beside=''

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# build_preset PRESET [TARGET...]: configures build/PRESET where that has not happened yet, and builds. On a terminal the
# build shows its progress; otherwise it is quiet, and its log is shown only where it fails.
build_preset() {
  local preset="$1" log
  shift
  local targets=()
  (($# == 0)) || targets=(--target "$@")
  log="$root/build/$preset.log"
  mkdir -p "$root/build" || fail "cannot create $root/build"
  if [[ ! -f $root/build/$preset/build.ninja ]]; then
    echo "configuring build/$preset" >&2
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || build_failed "$log" "configuring"
  fi
  local build=(cmake --build "$root/build/$preset" --parallel "$(nproc)" "${targets[@]}")
  if [[ -t 2 && ${CI:-} != true ]]; then
    "${build[@]}" >&2 || fail "building build/$preset failed"
  else
    local begin=$SECONDS
    "${build[@]}" >"$log" 2>&1 || build_failed "$log" "building"
    ((SECONDS - begin < 5)) || echo "built build/$preset in $((SECONDS - begin)) s" >&2
  fi
}

build_failed() {
  grep -E -A 4 'error:|CMake Error|FAILED:' "$1" | head -n 25 >&2 || tail -n 25 "$1" >&2
  fail "$2 failed; its output is in $1"
}
