#!/usr/bin/env bash
# Makes a folder, and an archive of it, that runs on a machine with no compiler and none of the libraries.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly largest_megabytes=60  # of the archive: what is carried to another machine

usage() {
  cat <<'USAGE'
usage: scripts/bundle.sh [--output DIR]

Builds the preset `bundle` and makes DIR/convladder-bundle and DIR/convladder-bundle.tar.gz (DIR is build/ without
--output): the program, the libraries it needs except the C library's, charts and reports, the records' schemas, a run.sh
and an on_gpu.sh, which measures everything that a GPU can show (docs/on-a-gpu.md).
It runs on any x86-64 machine with AVX2 and a recent enough C library (its README says which); the CUDA
variants need an NVIDIA driver there, the charts Python 3 with matplotlib, reports Jinja2 as well.

exit status: 0 made, 1 not made.
USAGE
}

output="$root/build"
while (($#)); do
  case "$1" in
    --output)
      [[ -n ${2:-} ]] || fail "--output needs a folder"
      output="$2"
      shift
      ;;
    --output=*) output="${1#*=}" ;;
    --help | -h) usage && exit ;;
    *) fail "unknown argument '$1', see --help" ;;
  esac
  shift
done

trap 'echo >&2; exit 130' INT
[[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/setup.sh" || exit 1
build_preset bundle convladder

mkdir -p -- "$output" || fail "cannot create $output"
output=$(cd -- "$output" && pwd)
bundle="$output/convladder-bundle"
archive="$bundle.tar.gz"
rm -rf -- "$bundle" "$archive"
mkdir -p -- "$bundle/lib/fallback" "$bundle/scripts" "$bundle/results" || fail "cannot write to $output"

program="$root/build/bundle/convladder"
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

for script in charts.py report.py validate_record.py against_library.py against_ncu.py ncu.sh nsys.sh profiled_case.sh \
  common.sh; do
  cp -- "$root/scripts/$script" "$bundle/scripts/"
done
mkdir -p "$bundle/scripts/convladder_charts" "$bundle/scripts/convladder_report/templates" "$bundle/results/published"
cp -- "$root"/scripts/convladder_charts/*.py "$bundle/scripts/convladder_charts/"
cp -- "$root"/scripts/convladder_report/*.py "$bundle/scripts/convladder_report/"
cp -- "$root"/scripts/convladder_report/templates/* "$bundle/scripts/convladder_report/templates/"
cp -- "$root"/results/published/*.json "$bundle/results/published/"
if [[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/report_library.sh"; then
  library="$root/build/report-library/library.js"
  [[ ! -f $library ]] || install -D -m 644 -- "$library" "$bundle/lib/report/library.js"
fi
cp -- "$root/results/run.schema.json" "$root/results/network.schema.json" "$root/results/fused.schema.json" \
  "$bundle/results/"
cp -- "$root/LICENSE" "$bundle/"
cp -- "$root/scripts/bundle/run.sh" "$root/scripts/bundle/on_gpu.sh" "$root/scripts/bundle/program.sh" "$bundle/"

# newest_version PREFIX: of the symbols that the program and its libraries ask the machine for.
newest_version() {
  objdump -T "$bundle/convladder" "$bundle"/lib/*.so* | grep -o "($1_[0-9.]*)" | tr -d '()' | sort -Vu | tail -n 1
}
c_library=$(newest_version GLIBC)
cxx_library=$(newest_version GLIBCXX)
sed -e "s/@VERSION@/$("$program" --version)/" -e "s/@GLIBC@/${c_library#GLIBC_}/" -e "s/@GLIBCXX@/$cxx_library/" \
  "$root/scripts/bundle/README.md" >"$bundle/README.md"

while read -r name _; do
  name="${name##*/}"
  is_part_of_c_library "$name" || is_part_of_gcc "$name" || fail "$name is not taken from the bundle's lib/"
done < <(ldd "$bundle/convladder" | grep -v -F "$bundle/")
# In a fixed order, owned by nobody in particular.
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$output" -czf "$archive" convladder-bundle
megabytes=$(du -m -- "$archive" | cut -f 1)
((megabytes < largest_megabytes)) || fail "$archive has $megabytes MB, more than $largest_megabytes"
[[ $("$program" list) == *"family cuda"* ]] || echo "bundle.sh: built without nvcc and clang: no CUDA variants in it" >&2
echo "$bundle ($(du -sm -- "$bundle" | cut -f 1) MB, needs glibc ${c_library#GLIBC_})"
echo "$archive ($megabytes MB)"
