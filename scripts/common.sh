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

# configure_preset PRESET FOLDER [OPTION of cmake...]: build/FOLDER, also where it was configured before.
configure_preset() {
  local preset="$1" folder="$2" log="$root/build/$2.log"
  shift 2
  mkdir -p "$root/build" || fail "cannot create $root/build"
  echo "configuring build/$folder" >&2
  (cd "$root" && cmake --preset "$preset" -B "$root/build/$folder" "$@") >"$log" 2>&1 || build_failed "$log" "configuring"
}

# build_folder FOLDER [TARGET...]: builds build/FOLDER. On a terminal the build shows its progress; otherwise it is quiet, and its
# log is shown only where it fails.
build_folder() {
  local folder="$1" log="$root/build/$1.log"
  shift
  local targets=()
  (($# == 0)) || targets=(--target "$@")
  local build=(cmake --build "$root/build/$folder" --parallel "$(nproc)" "${targets[@]}")
  if [[ -t 2 && ${CI:-} != true ]]; then
    "${build[@]}" >&2 || fail "building build/$folder failed"
  else
    local begin=$SECONDS
    "${build[@]}" >"$log" 2>&1 || build_failed "$log" "building"
    ((SECONDS - begin < 5)) || echo "built build/$folder in $((SECONDS - begin)) s" >&2
  fi
}

# build_preset PRESET [TARGET...]: configures build/PRESET where that has not happened yet, and builds.
build_preset() {
  local preset="$1"
  shift
  [[ -f $root/build/$preset/build.ninja ]] || configure_preset "$preset" "$preset"
  build_folder "$preset" "$@"
}

# toolkit_major FOLDER: of a CUDA toolkit's nvcc, "12".
toolkit_major() { { "$1/bin/nvcc" --version 2>/dev/null || true; } | sed -nE 's/.*release ([0-9]+)\..*/\1/p'; }

# first_nvcc: the one that cmake takes (cmake/Cuda.cmake); nothing where there is none.
first_nvcc() { [[ -n ${CUDACXX:-} ]] && echo "$CUDACXX" || PATH="$PATH:/usr/local/cuda/bin" command -v nvcc || true; }

# architecture_option LIST NVCC: what cmake is told for --architectures LIST, as "80,90a": machine code of each, and PTX of the newest
# that later GPUs can run, which those with a letter cannot. All that people still use for an empty list, whatever the
# build folder was configured for before.
architecture_option() {
  local list="$1" nvcc="$2" one newest=0 known wanted=()
  [[ -n $list ]] || { echo -UCMAKE_CUDA_ARCHITECTURES && return; }
  [[ -n $nvcc ]] || fail "--architectures: there is no nvcc, and without it nothing is compiled for a GPU"
  known=$({ "$nvcc" --list-gpu-arch || true; } 2>/dev/null | sed -n 's/^compute_//p' | sort -n | paste -s -d ' ')
  [[ $list =~ ^[0-9]+[a-z]?(,[0-9]+[a-z]?)*$ ]] || fail "--architectures: expected numbers as 80,90, got '$list'"
  for one in ${list//,/ }; do
    [[ " $known " == *" ${one%[af]} "* ]] || fail "--architectures: $nvcc does not know '$one', only $known, some with an a or f behind"
    wanted+=("$one-real")
    [[ $one == *[af] ]] || ((one <= newest)) || newest=$one
  done
  ((newest == 0)) || wanted+=("$newest-virtual")
  (IFS=';' && echo "-DCMAKE_CUDA_ARCHITECTURES=${wanted[*]}")
}

build_failed() {
  grep -E -A 4 'error:|CMake Error|FAILED:' "$1" | head -n 25 >&2 || tail -n 25 "$1" >&2
  fail "$2 failed; its output is in $1"
}
