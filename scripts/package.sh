#!/usr/bin/env bash
# Makes the Debian package, and tries it in a system that has nothing but Debian.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
usage: scripts/package.sh [--test] [--mirror URL] [--architectures LIST] [-D NAME=VALUE]...

Builds the preset `package` and makes build/convladder_<version>_<architecture>.deb of it. With --test the package is
then installed by apt into a new Debian that debootstrap makes in a folder of its own, an ordinary user runs it there, and it is
removed again; the folder as well. That needs root, debootstrap and a mirror of Debian.

  --test           try the package as well
  --only-test      try the package that is there
  --mirror URL     of Debian, for --test (default: the first that this machine's own apt has)
  --architectures LIST
                   the GPUs to make machine code for, as with scripts/bundle.sh: 90 for an H100. Without this option all that
                   people still use
  -D NAME=VALUE    for cmake: -D CONVLADDER_CPU_ARCHITECTURE=x86-64-v4 for newer processors only (default x86-64-v3),
                   -D CONVLADDER_PACKAGER='Name <address>'

examples:
  scripts/package.sh
  scripts/package.sh --test
  apt install ./build/convladder_*.deb     then, as root

environment:
  CONVLADDER_NO_SETUP=1   do not look for missing packages
  SOURCE_DATE_EPOCH       the time that is written into the package (default: that of the commit)

exit status: 0 made, and it works; 1 not; 77 --test cannot be done here: one line says why.
USAGE
}

try=false make=true mirror='' architectures='' definitions=()
while (($#)); do
  case "$1" in
    --test) try=true ;;
    --only-test) try=true make=false ;;
    --mirror | -D)
      [[ -n ${2:-} ]] || fail "$1 needs a value"
      if [[ $1 == -D ]]; then definitions+=(-D "$2"); else mirror=$2; fi
      shift
      ;;
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

if $make; then
  definitions+=("$(architecture_option "$architectures" "$(first_nvcc)")") || exit 1
  [[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/setup.sh" --package || exit 1
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
  export SOURCE_DATE_EPOCH
  [[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/report_library.sh" || true  # reports are complete without it
  configure_preset package package "${definitions[@]}"
  build_folder package convladder
  (umask 022 && cd "$root/build/package" && cpack -G DEB) >"$root/build/package.log" 2>&1 ||
    build_failed "$root/build/package.log" packing
fi

package=$(find "$root/build" -maxdepth 1 -name 'convladder_*.deb' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
[[ -n $package ]] || fail "there is no package in $root/build"
echo "$package ($(du -m -- "$package" | cut -f 1) MB)"
if $try; then
  "$root/scripts/package/try.sh" "$package" "$mirror"
fi
