#!/usr/bin/env bash
# Puts Vega-Lite where report.py finds it, so that reports get interactive charts.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
usage: scripts/report_library.sh

Takes Vega, Vega-Lite and Vega-Embed (each under the BSD 3-Clause licence) from the npm registry, in the versions and with
the checksums that are written here, and makes build/report-library/library.js of them. Nothing is installed and none
of their own dependencies is needed. Does nothing if the file exists. Without it reports are complete; only
the charts that need JavaScript are left out.

exit status: 0 the file exists, 1 it could not be made: one line says why.
USAGE
}

case "${1:-}" in
  '') ;;
  --help | -h) usage && exit ;;
  *) fail "unknown argument '$1', see --help" ;;
esac

# package  version  SHA-256 of its minified file
readonly packages="
vega        6.4.0  8f6a3587cf8d4f42c7e08120e3eb05d067e746d554e39d2dcf52acc0bd5ba28f
vega-lite   6.4.3  35a9821df838825b05a6a73e9414b58747a1b18321583858ed903c66393a5c7e
vega-embed  7.3.0  b1455caba2fb1a72fb46025ba0ba1316e2dbc7f0dd40a3f6040172bf9c08ba91
"

folder="$root/build/report-library"
library="$folder/library.js"
[[ ! -f $library ]] || exit 0
command -v npm >/dev/null || fail "no chart library: npm is not installed"
mkdir -p -- "$folder" || fail "cannot create $folder"
work=$(mktemp -d "$folder/XXXXXX")
trap 'rm -rf -- "$work"' EXIT

while read -r package version sum; do
  [[ -n $package ]] || continue
  if ! (cd "$work" && timeout 60 npm pack --silent --fetch-retries=0 --fetch-timeout=20000 "$package@$version" >npm.log 2>&1); then
    fail "no chart library: npm cannot get $package@$version: $(grep -m 1 -i 'error' "$work/npm.log" || tail -n 1 "$work/npm.log")"
  fi
  tar -xzf "$work/$package-$version.tgz" -C "$work"
  file="$work/package/build/$package.min.js"
  [[ $(sha256sum <"$file") == "$sum  -" ]] || fail "no chart library: $package@$version does not have the expected checksum"
  {
    printf '/* %s %s\n' "$package" "$version"
    cat "$work/package/LICENSE"
    printf '*/\n'
    grep -v '^//# sourceMappingURL=' "$file"
    printf '\n'
  } >>"$work/library.js"
  rm -rf -- "$work/package"
done <<<"$packages"
chmod 644 "$work/library.js"
mv -- "$work/library.js" "$library"
