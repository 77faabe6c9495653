#!/usr/bin/env bash
# Makes a folder, and an archive of it, that runs on a machine with no compiler and none of the libraries.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly largest_megabytes=60

usage() {
  cat <<'USAGE'
usage: scripts/bundle.sh [--output DIR]

Builds the preset `bundle` and makes DIR/convladder-bundle and DIR/convladder-bundle.tar.gz (DIR is build/ without
--output): the program, the libraries it needs except the C library's, the charts, the record's schema and a run.sh.
It runs on any x86-64 machine with AVX2 and a C library as recent as this one's; the CUDA variants need an NVIDIA driver
there, the charts Python 3 with matplotlib.

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
mkdir -p -- "$bundle/lib" "$bundle/scripts" "$bundle/results" || fail "cannot write to $output"

program="$root/build/bundle/convladder"
cp -- "$program" "$bundle/convladder"
strip -- "$bundle/convladder"

# Everything but the C library, the dynamic linker and the kernel's own page; those belong to the machine it runs on.
is_part_of_c_library() {
  [[ $1 =~ ^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libutil)\.so ]]
}
while read -r name _ path _; do
  is_part_of_c_library "$name" && continue
  [[ -f $path ]] || fail "$name, which the program needs, is not found"
  cp -L -- "$path" "$bundle/lib/$name"
done < <(ldd "$program" | grep '=>')

cp -- "$root/scripts/charts.py" "$root/scripts/validate_record.py" "$bundle/scripts/"
mkdir "$bundle/scripts/convladder_charts"
cp -- "$root"/scripts/convladder_charts/*.py "$bundle/scripts/convladder_charts/"
cp -- "$root/results/run.schema.json" "$bundle/results/"
cp -- "$root/LICENSE" "$bundle/"
cp -- "$root/scripts/bundle/run.sh" "$bundle/"

oldest_c_library=$(objdump -T "$bundle/convladder" "$bundle"/lib/* | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
sed -e "s/@VERSION@/$("$program" --version)/" -e "s/@GLIBC@/${oldest_c_library#GLIBC_}/" \
  "$root/scripts/bundle/README.md" >"$bundle/README.md"

not_bundled=$(ldd "$bundle/convladder" | grep -v -F "$bundle/lib/" | awk '{print $1}' | sed 's|.*/||')
for name in $not_bundled; do
  is_part_of_c_library "$name" || fail "$name is not taken from the bundle's lib/"
done
# In a fixed order, owned by nobody in particular.
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$output" -czf "$archive" convladder-bundle
megabytes=$(du -sm -- "$bundle" | cut -f 1)
((megabytes < largest_megabytes)) || fail "$bundle has $megabytes MB, more than $largest_megabytes"
[[ $("$program" list) == *"family cuda"* ]] || echo "bundle.sh: built without nvcc: no CUDA variants in it" >&2
echo "$bundle ($megabytes MB, needs glibc ${oldest_c_library#GLIBC_})"
echo "$archive ($(du -m -- "$archive" | cut -f 1) MB)"
