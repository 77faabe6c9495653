#!/usr/bin/env bash
# Makes a folder, and an archive of it, that runs on a machine with no compiler and none of the libraries.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly largest_megabytes=60  # of the archive: what is carried to another machine

usage() {
  cat <<'USAGE'
usage: scripts/bundle.sh [--output DIR] [--toolkit DIR] [--architectures LIST]

Builds the preset `bundle` and makes DIR/convladder-bundle and DIR/convladder-bundle.tar.gz (DIR is build/ without
--output): the program, the libraries it needs except the C library's, charts and reports, the records' schemas, a run.sh
and an on_gpu.sh, which measures everything that a GPU can show (docs/use/on-a-gpu.md).
It runs on any x86-64 machine with AVX2 and a recent enough C library (its README says which); the CUDA
variants need an NVIDIA driver there, the charts Python 3 with matplotlib, reports Jinja2 as well.

  --output DIR    another folder
  --toolkit DIR   a CUDA toolkit other than the first that is found, as /usr/local/cuda-12.8: for machines whose driver is
                  too old for CUDA 13 (before 580). The bundle is called convladder-bundle-cuda12. Without this option it
                  is made as well where /usr/local/cuda-12* is, and the first toolkit is another one
  --architectures LIST
                  the GPUs to make machine code for, by compute capability: 90 for an H100 or H200, 80,90 for an A100 too.
                  Later GPUs run the newest of them, compiled by the driver. Saves most of the time. Without this option all
                  that people still use and the toolkit knows: 75, 80, 86, 89, 90, 100, 120

CUPTI, which profiles take, is copied from the toolkit: NVIDIA's licence of the CUDA toolkit allows it (Attachment A), and is
put beside it. cuBLAS may be copied too, but has some hundred megabytes, as cuDNN has: both stay out.

exit status: 0 made, 1 not made.
USAGE
}

output="$root/build" toolkit='' architectures=''
while (($#)); do
  case "$1" in
    --output)
      [[ -n ${2:-} ]] || fail "--output needs a folder"
      output="$2"
      shift
      ;;
    --output=*) output="${1#*=}" ;;
    --toolkit)
      [[ -n ${2:-} ]] || fail "--toolkit needs a folder"
      toolkit="$2"
      shift
      ;;
    --toolkit=*) toolkit="${1#*=}" ;;
    --architectures)
      [[ -n ${2:-} ]] || fail "--architectures needs a list, for example 80,90"
      architectures="$2"
      shift
      ;;
    --architectures=*) architectures="${1#*=}" ;;
    --help | -h) usage && exit ;;
    *) fail "unknown argument '$1', see --help" ;;
  esac
  shift
done

trap 'echo >&2; exit 130' INT
[[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/setup.sh" || exit 1

suffix='' definitions=() nvcc=$(first_nvcc)
if [[ -n $toolkit ]]; then
  nvcc="$toolkit/bin/nvcc"
  major=$(toolkit_major "$toolkit")
  [[ -n $major ]] || fail "--toolkit: $nvcc does not say its version"
  suffix="-cuda$major"
  definitions=(-DCMAKE_CUDA_COMPILER="$nvcc" -DCUDAToolkit_ROOT="$toolkit")
fi
tree="$root/build/bundle$suffix"
definitions+=("$(architecture_option "$architectures" "$nvcc")") || exit 1
configure_preset bundle "bundle$suffix" "${definitions[@]}"
build_folder "bundle$suffix" convladder

mkdir -p -- "$output" || fail "cannot create $output"
output=$(cd -- "$output" && pwd)
bundle="$output/convladder-bundle$suffix"
archive="$bundle.tar.gz"
rm -rf -- "$bundle" "$archive"
mkdir -p -- "$bundle/lib/fallback" "$bundle/scripts" "$bundle/results" || fail "cannot write to $output"

program="$tree/convladder"
cp -- "$program" "$bundle/convladder"
strip -- "$bundle/convladder"

# Everything but the C library, the dynamic linker and the kernel's own page; those belong to the machine it runs on.
# GCC's libraries are used only where the machine has none that will do: nearly every one has, and then its own need no
# newer C library than it has.
is_part_of_c_library() {
  [[ $1 =~ ^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libutil)\.so ]]
}
is_part_of_gcc() {
  [[ $1 =~ ^(libstdc\+\+|libgcc_s)\.so ]]
}
while read -r name _ path _; do
  is_part_of_c_library "$name" && continue
  [[ -f $path ]] || fail "$name, which the program needs, is not found"
  if is_part_of_gcc "$name"; then folder="$bundle/lib/fallback"; else folder="$bundle/lib"; fi
  cp -L -- "$path" "$folder/$name"
done < <(ldd "$program" | grep '=>')

# copy_cupti: the library that this build's CUPTI header belongs to, with the licence that allows it.
copy_cupti() {
  local header from library licence
  header=$(sed -n 's/^CONVLADDER_CUPTI_INCLUDE_DIR:PATH=//p' "$tree/CMakeCache.txt")
  [[ -d $header ]] || return 0
  from="${header%/include}" && from="${from%/extras/CUPTI}"
  library=$(find "$from"/{lib64,lib,extras/CUPTI/lib64}/ -maxdepth 1 -name 'libcupti.so.[0-9][0-9]' -print -quit 2>/dev/null || true)
  licence=$(find "$from"/ -maxdepth 4 \( -name EULA.txt -o -path '*nvidia_cuda_cupti*/License.txt' \) -print -quit || true)
  if [[ -z $library || -z $licence ]]; then
    echo "bundle.sh: CUPTI stays out: no $([[ -z $library ]] && echo library || echo licence) of it beside $header" >&2
    return 0
  fi
  cp -L -- "$library" "$bundle/lib/"
  cp -L -- "$licence" "$bundle/lib/LICENCE-OF-CUPTI.txt"
}
copy_cupti

mkdir -p "$bundle/results/published"
while read -r script; do
  (cd "$root/scripts" && find "$script" -type f -not -path '*/__pycache__/*' -exec cp --parents -- {} "$bundle/scripts/" \;)
done < <(grep -v '^#' "$root/scripts/installed.txt")
cp -- "$root"/results/published/*.json "$bundle/results/published/"
if [[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/report_library.sh"; then
  library="$root/build/report-library/library.js"
  [[ ! -f $library ]] || install -D -m 644 -- "$library" "$bundle/lib/report/library.js"
fi
cp -- "$root"/results/*.schema.json "$bundle/results/"
cp -- "$root/LICENSE" "$bundle/"
cp -- "$root/scripts/bundle/run.sh" "$root/scripts/bundle/on_gpu.sh" "$root/scripts/bundle/program.sh" \
  "$root/scripts/bundle/parts.sh" "$root/scripts/bundle/run_parts.sh" "$bundle/"

# newest_version PREFIX: of the symbols that the program and its libraries ask the machine for.
newest_version() {
  find "$bundle" -maxdepth 2 -type f \( -path "$bundle/convladder" -o -path "$bundle/lib/*.so*" \) -exec objdump -T {} + |
    grep -o "($1_[0-9.]*)" | tr -d '()' | sort -Vu | tail -n 1
}
c_library=$(newest_version GLIBC)
cxx_library=$(newest_version GLIBCXX)
echo "${c_library#GLIBC_}" >"$bundle/lib/glibc-version"
sed -e "s/@VERSION@/$("$program" --version)/" -e "s/@GLIBC@/${c_library#GLIBC_}/" -e "s/@GLIBCXX@/$cxx_library/" \
  "$root/scripts/bundle/README.md" >"$bundle/README.md"

while read -r name _; do
  name="${name##*/}"
  is_part_of_c_library "$name" || is_part_of_gcc "$name" || fail "$name is not taken from the bundle's lib/"
done < <(ldd "$bundle/convladder" | grep -v -F "$bundle/")
# In a fixed order, owned by nobody in particular.
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$output" -czf "$archive" "convladder-bundle$suffix"
megabytes=$(du -m -- "$archive" | cut -f 1)
((megabytes < largest_megabytes)) || fail "$archive has $megabytes MB, more than $largest_megabytes"
[[ $("$program" list) == *"family cuda"* ]] || echo "bundle.sh: built without nvcc and clang: no CUDA variants in it" >&2
echo "$bundle ($(du -sm -- "$bundle" | cut -f 1) MB, needs glibc ${c_library#GLIBC_})"
echo "$archive ($megabytes MB)"

# A second one for older drivers, where a toolkit for them is there.
if [[ -z $toolkit ]]; then
  built_with=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$tree/CMakeCache.txt" | head -n 1)
  for older in /usr/local/cuda-12*; do
    [[ -x $older/bin/nvcc && -n $built_with && $(toolkit_major "${built_with%/bin/nvcc}") != 12 ]] || continue
    "${BASH_SOURCE[0]}" --output "$output" --toolkit "$older" --architectures="$architectures" || fail "no bundle of $older"
    break
  done
fi
